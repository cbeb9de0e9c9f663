package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// tables are the commands that print tables, by the file in which each is. Those of a fleet with a server need one.
func tables() map[string][]string {
	return map[string][]string{
		"task_list.go": {"task list", "task list --mine", "task list --done", "task list --all",
			"task list --project coffee --status planning"},
		"task_stats.go":        {"task stats", "task stats --week", "task stats $LONG"},
		"task_replay.go":       {"task replay $LONG", "task replay"},
		"project.go":           {"project list"},
		"workspace.go":         {"workspace list"},
		"harness.go":           {"harness list"},
		"workflow_list.go":     {"workflow list"},
		"workflow_simulate.go": {"workflow simulate default --runs 20"},
		"env.go":               {"env list"},
		"install.go":           {"install --dry-run"},
		"fleet_hosts.go":       {"fleet hosts"},
		"fleet_list.go":        {"fleet list", "fleet list --mine"},
		"fleet_served.go":      nil,
		// no tables, but rows that a person reads
		"": {"task show $LONG", "task why $LONG", "task why $LONG --all", "task history $LONG",
			"task history $LONG --evidence", "task logs $LONG", "workflow check default",
			"workflow path default", "doctor", "version", "task verify $LONG", "adopt"},
	}
}

func TestEveryCommandThatPrintsATable_hasAPlaceInTheWalk(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../internal/ui/cli/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		prints := regexp.MustCompile(`\w\.(table|columns)\(`).Match(text)
		_, walked := tables()[name]
		if prints != walked && name != "columns.go" && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s: prints a table %v, and the walk has it %v", name, prints, walked)
		}
	}
}

// A line that is no row of a table may be longer than the terminal where a word of it or a command is: people copy it.
func TestEveryTable_fitsEveryTerminalAndIsWholeInAPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withHost("big")
	long := w.manyAndLong()
	var commands []string
	for _, some := range tables() {
		commands = append(commands, some...)
	}
	slices.Sort(commands)
	var walk strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&walk, "echo '== %s'; orange %s 2>&1\n", command, strings.ReplaceAll(command, "$LONG", long))
	}
	for _, width := range []int{50, 80, 120, 200} {
		name := fmt.Sprint("at", width)
		w.write(name, walk.String()+"tmux -L walk wait-for -S "+name+"\nexec cat\n")
		w.must("tmux", "-L", "walk", "-f", os.DevNull, "start-server", ";", "set", "-g", "history-limit", "60000", ";",
			"new-session", "-d", "-s", name, "-x", fmt.Sprint(width), "-y", "50", "sh "+filepath.Join(w.dir, name))
		w.must("tmux", "-L", "walk", "wait-for", name)
		command := ""
		shown := w.must("tmux", "-L", "walk", "capture-pane", "-p", "-J", "-S", "-", "-t", name)
		for line := range strings.Lines(shown) {
			line = strings.TrimRight(line, " \n")
			if rest, is := strings.CutPrefix(line, "== "); is {
				command = rest
				continue
			}
			if ansi.StringWidth(line) > width && !unbreakable(line, width, !slices.Contains(tables()[""], command)) {
				t.Errorf("at %d columns %q prints %q", width, command, line)
			}
		}
	}
	if out := w.must("orange", "fleet", "list", "--mine"); strings.Contains(out, "not reached") {
		t.Errorf("the other host was not reached:\n%s", out)
	}
	if out := w.must("orange", "fleet", "list"); !strings.Contains(out, "there/a-long-name-") {
		t.Errorf("the list of the fleet lacks what the other host has:\n%s", out)
	}
	for _, command := range []string{"task list", "task list --mine"} {
		if out := w.must("orange", strings.Fields(command)...); strings.Contains(out, "…") {
			t.Errorf("%q cuts in a pipe:\n%s", command, out)
		}
	}
}

// unbreakable reports whether a line has a word or a command that does not fit next to a label. What is printed below a
// table has no labels.
func unbreakable(line string, width int, table bool) bool {
	const label = 20
	if words := strings.TrimSpace(line); table {
		return strings.HasPrefix(words, "orange ") || !strings.Contains(words, " ")
	}
	return strings.Contains(line, "orange ") || slices.ContainsFunc(strings.Fields(line), func(word string) bool {
		return ansi.StringWidth(word) > width-label
	})
}

// manyAndLong fills the home: a thousand tasks, long names and summaries, two branches in conflict, questions.
func (w *world) manyAndLong() (id string) {
	w.t.Helper()
	branch := "feat/" + strings.Repeat("a-long-name-", 6)
	for n := range 2 {
		id = w.create(fmt.Sprint(branch, n))
		at := filepath.Join(w.dir, "orange", "workspaces", fmt.Sprint("coffee--", n+1))
		w.write(fmt.Sprint("orange/workspaces/coffee--", n+1, "/README.md"), fmt.Sprint("# Another one ", n, "\n"))
		w.must("git", "-C", at, "commit", "-q", "-a", "-m", "Change the same line")
	}
	questions := strings.Repeat("Which of the many currencies? ", 12)
	w.must("sh", "-c", "printf '\\n## Questions\\n\\n1. "+questions+"\\n' >>'"+w.document(id)+"'")
	w.must("orange", "task", "update", id, "--status", "clarification")
	w.must("orange", "monitor", "--once")
	w.create("short", "--no-spawn")
	w.copies(1000)
	w.must("orange", "env", "set", "A_VARIABLE_"+strings.Repeat("THAT_IS_NOT_SHORT_", 6)+"=1")
	return id
}

// withHost joins another home of this machine, which has a task with a long branch, as a host. A program takes the
// place of ssh.
func (w *world) withHost(name string) {
	w.t.Helper()
	there := filepath.Join(w.dir, "there")
	w.write("bin/ssh", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\n"+
		"cd / && exec env ORANGE_HOME='"+there+"' sh -c \"$*\"\n")
	if err := os.Chmod(filepath.Join(w.dir, "bin", "ssh"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "bin")+":"+built.dir+":"+os.Getenv("PATH"))
	at := func(words ...string) {
		w.must("env", append([]string{"ORANGE_HOME=" + there, "orange"}, words...)...)
	}
	at("project", "add", ".")
	at("task", "create", "there/"+strings.Repeat("a-long-name-", 6), strings.Repeat("A long summary ", 12),
		"--no-spawn")
	w.must("orange", "fleet", "join", name, "--ssh", name, "--as", "here")
}

// copies lets the record have a task as often as this, without folders.
func (w *world) copies(many int) {
	w.t.Helper()
	db := openBench(w.t, filepath.Join(w.dir, "orange", "orange.db"))
	for _, statement := range []string{
		"CREATE TEMP TABLE one AS SELECT * FROM tasks ORDER BY created_at DESC LIMIT 1",
		"UPDATE one SET live = 0",
	} {
		if _, err := db.ExecContext(w.t.Context(), statement); err != nil {
			w.t.Fatal(err)
		}
	}
	for n := range many - 1 {
		if _, err := db.ExecContext(w.t.Context(), "UPDATE one SET id = ?, branch = ?",
			fmt.Sprintf("%05dcopycopycopycopy", n), fmt.Sprint("copy", n)); err != nil {
			w.t.Fatal(err)
		}
		if _, err := db.ExecContext(w.t.Context(), "INSERT INTO tasks SELECT * FROM one"); err != nil {
			w.t.Fatal(err)
		}
	}
}
