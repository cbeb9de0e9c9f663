package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// replaced puts something else in the place of a file of the hit task.
func replaced(name string, by func(w *faultWorld, path string)) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		path := filepath.Join(w.folder(w.ids[0]), name)
		back := w.aside(path)
		by(w, path)
		return back
	}
}

func byFolder(w *faultWorld, path string) { w.check(os.Mkdir(w.at(path), 0o755)) }

func byPipe(w *faultWorld, path string) { w.check(syscall.Mkfifo(w.at(path), 0o644)) }

func byNothing(*faultWorld, string) {}

// byLink puts a link to a file outside there, which Orange may neither read nor write.
func byLink(w *faultWorld, path string) {
	w.put(filepath.Join(w.dir, "precious"), "## Plan\n\nAPPROACH: stolen\n")
	w.check(os.Symlink(filepath.Join(w.dir, "precious"), w.at(path)))
}

// byChange writes the file again with its text changed.
func byChange(change func(text string) string) func(w *faultWorld, path string) {
	return func(w *faultWorld, path string) { w.put(path, change(w.text(path+".aside"))) }
}

// missing is the refusal of a move whose evidence cannot be read.
func missing(why string) string {
	return `section "## Plan": found no readable document: "HOME/tasks/coffee/ID/TASK.md" ` + why + ` \(TASK.md\)
    to do: make TASK.md a readable text file again`
}

func documentFaults() []fault {
	const stays = "it stays where it is, and moves that need no evidence are open"
	const mend = "put the file back; the same command again"
	refused := func(name, why string, inflict func(*faultWorld) func()) fault {
		return fault{name: name, inflict: inflict, run: moveIt(), exit: 3, says: missing(why), becomes: stays,
			goesOn: mend}
	}
	return []fault{
		refused("TASK.md is a folder", `is a folder, expected a file`, replaced("TASK.md", byFolder)),
		refused("TASK.md is a link to another file", `is a link, expected a file`, func(w *faultWorld) func() {
			back := replaced("TASK.md", byLink)(w)
			return func() {
				if got := w.text(filepath.Join(w.dir, "precious")); got != "## Plan\n\nAPPROACH: stolen\n" {
					w.t.Errorf("the file behind the link was written: %q", got)
				}
				back()
			}
		}),
		refused("TASK.md is a pipe", `is a pipe, expected a file`, replaced("TASK.md", byPipe)),
		refused("TASK.md has 100 MB",
			`is larger than 2 MiB: in its first 64 MiB, its largest section, "## Notes", has 64.0 MiB; `+
				`keep what belongs to the task and move the rest into a file of its own`,
			replaced("TASK.md", func(w *faultWorld, path string) {
				byChange(func(text string) string { return text })(w, path)
				w.check(os.Truncate(w.at(path), 100<<20))
			})),
		refused("TASK.md is deleted", `is not there`, replaced("TASK.md", byNothing)),
		refused("TASK.md may not be read", `cannot be opened: permission denied`, func(w *faultWorld) func() {
			if w.bound(); w.inside == nil && os.Getuid() == 0 {
				return nil // root may read everything
			}
			path := w.at(w.document(w.ids[0]))
			w.check(os.Chmod(path, 0))
			return func() {
				w.inside = nil
				w.check(os.Chmod(path, 0o644))
			}
		}),
		{
			name: "TASK.md is not UTF-8", run: []string{"task", "show", "ID"},
			inflict: replaced("TASK.md", byChange(func(text string) string {
				return strings.Replace(text, "ü", "\xfc", 1)
			})),
			says:    `problem      line \d+: cannot read the document as text: the byte 0xfc is not UTF-8; save it as plain UTF-8 text`,
			becomes: "it moves on what can be read; the wrong line is shown", goesOn: "save the file as UTF-8",
		},
		{
			name: "TASK.md has the line ends of Windows", run: moveIt(), inflict: func(w *faultWorld) func() {
				id := w.ids[0]
				body := w.body[id]
				w.body[id] = strings.ReplaceAll(body, "\n", "\r\n")
				w.put(w.document(id), strings.ReplaceAll(w.text(w.document(id)), "\n", "\r\n"))
				return func() {
					w.whole(id) // its text has the same bytes after the move
					w.put(w.document(id), strings.ReplaceAll(w.text(w.document(id)), "\r\n", "\n"))
					w.body[id] = body
				}
			},
			says: accepted, becomes: "it moves, and the text keeps its line ends", goesOn: "nothing to do",
		},
		{
			name: "TASK.md's header is broken", run: moveIt(), inflict: func(w *faultWorld) func() {
				id := w.ids[0]
				body := w.body[id]
				w.put(w.document(id), "---\nstatus: [oops\n---\n"+body)
				w.body[id] = "---\nstatus: [oops\n---\n" + body
				return func() {
					w.whole(id) // the broken header is kept below the new one
					w.put(w.document(id), strings.Replace(w.text(w.document(id)), "---\nstatus: [oops\n---\n", "", 1))
					w.body[id] = body
				}
			},
			says: accepted, becomes: "it moves; a new header is put above the broken one, with an event",
			goesOn: "delete the broken header below",
		},
		{
			name: "The link to TASK.md in the worktree is replaced by a pipe", run: moveIt(),
			inflict: func(w *faultWorld) func() {
				path := filepath.Join(w.slot(), "TASK.md")
				back := w.aside(path)
				byPipe(w, path)
				return back
			},
			exit: 1, says: `cannot adopt "HOME/workspaces/coffee--1/TASK.md": .*`,
			becomes: "it stays where it is", goesOn: "remove the pipe; the same command again",
		},
	}
}

func historyFaults() []fault {
	const moves = "it moves, and the file is written again from the record"
	renewed := func(name string, by func(w *faultWorld, path string)) fault {
		return fault{name: name, inflict: func(w *faultWorld) func() {
			path := filepath.Join(w.folder(w.ids[0]), "history.jsonl")
			w.aside(path) // and never back
			by(w, path)
			return func() {
				w.whole(w.ids[0])
				w.check(os.Remove(w.at(path + ".aside")))
			}
		}, run: moveIt(), says: accepted, becomes: moves, goesOn: "nothing to do"}
	}
	return []fault{
		renewed("history.jsonl is deleted", byNothing),
		renewed("history.jsonl is cut short", byChange(func(text string) string { return text[:len(text)/2] })),
		renewed("history.jsonl has something else at its end", byChange(func(text string) string {
			return text + "garbage\n"
		})),
		renewed("history.jsonl is a pipe", byPipe),
		renewed("history.jsonl is a link to another file", byLink),
		{
			name: "history.jsonl is a folder", inflict: replaced("history.jsonl", byFolder), run: moveIt(),
			says:    `orange: the move to working is made, but: mirror task ID: renew history.jsonl: write "HOME/tasks/coffee/ID/history.jsonl": a folder is in its place; move that away`,
			becomes: "it has moved: the record is what counts",
			goesOn:  "move the folder away; the next command for the task writes the file",
		},
	}
}
