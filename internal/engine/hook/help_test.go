package hook_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/engine/hook"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/work/forge"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

var errPort = errors.New("the port is shut")

// ports pretend to be everything that hooks reach for, and note each call that changes something.
type ports struct {
	harness  string // the text of the harnesses; the usual one where it is empty
	home     string
	calls    []string
	fails    map[string]error // by the first word of the call
	panes    []tmux.Pane
	missing  string // of the worktree or the branch
	leaves   bool
	waiters  []task.Process
	alive    map[int]bool
	cleared  worktree.Cleared
	deleted  string
	left     string
	started  string
	last     tmux.Start
	taskDir  string
	programs map[string]bool
	document string
	tree     string
	view     *worktree.View // what an agent sees, where it is not the usual
	pushed   string
	unmoved  bool // origin had the pushed commit already
	known    []record.PullRequest
	draft    forge.Draft
	ran      proc.Command
	limits   proc.Limits
	ended    proc.LimitedResult
	parked   []history.Event // the history of another task, which waits for a limit; nil where none does
}

func (p *ports) List(context.Context, record.Filter) ([]task.Task, error) {
	if p.parked == nil {
		return nil, nil
	}
	return []task.Task{{ID: "other"}}, nil
}

func (p *ports) Events(context.Context, string, int) ([]history.Event, error) { return p.parked, nil }

func (p *ports) note(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	p.calls = append(p.calls, text)
	word, _, _ := strings.Cut(text, " ")
	return p.fails[word]
}

func (p *ports) PanesOf(_ context.Context, task string) ([]tmux.Pane, error) {
	others := func(have tmux.Pane) bool { return have.Task != task }
	return slices.DeleteFunc(slices.Clone(p.panes), others), p.fails["panes"]
}

func (p *ports) Start(_ context.Context, s tmux.Start) (tmux.Pane, error) {
	if err := p.note("start %s", s.Window); err != nil {
		return tmux.Pane{}, err
	}
	p.last = s
	pane := tmux.Pane{Session: s.Session, SessionID: "$1", WindowID: "@" + s.Hook, ID: "%" + s.Hook, PID: 100,
		Task: s.Task, Role: s.Role, Hook: s.Hook, Seat: s.Seat}
	p.panes = append(p.panes, pane)
	return pane, nil
}

func (p *ports) KillWindow(_ context.Context, id string) error {
	p.panes = slices.DeleteFunc(p.panes, func(have tmux.Pane) bool { return have.WindowID == id })
	return p.note("kill-window %s", id)
}

func (p *ports) KillSession(_ context.Context, id string) error {
	p.panes = slices.DeleteFunc(slices.Clone(p.panes), func(have tmux.Pane) bool { return have.SessionID == id })
	return p.note("kill-session %s", id)
}

func (p *ports) Type(_ context.Context, pane, text string, _ tmux.Typing) error {
	return p.note("type %s %s", pane, text)
}

func (p *ports) Lookup(pid int) (task.Process, error) {
	return task.Process{PID: pid, Began: fmt.Sprint("began ", pid)}, p.fails["began"]
}

func (p *ports) EndGroup(_ context.Context, pid int) error { return p.note("end-group %d", pid) }

func (p *ports) EndMarked(_ context.Context, environment ...string) error {
	home := "of no home"
	if environment[0] == "ORANGE_HOME="+p.home {
		home = "at home"
	}
	return p.note("end-strays %s %s", home, strings.Join(environment[1:], " "))
}

func (p *ports) Alive(w task.Process) (bool, error) { return p.alive[w.PID], nil }

func (p *ports) FindProgram(program, path string) (string, error) {
	if path != "/usr/bin" {
		return "", fmt.Errorf("looked on %q", path)
	}
	if !p.programs[program] {
		return "", fmt.Errorf("cannot find the program %q on PATH", program)
	}
	return program, nil
}

func (p *ports) Prepare(_ context.Context, t task.Task) (worktree.Cleared, error) {
	return p.cleared, p.note("prepare %s", t.Workspace)
}

func (p *ports) MissingOf(context.Context, task.Task) (string, bool, error) {
	return p.missing, p.leaves, p.fails["missing"]
}

func (p *ports) View(context.Context, task.Task) (worktree.View, error) {
	if p.view != nil {
		return *p.view, nil
	}
	return worktree.View{Dir: p.tree, Base: "origin/main", TaskFile: "TASK.md"}, p.fails["view"]
}

func (p *ports) Equip(_ context.Context, t task.Task, _ []harness.File, _ []string) error {
	return p.note("equip %s", t.Workspace)
}

func (p *ports) Release(_ context.Context, t task.Task) (worktree.Cleared, error) {
	return p.cleared, p.note("release %s", t.Workspace)
}

func (p *ports) DeleteRemoteBranch(_ context.Context, t task.Task, landed string) (git.Deleted, error) {
	if landed != "" {
		return git.Deleted{Tip: p.deleted}, p.note("delete-remote %s landed %s", t.Branch, landed)
	}
	return git.Deleted{Tip: p.deleted, Left: p.left}, p.note("delete-remote %s", t.Branch)
}

func (p *ports) Push(_ context.Context, t task.Task, commit string) (string, bool, error) {
	if commit != "" {
		return commit, !p.unmoved, p.note("push %s of %s", commit, t.Branch)
	}
	return p.pushed, !p.unmoved, p.note("push %s", t.Branch)
}

func (p *ports) Find(_ context.Context, in task.Project, branch string) ([]record.PullRequest, error) {
	return p.known, p.note("pull-requests %s %s", filepath.Base(in.Path), branch)
}

func (p *ports) Create(_ context.Context, in task.Project, d forge.Draft) (record.PullRequest, error) {
	p.draft = d
	return record.PullRequest{URL: "https://github.com/a/garden/pull/1", State: record.PROpen},
		p.note("open %s %s %s", filepath.Base(in.Path), d.Branch, d.Base)
}

// argv is the program that ran last, with its arguments.
func (p *ports) argv() []string { return append([]string{p.ran.Name}, p.ran.Args...) }

func (p *ports) RunLimited(_ context.Context, c proc.Command, l proc.Limits) (proc.LimitedResult, error) {
	p.ran, p.limits = c, l
	return p.ended, p.note("run %q", p.argv())
}

func (p *ports) Document(task.Task) ([]byte, error) { return []byte(p.document), p.fails["document"] }

const harnessText = `name: NAME
worker:
  command: [PROGRAM, --session, "{session_id}", [--effort, "{effort}"], ["--model={model}"],
    "{prompt}"]
  reduced: [PROGRAM, --careful, "{prompt_file}"]
env:
  RULES: "{worktree}/rules"
`

func (p *ports) Harness(name string) (*harness.Harness, error) {
	text := strings.NewReplacer("NAME", name, "PROGRAM", name+"-program").Replace(cmp.Or(p.harness, harnessText))
	return harness.Parse(name+".yml", []byte(text))
}

func (p *ports) Environment(context.Context, task.Task) ([]string, error) {
	return []string{"HOME=/root", "PATH=/usr/bin"}, p.fails["environment"]
}

func (p *ports) TaskDir(task.Task) string { return p.taskDir }

func (p *ports) Waiters(context.Context, string, string) ([]task.Process, error) {
	return p.waiters, p.fails["waiters"]
}

func (p *ports) startNext(_ context.Context, project string) (string, error) {
	return p.started, p.note("start-next %s", project)
}

func newExecutor(t *testing.T) (*hook.Executor, *ports) {
	t.Helper()
	dir := t.TempDir()
	p := &ports{
		home: dir, fails: map[string]error{}, alive: map[int]bool{},
		taskDir: filepath.Join(dir, "tasks", "garden", "abc"),
		programs: map[string]bool{"claude-program": true, "codex-program": true, "notify-send": true,
			"osascript": true},
		tree: "/work/tree", pushed: "c0ffee",
	}
	return &hook.Executor{
		Sessions: p, Processes: p, Work: p, Setup: p, Record: p, StartNext: p.startNext,
		Now: time.Now, System: "linux", Home: dir, Self: "/opt/orange",
	}, p
}

func aJob(action, role string) record.Job {
	return record.Job{
		Task: task.Task{
			ID: "abc", Project: "garden", Branch: "fix", Summary: "mend the gate", Status: "working",
			Workspace: "garden--1",
			Harness:   "claude", ReviewHarness: "codex", ReviewEffort: "high", Counters: task.Counters{
				{Name: task.ReviewRound, Value: 2}},
		},
		Project: task.Project{Name: "garden", Path: "/work/garden", DefaultBranch: "main"},
		Hook:    task.OwedHook{ID: 7, Task: "abc", Event: 5, Hook: task.Hook{Action: action}},
		Role:    role, Secret: "s3cret", Seat: "hash", Prompt: "# {summary}\n\nRead {task_file}.\n",
	}
}

// strays is the call that ends what a role of the task left running.
func strays(role string) string { return "end-strays at home ORANGE_TASK_ID=abc ORANGE_ROLE=" + role }

func aPane(role, mark string) tmux.Pane {
	return tmux.Pane{Session: "garden/fix", SessionID: "$1", WindowID: "@" + mark, ID: "%" + mark, PID: 50,
		Task: "abc", Role: role, Hook: mark}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCalls(t *testing.T, p *ports, want ...string) {
	t.Helper()
	if !slices.Equal(p.calls, want) {
		t.Errorf("the calls are\n  %s\nwant\n  %s", strings.Join(p.calls, "\n  "), strings.Join(want, "\n  "))
	}
	p.calls = nil
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, want one that says %q", err, says)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
