package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself under the name "sqlite"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/store/sqlite"
)

// home is one ORANGE_HOME with a repository and terminal servers of its own.
type home struct {
	lab  *lab
	dir  string
	repo string
	env  []string
}

// dialog is what a sleeper's terminal shows when it asks a person.
const dialog = "Allow this? (y/n)"

// files are what a home in dir begins with.
func files(dir string) map[string]string {
	return map[string]string{
		"config.yml": fmt.Sprintf("notify: [touch, %q]\n", filepath.Join(dir, "told-{task}")),
		"workflows/moves.yml": `
name: moves
version: 1
allow: {bounded: to go round is what is measured here}
states:
  a: {}
  b: {}
  over: {terminal: true}
transitions:
  - {from: a, to: b}
  - {from: b, to: a}
  - {from: [a, b], to: over}
`,
		"workflows/gated.yml": `
name: gated
version: 1
allow: {bounded: to go round is what is measured here}
states:
  a: {}
  b: {}
  over: {terminal: true}
transitions:
  - {from: a, to: b, gate: {section: Handoff}}
  - {from: b, to: a}
  - {from: [a, b], to: over}
`,
		"workflows/agents.yml": `
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
`,
		"harnesses/sleeper.yml": "name: sleeper\nworker: {command: [sleep, \"100000\"]}\n" +
			"dialog: '" + regexp.QuoteMeta(dialog) + "'\n",
	}
}

// home makes a home, or answers the one of that name.
func (l *lab) home(name string) (*home, error) {
	if h := l.homes[name]; h != nil {
		return h, nil
	}
	dir := filepath.Join(l.dir, name)
	h := &home{lab: l, dir: filepath.Join(dir, "orange"), repo: filepath.Join(dir, "repo")}
	for _, pair := range os.Environ() {
		if key, _, _ := strings.Cut(pair, "="); !strings.HasPrefix(key, "ORANGE_") && !strings.HasPrefix(key, "TMUX") {
			h.env = append(h.env, pair)
		}
	}
	h.env = append(h.env, "ORANGE_MONITOR=never", "HOME="+dir, "ORANGE_HOME="+h.dir, "TMUX_TMPDIR="+dir,
		"GIT_CONFIG_NOSYSTEM=1", "PATH="+filepath.Dir(l.orange)+":"+os.Getenv("PATH"))
	for path, text := range files(h.dir) {
		path = filepath.Join(h.dir, path)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
		if err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(h.repo, 0o755); err != nil {
		return nil, err
	}
	for _, argv := range [][]string{
		{"git", "init", "-q", "-b", "main"}, {"git", "config", "user.name", "Bench"},
		{"git", "config", "user.email", "bench@localhost"}, {"git", "commit", "-q", "--allow-empty", "-m", "Begin"},
		{"orange", "project", "add", ".", "--name", "demo", "--pool-size", "1000"},
	} {
		if _, err := h.run(argv...); err != nil {
			return nil, err
		}
	}
	l.homes[name] = h
	return h, nil
}

func (h *home) command(argv ...string) command {
	if argv[0] == "orange" {
		argv = append([]string{h.lab.orange}, argv[1:]...)
	}
	return command{argv: argv, env: h.env, dir: h.repo}
}

func (h *home) run(argv ...string) (string, error) {
	c := h.command(argv...)
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, firstLine(trouble.String()+string(said)))
	}
	return string(said), nil
}

// create makes a task and answers its id.
func (h *home) create(branch string, flags ...string) (string, error) {
	said, err := h.run(append([]string{"orange", "task", "create", branch, "What " + branch + " is about", "--json"},
		flags...)...)
	if err != nil {
		return "", err
	}
	var made struct {
		Task struct{ ID string }
	}
	if err := json.Unmarshal([]byte(said), &made); err != nil || made.Task.ID == "" {
		return "", fmt.Errorf("found no id in %q: %w", said, err)
	}
	return made.Task.ID, nil
}

// createAll makes tasks, two at a time.
func (h *home) createAll(from, to int, flags ...string) error {
	var wait sync.WaitGroup
	problems := make(chan error, 2)
	for half := range 2 {
		wait.Go(func() {
			for i := from + half; i < to; i += 2 {
				if _, err := h.create(fmt.Sprintf("topic-%05d", i), flags...); err != nil {
					problems <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(problems)
	return <-problems
}

// crowd gives the record copies of its newest task until there are as many. The copies have no folders.
func (h *home) crowd(ctx context.Context, many, live int) error {
	db, err := sql.Open("sqlite", "file:"+h.database()+"?_pragma=busy_timeout(20000)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	do := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, query, args...)
		}
	}
	var have int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM tasks").Scan(&have); err != nil {
		return err
	}
	do("CREATE TEMP TABLE one AS SELECT * FROM tasks ORDER BY created_at DESC LIMIT 1")
	do("CREATE TEMP TABLE first AS SELECT e.* FROM events e JOIN one ON one.id = e.task WHERE e.seq = 1")
	for i := have; i < many; i++ {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		id := fmt.Sprintf("%021d", i)
		do("UPDATE one SET id = ?, branch = ?, summary = ?, live = ?, created_at = ?, updated_at = ?", id,
			fmt.Sprintf("copy-%06d", i), fmt.Sprintf("Number %d: users forget what they wanted when they came", i),
			i < live, at, at)
		do("INSERT INTO tasks SELECT * FROM one")
		do("UPDATE first SET task = ?", id)
		do("INSERT INTO events SELECT * FROM first")
	}
	do("DROP TABLE one")
	do("DROP TABLE first")
	if err != nil {
		return err
	}
	return tx.Commit()
}

func (h *home) database() string { return filepath.Join(h.dir, "orange.db") }

// lengthen gives a task a history of many events.
func (h *home) lengthen(ctx context.Context, id string, many int) error {
	store, err := sqlite.Open(ctx, h.database())
	if err != nil {
		return err
	}
	defer store.Close()
	now, err := store.Load(ctx, id)
	if err != nil {
		return err
	}
	for len := now.Task.Seq; len < many; len = now.Task.Seq {
		c := record.Change{Task: now.Task, Expect: now.Task.Version}
		for range 1000 {
			c.Events = append(c.Events, history.Event{Time: time.Now(), Type: history.AgentStalled,
				Data: map[string]string{"role": "worker", "agent": "one that has nothing to do"}})
		}
		if now.Task, err = store.Commit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// end ends the terminal servers of the home.
func (h *home) end() {
	sockets, _ := filepath.Glob(filepath.Join(filepath.Dir(h.dir), "tmux-*", "*"))
	for _, socket := range sockets {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
	}
}
