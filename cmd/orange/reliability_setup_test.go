package main_test

import (
	"os"
	"path/filepath"
	"strings"
)

// spoiled puts a text into a file that a person has set up.
func spoiled(text string, names ...string) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		path := w.home(names...)
		w.check(os.MkdirAll(filepath.Dir(path), 0o755))
		back := func() { w.check(os.Remove(path)) }
		if _, err := os.Lstat(path); err == nil {
			back = w.aside(path)
		}
		w.put(path, text)
		return back
	}
}

// withoutAgent ends the agents first, so that the command has to start one.
func withoutAgent(inflict func(w *faultWorld) func()) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		w.endServer()
		return inflict(w)
	}
}

func setupFaults() []fault {
	const agentless = "it keeps its status, with a mark, and its hook stays pending"
	respawn := []string{"task", "respawn", "ID"}
	retry := []string{"task", "retry", "ID"}
	create := []string{"task", "create", "feat/other", "Another thing", "--harness", "idle", "--workflow", "mine"}
	return []fault{
		{
			name: "projects.json is broken", whole: true, run: moveIt(), exit: 1,
			inflict: spoiled(`{"x`, "projects.json"),
			says:    `orange: read "HOME/projects.json": .*; correct the file, or move it away and add the projects again`,
			becomes: "nothing: it can be shown and not moved", goesOn: "fix the file; the same command again",
		},
		{
			name: "config.yml is broken", run: respawn, exit: 1, repair: retry,
			inflict: withoutAgent(spoiled("harness: [x", "config.yml")),
			says:    `orange: hook failed: spawn_agent: .*HOME/config.yml:1:10: found "\[", which is not closed where line 2 begins, .*\n  the task stays \S+; put that right and run: orange task retry ID`,
			becomes: agentless, goesOn: "fix the file; `orange task retry`",
		},
		{
			name: "The harness file of a live task is deleted", run: respawn, exit: 1, repair: retry,
			inflict: withoutAgent(func(w *faultWorld) func() { return w.aside(w.home("harnesses", "idle.yml")) }),
			says:    `orange: hook failed: spawn_agent: cannot use the harness "idle": it is not known, expected one of .*\n  the task stays \S+; put that right and run: orange task retry ID`,
			becomes: agentless,
			goesOn:  "put the file back, or choose another harness in TASK.md's header; `orange task retry`",
		},
		{
			name: "The workflow file of a live task is changed to something broken", run: moveIt(),
			inflict: spoiled("name: [", "workflows", "default.yml"),
			says:    accepted, becomes: "it moves by the rules that it was created with",
			goesOn: "nothing to do; a new task needs a correct file",
		},
		{
			name: "A new task asks for a workflow file that is broken", run: create, exit: 2,
			inflict: spoiled("name: [", "workflows", "mine.yml"),
			says:    `orange: HOME/workflows/mine.yml:1:8: found the end of the file where a list .* \[syntax\]`,
			becomes: "the new one is not made", goesOn: "fix the file; the same command again",
		},
		{
			name: "A new task asks for a workflow file that is deleted", run: create, exit: 4,
			inflict: func(*faultWorld) func() { return func() {} },
			says:    `orange: cannot find the workflow "mine": expected`,
			becomes: "the new one is not made; those that were created with it continue",
			goesOn:  "put the file back; the same command again",
		},
	}
}

// elsewhere makes another path the home.
func elsewhere(prepare func(w *faultWorld) (path string)) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		path := prepare(w)
		back := w.setting("ORANGE_HOME", path)
		return func() {
			back()
			w.check(os.RemoveAll(path))
		}
	}
}

// moveIn makes a home at a path, with the harness and the project.
func moveIn(path func(w *faultWorld) string) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		dir := path(w)
		file := filepath.Join("harnesses", "idle.yml")
		w.check(os.MkdirAll(filepath.Join(dir, "harnesses"), 0o755))
		w.put(filepath.Join(dir, file), w.text(w.home(file)))
		back := w.setting("ORANGE_HOME", dir)
		w.succeeds("project", "add", ".")
		return func() {
			w.end()
			back()
		}
	}
}

// end cancels every task of the home that the environment names, and its agents end with them.
func (w *faultWorld) end() {
	w.t.Helper()
	list := w.succeeds("task", "list", "--all")
	for _, line := range strings.Split(list, "\n")[1:] {
		if id, _, found := strings.Cut(line, " "); found {
			w.succeeds("task", "cancel", id, "--yes")
			delete(w.moved, id)
		}
	}
}

func homeFaults() []fault {
	create := []string{"task", "create", "feat/there", "A thing there", "--harness", "idle"}
	const works = `pending -> planning\n  acquire_workspace      done\n  spawn_agent            done`
	return []fault{
		{
			name: "ORANGE_HOME has blanks in it", whole: true, run: create, says: works,
			inflict: moveIn(func(w *faultWorld) string { return filepath.Join(w.dir, "my  own  home") }),
			becomes: "it works as everywhere else", goesOn: "nothing to do",
		},
		{
			name: "ORANGE_HOME is too long for a socket's path", whole: true, run: create, says: works,
			inflict: moveIn(func(w *faultWorld) string {
				return filepath.Join(w.dir, strings.Repeat("long", 40), strings.Repeat("deep", 40))
			}),
			becomes: "it works as everywhere else", goesOn: "nothing to do",
		},
		{
			name: "ORANGE_HOME is a file", whole: true, run: []string{"task", "list"}, exit: 2,
			inflict: elsewhere(func(w *faultWorld) string {
				w.put(filepath.Join(w.dir, "file"), "")
				return filepath.Join(w.dir, "file")
			}),
			says:    `cannot use "DIR/file" as ORANGE_HOME: it is a file, expected a folder; move it away, or set ORANGE_HOME to another path`,
			becomes: "nothing", goesOn: "set ORANGE_HOME to a folder",
		},
		{
			name: "ORANGE_HOME is a link that leads nowhere", whole: true, run: []string{"task", "list"}, exit: 2,
			inflict: elsewhere(func(w *faultWorld) string {
				w.check(os.Symlink(filepath.Join(w.dir, "nowhere"), filepath.Join(w.dir, "link")))
				return filepath.Join(w.dir, "link")
			}),
			says:    `cannot use "DIR/link" as ORANGE_HOME: it is a link to "DIR/nowhere", which is not there; make that folder, or set ORANGE_HOME to another path`,
			becomes: "nothing", goesOn: "mount or create its target",
		},
	}
}
