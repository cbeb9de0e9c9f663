package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// calls is what a command asks of the system. A budget of them is what the command needs today: lower it when a command
// gets cheaper; a feature that needs more raises it and says so here.
type calls struct {
	writes int // to the terminal
	looks  int // at the record: transactions that read, and those that write
	waits  int // for the disk
	git    int
	tmux   int
	files  int // stamps of tasks' files
}

const movesWorkflow = `
name: moves
version: 1
allow: {bounded: to go round is what is counted here}
states:
  a: {}
  b: {}
  over: {terminal: true}
transitions:
  - {from: a, to: b}
  - {from: b, to: a, gate: {section: Handoff}}
  - {from: [a, b], to: over}
`

// What a command asks of the system does not depend on how fast the machine is.
func TestACommandAsksNoMoreOfTheSystemThanItDoesToday(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs strace, and make test-all installs that")
	}
	t.Parallel()
	if err := exec.Command("strace", "-f", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("strace does not work here: %v", err)
	}
	w := newWorld(t)
	w.write("orange/workflows/moves.yml", movesWorkflow)
	w.write("orange/workflows/agents.yml", `
name: agents
version: 1
states:
  pending: {}
  working: {role: worker}
  over: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: working, to: over, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  go: Go.
`)
	w.must("orange", "project", "update", "--pool-size", "100")
	id := w.create("one", "--no-spawn", "--workflow", "moves")
	w.copies(1000)
	w.must("orange", "task", "list") // the log of commits is long: the first to leave makes it short
	for _, c := range []struct {
		name string
		run  []string
		most calls
	}{
		// one of the looks is for the workflow of live tasks, which says whom they wait for
		{"a list of 1,000 tasks", []string{"task", "list"}, calls{writes: 1, looks: 8}},
		{"a task with all that is known of it", []string{"task", "show", id}, calls{writes: 1, looks: 16, git: 1}},
		{"a move without a gate", []string{"task", "update", id, "--status", "b"},
			calls{writes: 1, looks: 14, waits: 3}},
		{"a move over a gate", []string{"task", "update", id, "--status", "a"},
			calls{writes: 1, looks: 14, waits: 4}},
	} {
		if strings.HasSuffix(c.name, "over a gate") {
			w.appendTo(id, "\n## Handoff\n\nDONE: it\n")
		}
		w.wantCalls(c.name, c.most, c.run...)
	}
	for n := range 100 {
		w.create(fmt.Sprint("agent", n), "--workflow", "agents")
	}
	w.must("orange", "monitor", "--once") // what agents wrote when they started is read once
	// one of the looks is for the branches that are compared before a merge
	w.wantCalls("a look of the monitor over 100 agents", calls{looks: 18, tmux: 1, files: 2 * (100 + 1000)},
		"monitor", "--once")
}

// appendTo adds text to a task's document.
func (w *world) appendTo(id, text string) {
	w.t.Helper()
	file, err := os.OpenFile(w.document(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
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

// wantCalls runs a command and counts.
func (w *world) wantCalls(name string, most calls, args ...string) {
	w.t.Helper()
	trace := filepath.Join(w.t.TempDir(), "trace")
	words := append([]string{"-f", "-qq", "-e", "trace=write,fsync,fdatasync,fcntl,execve,newfstatat", "-o", trace,
		filepath.Join(built.dir, "orange")}, args...)
	w.must("strace", words...)
	text, err := os.ReadFile(trace)
	if err != nil {
		w.t.Fatal(err)
	}
	found := calls{
		writes: count(text, `\d+ +write\(1, `),
		looks:  count(text, `F_SETLK, \{l_type=F_RDLCK, l_whence=SEEK_SET, l_start=12[3-7], l_len=1\}\) *= 0`),
		waits:  count(text, `\d+ +f(data)?sync\(`),
		git:    count(text, `execve\("[^"]*/git", .* = 0`),
		tmux:   count(text, `execve\("[^"]*/tmux", .* = 0`),
		files:  count(text, `newfstatat\([^"]*"[^"]*/tasks/[^"]*/(TASK\.md|history\.jsonl)", .*AT_SYMLINK_NOFOLLOW`),
	}
	w.t.Logf("%s: %+v", name, found)
	if found.writes > most.writes || found.looks > most.looks || found.waits > most.waits || found.git > most.git ||
		found.tmux > most.tmux || found.files > most.files {
		w.t.Errorf("%s needs %+v, at most %+v", name, found, most)
	}
}

func count(text []byte, line string) int { return len(regexp.MustCompile(line).FindAll(text, -1)) }
