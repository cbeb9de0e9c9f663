package evidence_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/engine/evidence"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
	"orange/internal/work/worktree"
)

// The test binary is also the process that runs jq programs.
const jqVariable = "EVIDENCE_TEST_JQ"

func TestMain(m *testing.M) {
	if os.Getenv(jqVariable) != "" {
		if err := evidence.ServeJQ(os.Stdin, os.Stdout, os.Exit); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const head = "1111111111111111111111111111111111111111"

// world is a task with a folder and a workspace, and a git that says what a test wants.
type world struct {
	program string // that a check is said to be
	t       *testing.T
	task    task.Task
	def     *workflow.Definition
	looker  *evidence.Looker
	tree    string

	mutex   sync.Mutex
	stand   evidence.Workspace
	ahead   int
	changed []string
	based   []string // and those that the base has by now
	added   []string // those of them that the base has not
	tip     task.Subject
	more    int      // commits since the subject
	fewer   int      // that it had
	since   []string // files that changed since a tree was noted, or by which a commit differs from it
	inside  []string // commits that checks were to run on
	stamps  worktree.Stamps

	meanwhile []string // files that changed in a checkout

	noted  map[string]string
	starts int
	jqRuns int
	runs   sync.WaitGroup
}

func newWorld(t *testing.T) *world {
	t.Helper()
	files := mirror.Files{Home: t.TempDir()}
	w := &world{
		t: t, task: task.Task{ID: "abc", Project: "shop", Workspace: "shop--1", Branch: "work"},
		def:   &workflow.Definition{Name: "test"},
		tree:  t.TempDir(),
		stand: evidence.Workspace{There: true, Snapshot: worktree.Snapshot{Head: head, Branch: "work"}},
		noted: map[string]string{},
	}
	w.looker = &evidence.Looker{Files: files, Git: w, Programs: w, Notes: w, Now: time.Now,
		JQTime: 10 * time.Second, Patience: 20 * time.Second}
	must(t, os.MkdirAll(w.dir(), 0o755))
	t.Cleanup(w.runs.Wait)
	return w
}

func (w *world) dir() string { return w.looker.Files.Dir(w.task.Project, w.task.ID) }

func (w *world) path(name string) string { return filepath.Join(w.dir(), filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	must(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
}

func (w *world) look(parts ...workflow.Part) map[string]decide.Fact {
	w.t.Helper()
	facts, err := w.looker.Look(w.t.Context(), w.task, w.def, parts)
	must(w.t, err)
	return facts
}

func (w *world) fact(p workflow.Part) decide.Fact {
	w.t.Helper()
	fact, there := w.look(p)[p.Key()]
	if !there {
		w.t.Fatalf("no fact for %s", p.Key())
	}
	return fact
}

func (w *world) set(change func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change()
}

func (w *world) Snapshot(context.Context, task.Task) (worktree.Snapshot, bool, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.stand.Snapshot, w.stand.There, nil
}

func (w *world) Commits(context.Context, task.Task, string) (string, int, error) {
	return "origin/main", w.ahead, nil
}

func (w *world) Changed(context.Context, task.Task, string) (paths, added []string, err error) {
	return w.changed, w.added, nil
}

func (w *world) OtherThanBase(_ context.Context, _ task.Task, _ string, paths []string) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(w.based, path) }), nil
}

func (w *world) Subject(context.Context, task.Task, bool) task.Subject { return w.tip }

func (w *world) Between(context.Context, task.Task, string, string) (int, int, error) {
	return w.more, w.fewer, nil
}

func (w *world) ChangedSince(context.Context, task.Task) ([]string, error) { return w.since, nil }

func (w *world) Stamps(context.Context, task.Task) (worktree.Stamps, error) { return w.stamps, nil }

func (w *world) Differs(context.Context, task.Task, string) ([]string, error) { return w.since, nil }

func (w *world) RunJQ(ctx context.Context, request []byte, limit time.Duration) (string, error) {
	w.set(func() { w.jqRuns++ })
	ran, err := proc.RunLimited(ctx, proc.Command{Name: os.Args[0], Env: []string{jqVariable + "=1"},
		Stdin: bytes.NewReader(request)},
		proc.Limits{Time: limit, Memory: 2 << 30, Output: 1 << 20})
	return ran.Output, err
}

func (w *world) RunCheck(ctx context.Context, _ task.Task, check workflow.Check, commit string) (evidence.Run, error) {
	w.set(func() { w.inside = append(w.inside, commit) })
	ran, err := proc.RunLimited(ctx, proc.Command{Name: check.Run[0], Args: check.Run[1:], Dir: w.tree},
		proc.Limits{Time: time.Duration(check.Timeout) * time.Second, Output: 1 << 10})
	return evidence.Run{LimitedResult: ran, Program: w.program, Environment: []string{"HOME", "PATH"},
		Changed: w.meanwhile}, err
}

// StartCheck runs the check next to the test, as the program does in a process of its own.
func (w *world) StartCheck(ctx context.Context, id, check string) error {
	w.set(func() { w.starts++ })
	w.runs.Go(func() {
		if _, err := w.looker.RunCheck(context.WithoutCancel(ctx), w.task, w.def, check, false); err != nil {
			w.t.Errorf("run check %s of %s: %v", check, id, err)
		}
	})
	return nil
}

func (w *world) NoteCheck(_ context.Context, _ string, r task.CheckResult, digest string) error {
	w.set(func() { w.noted[r.Name] = digest })
	return nil
}

func (w *world) NotedCheck(_ context.Context, _, check string) (string, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.noted[check], nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantFact compares what matters; a Found of "" wants a fact that holds.
func wantFact(t *testing.T, got decide.Fact, found, where string) {
	t.Helper()
	switch {
	case found == "" && (!got.Holds || got.Found != "" || got.Digest == ""):
		t.Errorf("got %+v, want one that holds", got)
	case found != "" && (got.Holds || !strings.Contains(got.Found, found) || got.Want == ""):
		t.Errorf("got %+v, want that it does not hold: %s", got, found)
	case where != "" && got.Where != where:
		t.Errorf("it is in %q, want %q", got.Where, where)
	}
}
