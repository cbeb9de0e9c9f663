package engine_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
	"orange/internal/store/sqlite"
	"orange/workflows"
)

// world is an engine with a real record, real files and fake hooks.
type world struct {
	*engine.Engine
	ports      engine.Ports
	t          *testing.T
	home       string
	store      *sqlite.Store
	files      mirror.Files
	repository *fakeRepository
	performer  *fakePerformer
	runner     *runner
	clock      *clock

	environments *environments
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	files := mirror.Files{Home: dir}
	w := &world{
		t: t, home: dir, files: files, clock: &clock{now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)},
		repository: &fakeRepository{project: task.Project{Name: "garden", Path: "/nowhere", DefaultBranch: "main",
			PoolSize: 2}},
		performer:    &fakePerformer{fails: map[string]error{}, failsOnce: map[string]error{}, crashAt: -1},
		environments: &environments{},
	}
	first := w.another()
	t.Cleanup(func() { first.replays(t) })
	return first
}

// another is a second program at work on the same home.
func (w *world) another() *world {
	w.t.Helper()
	store, err := sqlite.Open(w.t.Context(), filepath.Join(w.home, "orange.db"))
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, store.Close()) })
	rules := &home.Home{Dir: w.home, Workflows: workflows.Files, Usual: workflows.Usual, Keeper: store}
	other := *w
	other.store, other.runner = store, &runner{}
	other.ports = engine.Ports{
		Record: store, Folder: w.files, Rules: rules, Work: w.repository, Agents: &fakeAgents{},
		Perform: w.performer.Perform, Facts: w.repository.Look, Peek: (&glances{}).Peek,
		RunHooks: other.runner.Run, Environments: w.environments, Now: w.clock.Now,
		Random: rand.Reader, Log: slog.New(slog.DiscardHandler), Patience: 20 * time.Millisecond,
	}
	other.Engine = engine.New(other.ports)
	other.runner.engine = other.Engine
	if w.performer.engine == nil {
		w.performer.engine = other.Engine
	}
	return &other
}

// rewire has the engine work with other ports.
func (w *world) rewire(change func(p *engine.Ports)) {
	change(&w.ports)
	*w.Engine = *engine.New(w.ports)
}

// many has other programs at work on the same home do something at the same instant.
func (w *world) many(programs int, do func(program *world) error) {
	w.t.Helper()
	errs := make([]error, programs)
	var crew sync.WaitGroup
	for i := range errs {
		program := w.another()
		crew.Go(func() { errs[i] = do(program) })
	}
	crew.Wait()
	must(w.t, errors.Join(errs...))
}

// clock moves on a little with every look at it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fakeAgents are agents that have always said the same last words, of which none lives, and that no text reaches.
type fakeAgents struct{}

func (*fakeAgents) LastWords(context.Context, task.Death) (string, error) { return "out of paper", nil }

func (*fakeAgents) Lost(context.Context, task.Death, time.Time) (with, resume string, _ error) {
	return "", "", nil
}

func (*fakeAgents) Limit(task.Task, task.Death, []history.Event, time.Time) (task.Limit, error) {
	return task.Limit{}, nil
}

func (*fakeAgents) Living(context.Context) (map[string][]record.Seat, error) { return nil, nil }

func (*fakeAgents) Rename(context.Context, task.Task) (string, error) { return "", nil }

func (*fakeAgents) Waits(context.Context, task.Task, string) (bool, error) { return false, nil }

func (*fakeAgents) Say(context.Context, task.Task, string, string, string, func(context.Context) error) error {
	return task.ErrNotFound
}

// runner performs hooks at once, or is dead and does nothing. A crash of the performer ends it silently, like a
// process.
type runner struct {
	engine *engine.Engine
	dead   bool
}

func (r *runner) Run(ctx context.Context, id string, _ bool) (err error) {
	if r.dead {
		return nil
	}
	defer func() { _ = recover() }()
	return r.engine.Settle(ctx, id)
}

// fakeRepository is the repository, without git.
type fakeRepository struct {
	mu       sync.Mutex
	project  task.Project
	replaced []byte // what a program put where the link was
	relinked int
	merged   int
	took     string // the commit that was merged last
	dirty    bool
	fails    error // of a merge

	elsewhere bool   // the worktrees are at another machine
	unborn    bool   // the repository has no branch of a task
	missing   string // what Missing says

	requests    []record.PullRequest
	unreachable error // the network
	beyond      bool  // the branch has what no pull request has

	based      []string // the commits that a new task starts with
	remote     []string // those that a fetch adds
	fetched    int
	looked     int
	unreadable error // the repository, for a look at its base
}

func (d *fakeRepository) Replaced(context.Context, task.Task) ([]byte, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replaced, d.replaced != nil, nil
}

func (d *fakeRepository) Relink(context.Context, task.Task) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replaced = nil
	d.relinked++
	return nil
}

func (d *fakeRepository) CheckBranch(_ context.Context, t task.Task) error {
	name := t.Branch
	if strings.Contains(name, "..") {
		return task.Notef(task.ErrUsage, "%q is no branch", name)
	}
	return nil
}

func (d *fakeRepository) SetBranch(_ context.Context, _ task.Task, name string) (string, error) {
	if name == "" {
		return "found", nil
	}
	return name, nil
}

func (d *fakeRepository) Holds(context.Context, task.Task) (bool, error) { return !d.elsewhere, nil }

func (d *fakeRepository) Missing(context.Context, task.Task) (string, error) { return d.missing, nil }

func (d *fakeRepository) HasBranch(context.Context, task.Task) (bool, error) { return !d.unborn, nil }

func (d *fakeRepository) Ahead(context.Context, task.Task, string) (bool, error) { return true, nil }

func (d *fakeRepository) Landed(context.Context, task.Task, []string) (bool, error) {
	return false, nil
}

func (d *fakeRepository) Lacks(_ context.Context, _ task.Task, commits []string) (string, []string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looked++
	return "main", slices.DeleteFunc(slices.Clone(commits), func(c string) bool { return slices.Contains(d.based, c) }),
		d.unreadable
}

func (*fakeRepository) EndPush(context.Context, task.Task) error { return nil }

func (d *fakeRepository) Fetch(context.Context, task.Task) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fetched++
	d.based = append(d.based, d.remote...)
	return d.unreachable
}

func (*fakeRepository) Rehearse(_ context.Context, _ task.Task, commits []string) ([]record.Rehearsal, string, error) {
	return make([]record.Rehearsal, len(commits)), "c0ffee", nil
}

func (*fakeRepository) CheckResult(context.Context, task.Task, string, []record.MergeCheck) error {
	return nil
}

func (d *fakeRepository) Unpushed(context.Context, task.Task) (int, []string, error) {
	return 0, nil, nil
}

func (d *fakeRepository) Log(_ context.Context, _, _, log string, _ int) (string, error) {
	if d.unreachable != nil {
		return "", d.unreachable
	}
	return "the log " + log + "\nexit 2\n", nil
}

func (d *fakeRepository) Forge(context.Context, task.Task) (bool, string, error) {
	return true, "github", nil
}

// Subject is the tip, which does not move: the simulation has tips that do.
func (d *fakeRepository) Subject(_ context.Context, _ task.Task, tree bool) task.Subject {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := task.Subject{Commit: "beef"}
	if tree {
		s.Tree, s.Tracked = "whole "+s.Commit, "tracked "+s.Commit
	}
	return s
}

// Look returns the facts that gates ask git for, from the tip and the files.
func (d *fakeRepository) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]decide.Fact{}
	for _, p := range parts {
		moved := t.Subject.Commit != "" && t.Subject.Commit != "beef"
		f := decide.Fact{Source: "git " + p.Git, Where: "the workspace", Found: "at beef", Want: "see to it"}
		switch p.Git {
		case workflow.GitCommitted:
			f.Holds = !d.dirty
		case workflow.GitUnmoved:
			f.Holds, f.Moved = t.Subject.Commit != "" && !moved && !d.dirty, moved && !d.dirty
		case workflow.GitMoved:
			f.Holds = moved
		}
		f.Text = document.Normalise(fmt.Sprintf("%s of beef, dirty %v\n", p.Git, d.dirty))
		f.Digest = document.Digest(f.Text)
		out[p.Key()] = f
	}
	return out, nil
}

func (d *fakeRepository) Merge(ctx context.Context, _ task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if d.fails != nil {
		return record.MergeResult{}, d.fails
	}
	if err := begin(ctx, "c0ffee"); err != nil {
		return record.MergeResult{}, err
	}
	d.merged++
	d.took = order.Commit
	return record.MergeResult{Commit: "c0ffee", How: "merged"}, nil
}

func (d *fakeRepository) Tip(context.Context, task.Task) (string, error) { return "beef", nil }

func (d *fakeRepository) Within(context.Context, task.Task, string) (bool, error) {
	return !d.beyond, nil
}

func (d *fakeRepository) Find(context.Context, string, string) ([]record.PullRequest, error) {
	return d.requests, d.unreachable
}

func (d *fakeRepository) States(_ context.Context, _ string, addresses []string) ([]record.PullRequest, error) {
	return slices.DeleteFunc(slices.Clone(d.requests), func(pr record.PullRequest) bool {
		return !slices.Contains(addresses, pr.URL)
	}), d.unreachable
}

func (d *fakeRepository) Project(string) (task.Project, error) { return d.project, nil }

// call is one hook that the performer was asked to perform.
type call struct {
	task, action string
	hook         int64
	secret       string
	conversation string // that it goes on with
}

var errPerformer = errors.New("the performer fails")

// fakePerformer notes the hooks that it is asked to perform.
type fakePerformer struct {
	mu         sync.Mutex
	engine     *engine.Engine
	calls      []call
	fails      map[string]error // by action
	failsOnce  map[string]error // by action
	crashAt    int              // the number of the call that crashes, from 0
	performing int
	most       int // how many were performed at once
}

func (h *fakePerformer) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	h.mu.Lock()
	number := len(h.calls)
	h.calls = append(h.calls, call{job.Task.ID, job.Hook.Action, job.Hook.ID, job.Secret,
		job.Conversation})
	err := errors.Join(h.fails[job.Hook.Action], h.failsOnce[job.Hook.Action])
	delete(h.failsOnce, job.Hook.Action)
	crash := number == h.crashAt
	h.performing++
	h.most = max(h.most, h.performing)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.performing--
	}()
	if crash {
		panic("crash")
	}
	if err = errors.Join(err, h.next(ctx, job)); err != nil {
		return record.Effect{}, err
	}
	return effectOf(job, number), nil
}

func (h *fakePerformer) next(ctx context.Context, job record.Job) error {
	if job.Hook.Action != action.SpawnNext {
		return nil
	}
	_, err := h.engine.StartNext(ctx, job.Task.Project)
	return err
}

func effectOf(job record.Job, number int) record.Effect {
	session := "session of " + job.Task.ID
	switch job.Hook.Action {
	case action.SpawnAgent, action.SpawnReviewer:
		return record.Effect{Session: &session, Seat: &record.Seat{PID: 1000 + number, Began: "then"},
			Events: []history.Event{{Type: history.AgentSpawned, Data: map[string]string{"role": job.Role,
				history.DataHarness: job.Harness()}}}}
	case action.KillSession:
		none := ""
		return record.Effect{Session: &none, EndSeats: []string{record.EveryRole}}
	case action.KillReviewer:
		return record.Effect{EndSeats: []string{task.RoleReviewer}}
	case action.ReleaseWorkspace:
		return record.Effect{Lease: record.LeaseFree}
	case action.NotifyWorker:
		return record.Effect{NewNotice: &record.Notice{Seq: job.Hook.Event, Role: task.RoleWorker, Text: "go on"}}
	}
	return record.Effect{}
}

// done are the actions that were asked for, in order.
func (h *fakePerformer) done() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, c := range h.calls {
		out = append(out, c.action)
	}
	return strings.Join(out, " ")
}

func (h *fakePerformer) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = nil
}

// last is the newest call with the action.
func (h *fakePerformer) last(t *testing.T, action string) (found call) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if c.action == action {
			found = c
		}
	}
	if found.hook == 0 {
		t.Fatalf("%s was never performed", action)
	}
	return found
}

var (
	human    = task.Actor{Role: task.RoleHuman, Person: "Ada <ada@example.com>"}
	worker   = task.Actor{Role: task.RoleWorker}
	reviewer = task.Actor{Role: task.RoleReviewer}
)

const (
	plan    = "\n## Plan\nAPPROACH: dig\nTOUCHING: the gate\n"
	handoff = "\n## Handoff\nDONE: all of it\n"
	pass    = "\n## Review\nVerdict: PASS\n"
	fail    = "\n## Review\nVerdict: FAIL\nthe gate squeaks\n"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) create(branch string, spawn bool) record.Outcome {
	w.t.Helper()
	out, err := w.Create(w.t.Context(), task.New{
		Project: w.repository.project, Branch: branch, Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex",
		Workflow:      "default", Spawn: spawn, Actor: human,
	})
	must(w.t, err)
	return out
}

func (w *world) write(id, text string) {
	w.t.Helper()
	must(w.t, w.files.Append("garden", id, text))
}

func (w *world) ask(id string, to task.Status, actor task.Actor) (record.Outcome, error) {
	w.t.Helper()
	return w.Request(w.t.Context(), task.Request{Task: id, To: to, Actor: actor, Reason: "because"})
}

func (w *world) move(id string, to task.Status, actor task.Actor) record.Outcome {
	w.t.Helper()
	out, err := w.ask(id, to, actor)
	must(w.t, err)
	if !out.Moved || out.Event.To != to {
		w.t.Fatalf("asked for %s, got %+v", to, out)
	}
	return out
}

// reach makes a task and brings it to a status.
func (w *world) reach(to task.Status) string {
	w.t.Helper()
	id := w.create("branch-"+string(to), to != "pending").Task.ID
	steps := []struct {
		text  string
		to    task.Status
		actor task.Actor
	}{{plan, "working", worker}, {handoff, "agent-review", worker}, {pass, "reviewing", reviewer}}
	for _, s := range steps {
		if w.task(id).Status == to || to == "pending" {
			break
		}
		if to == "clarification" {
			s.text, s.to = "", to
		}
		w.write(id, s.text)
		w.move(id, s.to, s.actor)
	}
	if got := w.task(id).Status; got != to {
		w.t.Fatalf("the task is in %s, want %s", got, to)
	}
	w.performer.forget()
	return id
}

func (w *world) load(id string) record.Snapshot {
	w.t.Helper()
	s, err := w.store.Load(w.t.Context(), id)
	must(w.t, err)
	return s
}

func (w *world) task(id string) task.Task {
	w.t.Helper()
	return w.load(id).Task
}

func (w *world) events(id, kind string) []history.Event {
	w.t.Helper()
	all, err := w.store.Events(w.t.Context(), id, 0)
	must(w.t, err)
	must(w.t, history.VerifyChain(all))
	return slices.DeleteFunc(all, func(e history.Event) bool { return kind != "" && e.Type != kind })
}

func (w *world) document(id string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.files.Document("garden", id))
	must(w.t, err)
	return string(text)
}

// edit replaces text in a task's document, as an editor does.
func (w *world) edit(id, old, new string) {
	w.t.Helper()
	text := w.document(id)
	if !strings.Contains(text, old) {
		w.t.Fatalf("there is no %q in\n%s", old, text)
	}
	must(w.t, os.WriteFile(w.files.Document("garden", id), []byte(strings.Replace(text, old, new, 1)), 0o644))
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refused *rejection.Rejection
	if !errors.As(err, &refused) || refused.Code != code {
		t.Errorf("the error is %v, want a rejection %s", err, code)
	}
}

// everything is every row of the record and every byte of the tasks' folders.
func (w *world) everything() string {
	w.t.Helper()
	var out strings.Builder
	source := url.URL{Scheme: "file", Path: filepath.Join(w.home, "orange.db"), RawQuery: "_pragma=busy_timeout(20000)"}
	db, err := sql.Open("sqlite", source.String())
	must(w.t, err)
	defer db.Close()
	for _, table := range []string{"tasks", "events", "hooks", "spent", "entries", "leases", "seats", "waiters",
		"notices", "renderings", "workflows"} {
		fmt.Fprintf(&out, "== %s\n", table)
		w.rows(db, table, &out)
	}
	must(w.t, filepath.WalkDir(filepath.Join(w.home, "tasks"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "== %s\n%s\n", path, text)
		return err
	}))
	return out.String()
}

func (w *world) rows(db *sql.DB, table string, out *strings.Builder) {
	w.t.Helper()
	rows, err := db.QueryContext(w.t.Context(), "SELECT * FROM "+table)
	must(w.t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(w.t, err)
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		must(w.t, rows.Scan(into...))
		fmt.Fprintf(out, "%v\n", values)
	}
	must(w.t, rows.Err())
}
