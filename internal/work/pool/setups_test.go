package pool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

// withSetUp is a pool whose project has a set-up, and a file that lists its runs.
func withSetUp(t *testing.T, commands ...string) (p *Pool, s *setup, runs func() int) {
	t.Helper()
	p, s = newPool(t, func(o *Surroundings) {
		o.Environment = func(context.Context, task.Task) ([]string, error) {
			return []string{"PATH=" + os.Getenv("PATH"), "OF_TASK=yes"}, nil
		}
	})
	ran := filepath.Join(t.TempDir(), "ran")
	for _, c := range append([]string{"echo ran >>" + ran}, commands...) {
		s.project.Worktree.Commands = append(s.project.Worktree.Commands, []string{"sh", "-c", c})
	}
	return p, s, func() int {
		text, err := os.ReadFile(ran)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "ran")
	}
}

func wantRuns(t *testing.T, what string, runs func() int, want int) {
	t.Helper()
	if got := runs(); got != want {
		t.Errorf("%s: the set-up ran %d times, want %d", what, got, want)
	}
}

func prepared(t *testing.T, p *Pool, id, branch string) {
	t.Helper()
	one := aTask()
	one.ID, one.Branch = id, branch
	_, err := p.Prepare(t.Context(), one)
	must(t, err)
}

func released(t *testing.T, p *Pool, id, branch string) {
	t.Helper()
	one := aTask()
	one.ID, one.Branch = id, branch
	_, err := p.Release(t.Context(), one)
	must(t, err)
}

func TestASetUp_runsOncePerSlotUntilANamedFileChanges(t *testing.T) {
	t.Parallel()
	p, s, runs := withSetUp(t)
	s.project.Worktree.When = []string{"file"}
	prepared(t, p, "abc", "fix")
	wantRuns(t, "a new slot", runs, 1)
	must(t, os.WriteFile(filepath.Join(p.Dir("garden--1"), "file"), []byte("agent\n"), 0o600))
	prepared(t, p, "abc", "fix")
	wantRuns(t, "under an agent's hands", runs, 1)
	released(t, p, "abc", "fix")
	prepared(t, p, "def", "other")
	wantRuns(t, "another task of the slot", runs, 1)
	released(t, p, "def", "other")
	gitIn(t, s.project.Path, "switch", "-q", "-c", "third")
	must(t, os.WriteFile(filepath.Join(s.project.Path, "file"), []byte("two\n"), 0o600))
	gitIn(t, s.project.Path, "commit", "-q", "-a", "-m", "two")
	gitIn(t, s.project.Path, "switch", "-q", "main")
	prepared(t, p, "ghi", "third")
	wantRuns(t, "a branch with another file", runs, 2)
	released(t, p, "ghi", "third")
	s.project.Worktree.Commands = append(s.project.Worktree.Commands, []string{"true"})
	prepared(t, p, "jkl", "third")
	wantRuns(t, "another command", runs, 3)
}

func TestASetUp_runsInTheWorktreeWithTheTasksEnvironment(t *testing.T) {
	t.Parallel()
	p, _, _ := withSetUp(t, `echo "$PWD $OF_TASK $ORANGE_TASK_ID $ORANGE_PROJECT $ORANGE_SEAT"`, "cat file")
	prepared(t, p, "abc", "fix")
	text, err := os.ReadFile(p.SetUpOutput("garden--1"))
	must(t, err)
	for _, words := range []string{p.Dir("garden--1") + " yes abc garden setup", "$ sh -c cat file\none\n(status 0"} {
		if !strings.Contains(string(text), words) {
			t.Errorf("the output %q does not have %q", text, words)
		}
	}
}

func TestAFailedSetUp_showsItsLastLinesAndRunsAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		command string
		change  func(*task.WorktreeSetup)
		want    []string
	}{
		"a status": {"echo one; echo two >&2; exit 3", nil,
			[]string{"ended with status 3", "one\ntwo", ".setup.log"}},
		"much":     {"seq 1 1000; exit 1", nil, []string{"... ", "\n999\n1000"}},
		"nothing":  {"exit 1", nil, []string{"it said nothing"}},
		"its time": {"sleep 60", func(w *task.WorktreeSetup) { w.Seconds = 1 }, []string{"took longer than 1s"}},
		"no program": {"", func(w *task.WorktreeSetup) { w.Commands = [][]string{{"no-such-program"}} },
			[]string{"no-such-program"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s, runs := withSetUp(t, tt.command)
			first := s.project.Worktree.Commands[0]
			if tt.change != nil {
				tt.change(&s.project.Worktree)
			}
			_, err := p.Prepare(t.Context(), aTask())
			if err == nil {
				t.Fatal("no error")
			}
			for _, words := range tt.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q does not say %q", err, words)
				}
			}
			before := runs()
			s.project.Worktree.Commands = [][]string{first}
			prepared(t, p, "abc", "fix")
			wantRuns(t, "after it was mended", runs, before+1)
		})
	}
}

// "npm install" writes into the file that it rests on.
func TestASetUpThatChangesItsOwnInputs_stillRunsOnce(t *testing.T) {
	t.Parallel()
	p, s, runs := withSetUp(t, "echo changed >file")
	s.project.Worktree.When = []string{"file"}
	prepared(t, p, "abc", "fix")
	released(t, p, "abc", "fix")
	prepared(t, p, "def", "other")
	wantRuns(t, "the next task", runs, 1)
}

// What a set-up writes must not look like an agent's work: gates would refuse it, and it would be kept as such.
func TestWhatASetUpChanges_isNoWork(t *testing.T) {
	t.Parallel()
	p, s, _ := withSetUp(t, "mkdir venv; echo made >venv/x; echo changed >file")
	prepared(t, p, "abc", "fix")
	at, _, err := p.Snapshot(t.Context(), aTask())
	must(t, err)
	if len(at.Modified)+len(at.New) > 0 {
		t.Errorf("it shows %q and %q", at.Modified, at.New)
	}
	rescued, err := p.Release(t.Context(), aTask())
	must(t, err)
	if len(rescued.Rescued) > 0 {
		t.Errorf("kept: %+v", rescued)
	}
	if _, err := os.Stat(filepath.Join(p.Dir("garden--1"), "venv", "x")); err != nil {
		t.Errorf("the next task finds nothing: %v", err)
	}
	if gitIn(t, s.project.Path, "status", "--porcelain") != "" {
		t.Error("the main checkout shows something")
	}
}

func TestACheckoutOfACheck_isSetUpToo(t *testing.T) {
	t.Parallel()
	p, s, runs := withSetUp(t, "echo made >made")
	head := gitIn(t, s.project.Path, "rev-parse", "HEAD")
	made, err := p.Scratch(t.Context(), aTask(), "abc-tests", head)
	must(t, err)
	if _, err := os.Stat(filepath.Join(made.Dir, "made")); err != nil {
		t.Error(err)
	}
	wantRuns(t, "a checkout", runs, 1)
	must(t, made.Away(t.Context()))
	for command, says := range map[string]string{"exit 1": "status 1",
		"echo other >file": "files of the commit were changed when its checkout was set up: file"} {
		s.project.Worktree.Commands = [][]string{{"sh", "-c", command}}
		made, err = p.Scratch(t.Context(), aTask(), "abc-tests", head)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the set-up %q: %v", command, err)
		}
		must(t, made.Away(t.Context()))
	}
}

func TestAWorktreeThatIsMadeAgain_isSetUpAgain(t *testing.T) {
	t.Parallel()
	p, _, runs := withSetUp(t)
	prepared(t, p, "abc", "fix")
	must(t, os.RemoveAll(p.Dir("garden--1")))
	if _, err := p.View(t.Context(), aTask()); err == nil ||
		!strings.Contains(err.Error(), "its worktree is gone; have it made again: orange task respawn abc") {
		t.Errorf("a look there says %v", err)
	}
	_, err := p.Prepare(t.Context(), aTask())
	must(t, err)
	wantRuns(t, "a folder that was deleted", runs, 2)
}
