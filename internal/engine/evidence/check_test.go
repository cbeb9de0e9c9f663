package evidence_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/engine/evidence"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

var passed = workflow.Part{Check: "tests", Result: workflow.CheckPassed}

func (w *world) check(script string) {
	w.def.Checks = []workflow.Check{
		{Named: workflow.Named{Name: "tests"}, Run: []string{"sh", "-c", "echo >> ran; " + script}, Timeout: 20}}
}

// ran counts how often the check ran, by what it does.
func (w *world) ran() int {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.tree, "ran"))
	if !errors.Is(err, os.ErrNotExist) {
		must(w.t, err)
	}
	return len(text)
}

func wantRan(t *testing.T, w *world, times int) {
	t.Helper()
	if got := w.ran(); got != times {
		t.Errorf("the check ran %d times, want %d", got, times)
	}
}

func TestRunCheck_recordsProgramAndEnvironmentAndAcceptsResultsWithoutThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("echo fine")
	wantFact(t, w.fact(passed), "", "") // as results were before these were named
	wantRan(t, w, 1)
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 1)
	w.program = "/usr/bin/sh"
	r, err := w.looker.RunCheck(t.Context(), w.task, w.def, "tests", true)
	must(t, err)
	const names = "cc223431cd82ee01c456252a947a8f6702bfae0aa18af56432065202e4869e8b" // of HOME and PATH, a line each
	if r.Program != "/usr/bin/sh" || r.Environment != names || r.Head != head {
		t.Errorf("the result is %+v", r)
	}
}

func TestLook_runsACheckOnceForACommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("echo fine")
	failed := workflow.Part{Check: "tests", Result: workflow.CheckFailed}
	facts := w.look(passed, failed)
	wantFact(t, facts[passed.Key()], "", "checks/tests.json")
	wantFact(t, facts[failed.Key()], "it passed in the worktree at 111111111111", "checks/tests.json")
	first := w.fact(passed)
	wantRan(t, w, 1)
	var kept task.CheckResult
	must(t, json.Unmarshal([]byte(first.Text), &kept))
	if !kept.Passed() || kept.Head != head || kept.Output != "fine\n" || first.Source != "check tests" ||
		w.noted["tests"] != first.Digest {
		t.Errorf("kept %+v with digest %q, noted %q", kept, first.Digest, w.noted["tests"])
	}
	w.set(func() { w.stand.Head = strings.Repeat("2", 40) })
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 2)
	w.check("echo fine; :") // another command is another check
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 3)
}

func TestLook_tellsHowACheckFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(`printf 'one\ntwo\n\n\033[31mFAIL\033[0m x\n'; exit 3`)
	fact := w.fact(passed)
	wantFact(t, fact, "it ended with status 3 in the worktree at 111111111111: one / two / [31mFAIL[0m x",
		"checks/tests.json")
	if fact.Digest == "" || fact.Text == "" {
		t.Errorf("nothing of it is kept: %+v", fact)
	}
	wantFact(t, w.fact(workflow.Part{Check: "tests", Result: workflow.CheckFailed}), "", "")
	wantRan(t, w, 1)
}

func TestLook_endsAHangingCheckAndCutsEndlessOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("sleep 61 & sleep 62")
	w.def.Checks[0].Timeout = 1
	wantFact(t, w.fact(passed), "it took more than 1s", "")
	w.check("head -c 300000000 /dev/zero; echo; echo the end; exit 1")
	wantFact(t, w.fact(passed), "ended with status 1 in the worktree at 111111111111: the end", "")
	info, err := os.Stat(w.path("checks/tests.json"))
	must(t, err)
	if info.Size() > 10<<10 {
		t.Errorf("the result has %d bytes", info.Size())
	}
}

func TestLook_refusesAWorkspaceWithUncommittedChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	w.set(func() { w.stand.Modified, w.stand.New = []string{"a.go"}, []string{"b c.go"} })
	fact := w.fact(passed)
	wantFact(t, fact, `uncommitted changes in "a.go", "b c.go"`, "the workspace")
	wantRan(t, w, 0)
	w.set(func() { w.stand.Modified, w.stand.New = nil, nil })
	wantFact(t, w.fact(passed), "", "")
	w.set(func() { w.stand.Modified = []string{"a.go"} })
	wantFact(t, w.fact(passed), `uncommitted changes in "a.go"`, "the workspace")
	w.set(func() { w.stand.Modified, w.stand.Submodules = nil, []string{"lib"} })
	wantFact(t, w.fact(passed), `uncommitted changes in "lib"`, "the workspace")
	wantRan(t, w, 1)
}

// mover changes the workspace while a check runs.
type mover struct {
	*world
	change func()
}

func (m mover) RunCheck(ctx context.Context, t task.Task, check workflow.Check, commit string) (evidence.Run, error) {
	ran, err := m.world.RunCheck(ctx, t, check, commit)
	m.set(m.change)
	return ran, err
}

func TestLook_allowsWhatTheCheckItselfLeavesAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	w.looker.Programs = mover{w, func() { w.stand.New = []string{"cover.out"} }}
	wantFact(t, w.fact(passed), "", "")
	wantFact(t, w.fact(passed), "", "")
	w.set(func() { w.stand.New = []string{"cover.out", "more.go"} })
	wantFact(t, w.fact(passed), `uncommitted changes in "more.go"`, "")
	wantRan(t, w, 1)
}

func TestLook_countsNoRunInWhichTheCommitChanged(t *testing.T) {
	t.Parallel()
	changes := map[string]func(w *world){
		"the workspace moved to another commit": func(w *world) { w.stand.Head = strings.Repeat("3", 40) },
		`files of the commit changed`:           func(w *world) { w.stand.Modified = []string{"a.go"} },
		`it ran: "lib"`:                         func(w *world) { w.stand.Submodules = []string{"lib"} },
	}
	for found, change := range changes {
		t.Run(found, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.check(":")
			w.looker.Programs = mover{w, func() { change(w) }}
			wantFact(t, w.fact(passed), found, "")
		})
	}
}

func TestLook_countsNoRunWhileAFileChangedAndChangedBack(t *testing.T) {
	t.Parallel()
	for _, scratch := range []bool{false, true} {
		w := newWorld(t)
		w.check(":")
		w.def.Checks[0].Scratch = scratch
		dir := t.TempDir()
		for _, args := range [][]string{{"init", "-q"}, {"add", "."},
			{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a"}} {
			must(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("wrong"), 0o600))
			out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
		stamps, err := worktree.Slot{Repo: git.Repo{Path: dir}, Dir: dir}.Files().Stamps(t.Context())
		must(t, err)
		if w.stamps = stamps; scratch { // what the run finds in its checkout is all that counts
			w.stamps, w.meanwhile = worktree.Stamps{}, []string{"a.go"}
		}
		w.looker.Programs = mover{w, func() {
			must(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("right"), 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("wrong"), 0o600))
		}}
		wantFact(t, w.fact(passed), `files of the commit changed while it ran: "a.go"`, "")
	}
}

func TestLook_countsNoRunThatWasEndedFromOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("kill -TERM $$")
	wantFact(t, w.fact(passed), "it was ended from outside, by signal 15", "")
	wantFact(t, w.fact(workflow.Part{Check: "tests", Result: workflow.CheckFailed}), "it was ended from outside", "")
	wantRan(t, w, 2)
	w.def.Checks[0].Run = []string{"no-such-program-anywhere"}
	wantFact(t, w.fact(passed), "it could not be run", "")
}

func TestLook_countsNoResultThatTheHistoryDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("exit 1")
	wantFact(t, w.fact(passed), "ended with status 1", "")
	text, err := os.ReadFile(w.path("checks/tests.json"))
	must(t, err)
	w.write("checks/tests.json", strings.Replace(string(text), `"status": 1`, `"status": 0`, 1))
	wantFact(t, w.fact(passed), "ended with status 1", "") // run again
	wantRan(t, w, 2)
}

func TestLook_saysThatACheckRunsWhenItsPatienceIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.looker.Patience = 300 * time.Millisecond
	w.check("until test -f go; do sleep 0.02; done")
	fact := w.fact(passed)
	wantFact(t, fact, "it runs since ", "")
	if fact.Want != "ask again when it has ended" || !fact.Pending {
		t.Errorf("wants %q, pending: %t", fact.Want, fact.Pending)
	}
	wantFact(t, w.fact(passed), "it runs since ", "")
	must(t, os.WriteFile(filepath.Join(w.tree, "go"), nil, 0o644))
	w.runs.Wait()
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 1)
	if w.starts != 1 {
		t.Errorf("started %d times", w.starts)
	}
}

func TestLook_runsAgainWhatAKilledRunnerLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check("echo fine")
	w.write("checks/tests.running", task.FormatTime(time.Now())) // and no one has the lock
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 1)
}

func TestLook_atACheckWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	w.set(func() { w.stand.Branch = "other" })
	wantFact(t, w.fact(passed), `its workspace is on branch "other", and the task on "work"`, "")
	w.set(func() { w.stand.There = false })
	wantFact(t, w.fact(passed), `its workspace "shop--1" is not there`, "")
	w.task.Workspace = ""
	wantFact(t, w.fact(passed), "the task has no workspace", "")
	if _, err := w.looker.Look(t.Context(), w.task, w.def, []workflow.Part{{Check: "other"}}); err == nil {
		t.Error("a check that the workflow does not know is no error")
	}
}

func TestPeek_runsNoCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	facts, err := w.looker.Peek(t.Context(), w.task, w.def, []workflow.Part{passed})
	must(t, err)
	wantFact(t, facts[passed.Key()], "it was not run for commit 111111111111", "")
	wantRan(t, w, 0)
}

func TestRunCheck_onRequestShowsWhatItDoesNotKeep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	w := newWorld(t)
	w.check("echo fine")
	r, err := w.looker.RunCheck(t.Context(), w.task, w.def, "tests", true)
	must(t, err)
	if !r.Passed() || !r.Clean {
		t.Errorf("got %+v", r)
	}
	w.set(func() { w.stand.New = []string{"x"} })
	r, err = w.looker.RunCheck(t.Context(), w.task, w.def, "tests", true)
	must(t, err)
	if !r.Passed() || r.Clean {
		t.Errorf("with changes: got %+v", r)
	}
	w.set(func() { w.stand.New = nil })
	all, err := w.looker.Checks(t.Context(), w.task, w.def)
	must(t, err)
	if len(all) != 1 || all[0].Last == nil || !all[0].Last.Clean || !all[0].Present || all[0].Running != "" {
		t.Errorf("the checks are %+v", all)
	}
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 2)
	release, err := w.looker.Files.Lock(t.Context(), "checks-abc-tests")
	must(t, err)
	defer release()
	if _, err := w.looker.RunCheck(t.Context(), w.task, w.def, "tests", true); !errors.Is(err, evidence.ErrRuns) {
		t.Errorf("while it runs: %v", err)
	}
	if _, err := w.looker.RunCheck(t.Context(), w.task, w.def, "other", true); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("an unknown check: %v", err)
	}
}

func TestLook_atGit(t *testing.T) {
	t.Parallel()
	ahead, clean := workflow.Part{Git: workflow.GitAhead}, workflow.Part{Git: workflow.GitClean}
	w := newWorld(t)
	wantFact(t, w.fact(ahead), "no commit that origin/main has not", "")
	w.ahead = 3
	if fact := w.fact(ahead); !fact.Holds || fact.Text != "HEAD "+head+"\nahead 3\n" || fact.Source != "git ahead" {
		t.Errorf("got %+v", fact)
	}
	wantFact(t, w.fact(clean), "", "branch work at 111111111111")
	w.stand.New = []string{"a", "b", "c", "d", "e", "f"}
	wantFact(t, w.fact(clean), `uncommitted changes in "a", "b", "c", "d", "e" and 1 more`, "")
	w.task.Workspace = ""
	wantFact(t, w.fact(clean), "the task has no workspace", "the workspace")
}

func TestLook_atWhatThePlanNames(t *testing.T) {
	t.Parallel()
	p := workflow.Part{Git: workflow.GitPlanned, Plan: "planning/plan.json"}
	plans := []struct{ plan, found string }{
		{"", "no such file"},
		{`{`, "no JSON: line 1, column 1"},
		{`[]`, "no plan: json: cannot unmarshal array"},
		{`{}`, `no plan: it has no "files"`},
		{`{"files": []}`, `changes that the plan does not name: "a.go", "dir/b.go", "new"`},
		{`{"files": [{"path": "a.go"}, {"path": "./dir//b.go"}, {"path": ""}]}`, `does not name: "new"`},
		{`{"files": [{"path": "a.go"}, {"path": "dir/b.go"}, {"path": "new", "why": "x"}]}`, ""},
	}
	for _, test := range plans {
		t.Run(test.plan, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.changed, w.stand.New = []string{"a.go", "dir/b.go"}, []string{"new"}
			if test.plan != "" {
				w.write(p.Plan, test.plan)
			}
			wantFact(t, w.fact(p), test.found, "")
		})
	}
}
