package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// full fills the home's disk to the last byte. Without a disk of its own the system refuses every byte that a
// command writes.
func full(w *faultWorld) func() {
	w.settled() // a command opens a record that another one has open on a full disk too
	if w.inside != nil {
		return w.fill(0)
	}
	return w.noBytes()
}

// noBytes makes every write of a command fail, as on a full disk: a file may have no length.
func (w *faultWorld) noBytes() func() {
	w.likeness = true
	w.inside = []string{"sh", "-c", `ulimit -f 0; exec "$@"`, "sh"}
	return func() { w.inside = nil }
}

// diskPage is what the home's disk hands out at once; no command needs more of them than mostPages.
const (
	diskPage  = 4 << 10
	mostPages = 64
)

// fullBehindTheCommit is for a move: the disk gets one page more until there is room for the record, and then
// none is left for the file that follows it.
func fullBehindTheCommit(w *faultWorld, run []string) (said string, code int) {
	if w.likeness {
		return w.ask(run...)
	}
	for leave := int64(0); leave < mostPages*diskPage; leave += diskPage {
		w.settled() // the log of commits keeps the room that an earlier try has taken
		empty := w.fill(leave)
		if said, code = w.ask(run...); code == 0 {
			return said, code
		}
		empty()
	}
	return said, code
}

// fullInTheMiddle is for what can be asked for again: the disk gets one page more until the program fails where
// it is meant to.
func fullInTheMiddle(where string) func(w *faultWorld, run []string) (said string, code int) {
	return func(w *faultWorld, run []string) (said string, code int) {
		if w.likeness {
			return w.ask(run...)
		}
		for leave := int64(0); leave < mostPages*diskPage; leave += diskPage {
			w.settled()
			empty := w.fill(leave)
			if said, code = w.ask(run...); strings.Contains(said, where) || code == 0 {
				return said, code
			}
			empty()
		}
		return said, code
	}
}

// filled takes away what fills the disk when a fault is over; fills themselves come with the command.
func filled(w *faultWorld) func() {
	if w.inside == nil {
		return w.noBytes()
	}
	return func() { w.check(os.RemoveAll(w.at(w.home("filler")))) }
}

func readOnly(path func(w *faultWorld) string) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		dir := path(w)
		if w.inside != nil {
			w.mounts("mount", "--bind", dir, dir)
			w.mounts("mount", "-o", "remount,bind,ro", dir)
			return func() { w.mounts("umount", "-l", dir) }
		}
		w.likeness = true
		w.bound()
		entries, err := os.ReadDir(dir)
		w.check(err)
		rights := func(folder, file os.FileMode) {
			w.check(os.Chmod(dir, folder))
			for _, entry := range entries {
				if entry.Type().IsRegular() {
					w.check(os.Chmod(filepath.Join(dir, entry.Name()), file))
				}
			}
		}
		rights(0o500, 0o400)
		return func() {
			w.inside = nil
			rights(0o755, 0o644)
		}
	}
}

// bound takes from root the right to read and write everything, so that what a folder allows holds for it too.
// Without a program for that nothing is changed.
func (w *faultWorld) bound() {
	if _, err := exec.LookPath("setpriv"); err == nil && os.Getuid() == 0 {
		w.inside = []string{"setpriv", "--inh-caps=-dac_override,-dac_read_search",
			"--bounding-set=-dac_override,-dac_read_search"}
	}
}

func diskFaults() []fault {
	const same = "nothing: the move is not made, and the record is as before"
	const again = "make room; the same command again"
	create := []string{"task", "create", "feat/new", "A new thing", "--harness", "idle"}
	return []fault{
		{
			name: "The disk is full", whole: true, inflict: full, run: moveIt(), exit: 1,
			says:    `cannot open the record "HOME/orange.db": .*: see whether the disk of "HOME" is full or broken, and run the command again`,
			becomes: same, goesOn: again,
		},
		{
			name: "The disk becomes full in the middle of a move", whole: true, inflict: filled,
			how: fullInTheMiddle("(13)"), run: moveIt(), exit: 1,
			says:    `(commit|cannot open the record).*: this change was not made; make room on the disk of "HOME" and run the command again|see whether the disk .*`,
			becomes: same, goesOn: again,
		},
		{
			name: "The disk becomes full between the record and its files", whole: true,
			run: append(moveIt(), "--reason", "LONG"),
			inflict: func(w *faultWorld) func() {
				history := w.folder(w.ids[0]) + "/history.jsonl"
				if w.inside != nil {
					return filled(w)
				}
				w.likeness = true // the record can be written and the file cannot
				back := w.aside(history)
				w.check(os.Mkdir(w.at(history), 0o755))
				return back
			},
			how:     fullBehindTheCommit,
			says:    `orange: the move to working is made, but: mirror task ID: renew history.jsonl: write "?HOME/tasks/coffee/ID/history.jsonl"?: (no space left on device|a folder is in its place)`,
			becomes: "it has moved: the record is what counts",
			goesOn:  "make room; the next command for the task renews the files",
		},
		{
			name: "The disk is full when a task is created", whole: true, inflict: full, run: create, exit: 1,
			says:    `cannot open the record "HOME/orange.db": .*: see whether the disk of "HOME" is full or broken, and run the command again`,
			becomes: "the new one is not made, the others are as before", goesOn: again,
		},
		{
			name: "The disk becomes full in the middle of creating a task", whole: true, inflict: filled,
			how: fullInTheMiddle("(13)"),
			run: append(slices.Clone(create), "--no-spawn"), exit: 1,
			says:    `commit task "ID": commit: database or disk is full \(13\): this change was not made; make room on the disk of "HOME" and run the command again|see whether the disk .*`,
			becomes: "the new one is not made, and no folder of it stays", goesOn: again,
		},
		{
			name: "The disk becomes full between a task's creation and its start", whole: true, inflict: filled,
			how: fullInTheMiddle("was created"),
			run: create, exit: 3, exitLike: 1,
			says: `orange: task ID was created and is pending, but it cannot be started: (cannot start task ID\s+disk: found 0 MB are free\s+` +
				`to do: make room: .*|.*: this change was not made; make room on the disk of "HOME" and run the command again); ` +
				`start it with: orange task spawn ID|see whether the disk .*`,
			becomes: "the new one waits to be started", goesOn: "make room; `orange task spawn`",
		},
		{
			name: "The log is a device", whole: true, run: moveIt(), exit: 1,
			inflict: func(w *faultWorld) func() {
				if _, err := os.Stat("/dev/full"); err != nil {
					return nil
				}
				back := w.aside(w.home("orange.log"))
				w.check(os.Symlink("/dev/full", w.at(w.home("orange.log"))))
				return back
			},
			says:    `orange: open the log: open HOME/orange.log: it is no file; move it away`,
			becomes: same, goesOn: "move it away; the same command again",
		},
		{
			name: "The home is read-only", whole: true, inflict: readOnly(func(w *faultWorld) string {
				return w.home()
			}), run: moveIt(), exit: 1,
			says:    `cannot open the record "HOME/orange.db": .*: the file and its folder must be writable for you; give yourself the right to write in "HOME", or set ORANGE_HOME to another folder|see whether the disk .*`,
			becomes: same, goesOn: "make it writable; the same command again",
		},
		{
			name: "The task's folder is read-only", run: moveIt(),
			inflict: readOnly(func(w *faultWorld) string { return w.folder(w.ids[0]) }),
			says:    `orange: the move to working is made, but: mirror task ID: renew the header of TASK.md: "HOME/tasks/coffee/ID/TASK.md" cannot be opened: (read-only file system|permission denied)`,
			becomes: "it has moved: the record is what counts",
			goesOn:  "make the folder writable; the next command for the task renews the files",
		},
	}
}
