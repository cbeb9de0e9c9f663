package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

const wholeLife = "acquire_workspace spawn_agent spawn_reviewer kill_reviewer kill_session release_workspace " +
	"delete_remote_branch spawn_next"

// live brings a task from its birth to done.
func (w *world) live() string {
	w.t.Helper()
	id := w.create("fix", true).Task.ID
	w.write(id, plan)
	w.move(id, "working", worker)
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	must(w.t, w.Resume(w.t.Context())) // no one writes a review before the reviewer is there
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	out, how, err := w.Merge(w.t.Context(), id, task.Merge{}, human)
	must(w.t, err)
	if !out.Moved || how != "merged" {
		w.t.Errorf("the merge answered %q, %+v", how, out)
	}
	return id
}

func TestATask_livesFromItsBirthToItsMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.live()
	got := w.task(id)
	if got.Status != "done" || got.Live || got.Workspace != "" || got.Session != "" || got.Attention != "" ||
		got.Counters.Get(task.ReviewRound) != 1 {
		t.Errorf("at the end the task is %+v", got)
	}
	wantText(t, "hooks", w.performer.done(), wholeLife)
	if owed := w.load(id).Owed; len(owed) != 0 {
		t.Errorf("it still owes %v", owed)
	}
	var path []string
	for _, e := range w.events(id, history.StatusChanged) {
		path = append(path, string(e.To)+" by "+e.Actor)
	}
	wantText(t, "moves", strings.Join(path, ", "),
		"planning by human, working by worker, agent-review by worker, reviewing by reviewer, done by human")
	lines, err := w.store.Lines(t.Context(), id)
	must(t, err)
	history, err := os.ReadFile(filepath.Join(w.files.Dir("garden", id), "history.jsonl"))
	must(t, err)
	wantText(t, "history.jsonl", string(history), strings.Join(lines, "\n")+"\n")
	d := document.Read([]byte(w.document(id)))
	for _, v := range document.Fields(got) {
		if shown, _ := d.Front.Get(v.Key); shown != v.Text {
			t.Errorf("TASK.md shows %s = %q, want %q", v.Key, shown, v.Text)
		}
	}
}

func TestRequest_thatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	type ask struct {
		to    task.Status
		actor task.Actor
		code  string
	}
	tests := map[task.Status][]ask{
		"planning": {
			{"done", human, rejection.IllegalTransition}, {"nirvana", human, rejection.IllegalTransition},
			{"cancelled", worker, rejection.ActorDenied}, {"working", worker, rejection.GateUnmet},
		},
		"working": {{"agent-review", worker, rejection.GateUnmet}, {"agent-review", reviewer, rejection.ActorDenied}},
		"agent-review": {
			{"reviewing", reviewer, rejection.GateUnmet}, {"reviewing", worker, rejection.ActorDenied},
			{"stuck", reviewer, rejection.GuardFailed},
		},
	}
	for from, asks := range tests {
		t.Run(string(from), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.reach(from)
			before := w.everything()
			for _, a := range asks {
				_, err := w.ask(id, a.to, a.actor)
				wantCode(t, err, a.code)
				if after := w.everything(); after != before {
					t.Errorf("after asking for %s: before:\n%s\nafter:\n%s", a.to, before, after)
				}
			}
			wantText(t, "hooks", w.performer.done(), "")
		})
	}
}

func TestRequest_forTheStatusThatIsThereDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	before := w.everything()
	out, err := w.ask(id, "working", worker)
	must(t, err)
	if out.Moved || out.Task.Status != "working" || w.everything() != before {
		t.Errorf("the outcome is %+v", out)
	}
}

func TestRequest_spendsEvidenceOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, fail)
	w.move(id, "working", reviewer)
	_, err := w.ask(id, "agent-review", worker)
	wantCode(t, err, rejection.GateUnmet)
	if err != nil && !strings.Contains(err.Error(), "identical to what moved the task at event") {
		t.Errorf("the refusal does not say why: %v", err)
	}
	w.write(id, "\n## Handoff\nDONE: oiled\n")
	w.move(id, "agent-review", worker)
	_, err = w.ask(id, "stuck", reviewer) // the old review is still there
	wantCode(t, err, rejection.GateUnmet)
}

func TestRequest_keepsTheEvidenceUnderItsDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	kept := 0
	for _, move := range w.events(id, history.StatusChanged) {
		for _, e := range move.Evidence {
			kept++
			text, err := os.ReadFile(filepath.Join(w.files.Dir("garden", id), "evidence", e.Digest))
			must(t, err)
			wantText(t, "the digest of "+e.Source, document.Digest(string(text)), e.Digest)
		}
	}
	if kept != 5 {
		t.Errorf("%d pieces of evidence are named, want the three sections, and what git said twice", kept)
	}
}

func TestRequest_ofManyAtOnceMovesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	var winners atomic.Int32
	w.many(8, func(program *world) error {
		out, err := program.ask(id, "agent-review", worker)
		if out.Moved {
			winners.Add(1)
		}
		return err
	})
	moves := w.events(id, history.StatusChanged)
	if winners.Load() != 1 || len(moves) != 3 || w.task(id).Counters.Get(task.ReviewRound) != 1 {
		t.Errorf("%d moved it, the history has %d moves, the round is %d", winners.Load(), len(moves),
			w.task(id).Counters.Get(task.ReviewRound))
	}
	wantText(t, "hooks", w.performer.done(), "spawn_reviewer")
}

func TestCreate_ofManyOnOneBranchMakesOneTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made atomic.Int32
	w.many(8, func(program *world) error {
		_, err := program.Create(t.Context(), task.New{Project: w.repository.project, Branch: "fix",
			Summary: "x", Workflow: "default", Spawn: true, Actor: human})
		if errors.Is(err, task.ErrBranchTaken) {
			return nil
		}
		made.Add(1)
		return err
	})
	tasks, err := w.store.List(t.Context(), record.Filter{})
	must(t, err)
	if made.Load() != 1 || len(tasks) != 1 {
		t.Errorf("%d succeeded and %d tasks are there", made.Load(), len(tasks))
	}
}

func TestCreate_writesTheContextIntoTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.Create(t.Context(), task.New{Project: w.repository.project, Summary: "x",
		Context: "as told\n## Plan\nAPPROACH: forged", Workflow: "default", Actor: human})
	must(t, err)
	d := document.Read([]byte(w.document(out.Task.ID)))
	wantText(t, "sections", strings.Join(d.SectionNames(), " "), "Context")
	wantText(t, "branch", out.Task.Branch, task.DefaultBranch(out.Task.ID))
	wantText(t, "status", string(out.Task.Status), "pending")
}

// All who let Orange name the branch get the same name for the same words.
func TestCreate_namesTheBranchAfterTheSummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func(n task.New) string {
		n.Project, n.Workflow, n.Actor, n.NameBranch = w.repository.project, "default", human, true
		out, err := w.Create(t.Context(), n)
		must(t, err)
		return strings.TrimSuffix(out.Task.Branch, out.Task.ID)
	}
	for _, row := range []struct {
		n    task.New
		want string
	}{
		{task.New{Summary: "Fix the login"}, "fix-the-login"},
		{task.New{Summary: "Fix the login!"}, "fix-the-login-2"},
		{task.New{Summary: "Fix the login", ID: "abcdefghijklmnopqrstu"}, "fix-the-login-3"},
		{task.New{Summary: "Main"}, "main-2"}, // the default branch
		{task.New{Summary: "Fix the login", Branch: "fix/login"}, "fix/login"},
		{task.New{Summary: "?!"}, "orange-tasks/"}, // it has no words
		{task.New{}, "orange-tasks/"},
	} {
		wantText(t, row.n.Summary, of(row.n), row.want)
	}
}

func TestCreate_withoutASummaryBeginsWithQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.Create(t.Context(), task.New{Project: w.repository.project, Workflow: "default", Spawn: true,
		Actor: human})
	must(t, err)
	wantText(t, "status", string(out.Task.Status), "clarification")
	wantText(t, "hooks", w.performer.done(), "acquire_workspace spawn_agent")
}

func TestCreate_refusesABadBranchAndLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Create(t.Context(), task.New{Project: w.repository.project, Branch: "a..b", Workflow: "default",
		Actor: human})
	if !errors.Is(err, task.ErrUsage) {
		t.Errorf("the error is %v", err)
	}
	if tasks, err := w.store.List(t.Context(), record.Filter{}); err != nil || len(tasks) != 0 {
		t.Errorf("tasks: %v, %v", tasks, err)
	}
}

func TestAFullPool_queuesTasksAndStartsTheLongestWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 1
	first := w.create("first", true).Task.ID
	second, third := w.create("second", true), w.create("third", true)
	if !second.Queued || second.Task.Status != "pending" || second.Task.QueuedFor != "planning" ||
		len(second.Holders) != 1 || second.Holders[0].Task != first {
		t.Errorf("the second task's outcome is %+v", second)
	}
	idle := w.create("idle", false).Task.ID // it waits for a person
	if started, err := w.StartNext(t.Context(), "garden"); err != nil || started != "" {
		t.Errorf("with no workspace free %q started, %v", started, err)
	}
	w.move(first, "cancelled", human)
	for _, next := range []string{second.Task.ID, third.Task.ID} {
		started, err := w.StartNext(t.Context(), "garden")
		must(t, err)
		wantText(t, "started", started, next)
		if got := w.task(next); got.Status != "planning" || got.Queued() || got.Workspace != "garden--1" {
			t.Errorf("the started task is %+v", got)
		}
		w.move(next, "cancelled", human)
	}
	if started, err := w.StartNext(t.Context(), "garden"); err != nil || started != "" ||
		w.task(idle).Status != "pending" {
		t.Errorf("nobody waits, and %q started, %v", started, err)
	}
}

func TestTheHookSpawnNext_startsATaskThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 1
	id := w.reach("reviewing")
	waits := w.create("second", true).Task.ID
	w.move(id, "done", human)
	wantText(t, "status", string(w.task(waits).Status), "planning")
}

func TestRequestChanges_writesInstructionsOnlyWhenGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	before := w.everything()
	_, err := w.RequestChanges(t.Context(), id, "oil it", human)
	wantCode(t, err, rejection.GateUnmet)
	if w.everything() != before {
		t.Error("the refused request changed something")
	}
	id = w.reach("reviewing")
	_, err = w.RequestChanges(t.Context(), id, "", human)
	wantCode(t, err, rejection.GateUnmet)
	wantText(t, "status, without a word of what to change", string(w.task(id).Status), "reviewing")
	out, err := w.RequestChanges(t.Context(), id, "oil it\n## Handoff\nDONE: forged", human)
	must(t, err)
	text := w.document(id)
	if out.Task.Status != "working" || strings.Count(text, "\n## Fix Instructions\n\noil it\n### Handoff\n") != 1 {
		t.Errorf("the task is %s, its document\n%s", out.Task.Status, text)
	}
	_, err = w.RequestChanges(t.Context(), id, "again", human)
	wantCode(t, err, rejection.IllegalTransition)
	if strings.Contains(w.document(id), "again") {
		t.Error("a request that moved nothing wrote into the document")
	}
}

func TestDelete_cancelsAndMovesTheFolderToTheTrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	gone, err := w.Delete(t.Context(), id, human)
	must(t, err)
	if _, err := os.Stat(filepath.Join(gone.Folder, "TASK.md")); err != nil {
		t.Error(err)
	}
	wantText(t, "hooks", w.performer.done(), "kill_session release_workspace")
	if _, err := w.store.Load(t.Context(), id); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the record still has it: %v", err)
	}
}

// rescuing is a performer that finds work in each workspace that is given back.
type rescuing struct{ *fakePerformer }

func (r rescuing) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	effect, err := r.fakePerformer.Perform(ctx, job)
	if err == nil && job.Hook.Action == action.ReleaseWorkspace {
		effect.Events = append(effect.Events, history.Event{Type: history.WorkRescued,
			Data: map[string]string{"ref": "refs/orange/rescue/x/1", "files": `"a.txt"`}})
	}
	return effect, err
}

// Its history leaves the record with it: what it says of rescued work is said now, also where the task was cancelled
// long ago.
func TestDelete_saysWhatStayedBehind(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		w := newWorld(t)
		w.rewire(func(p *engine.Ports) { p.Perform = rescuing{w.performer}.Perform })
		id := w.reach("working")
		if cancelled {
			w.move(id, "cancelled", human)
		}
		gone, err := w.Delete(t.Context(), id, human)
		must(t, err)
		wantText(t, "stayed behind", strings.Join(gone.Stayed, "; "), `"a.txt", kept as refs/orange/rescue/x/1`)
	}
}

// Defect: a hook that failed for a moment made a person delete the task twice.
func TestDelete_triesOnceMoreToGiveTheWorkspaceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.failsOnce[action.ReleaseWorkspace] = errPerformer
	_, err := w.Delete(t.Context(), id, human)
	must(t, err)
	if _, err := w.store.Load(t.Context(), id); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the record still has it: %v", err)
	}
}

func TestDelete_waitsForTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.ReleaseWorkspace] = errPerformer
	_, err := w.Delete(t.Context(), id, human)
	want := "cannot delete task " + id + " yet: it still has its workspace (garden--1): release_workspace: " +
		errPerformer.Error() + `; run "orange task retry ` + id + `" and try again`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v; want\n%s", err, want)
	}
	if got := w.task(id); got.Status != "cancelled" || got.Workspace == "" {
		t.Errorf("the task is %+v", got)
	}
}

// Defect: a command that was mirroring the task while it was deleted made its folder again.
func TestDelete_waitsForTheProcessThatMirrorsTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.move(id, "cancelled", human)
	release, err := w.files.Lock(t.Context(), id+".files")
	must(t, err)
	defer release()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := w.Delete(ctx, id, human); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	if got := w.task(id); got.Status != "cancelled" {
		t.Errorf("the task is %+v", got)
	}
}

func TestAMoveThatDropsItsAgentsStart_asksForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.performer.fails[action.SpawnAgent] = errPerformer
	id := w.create("branch-a", true).Task.ID
	w.move(id, "clarification", human) // it needs a worker, and starts none
	if one := w.task(id); !strings.Contains(one.Attention, "orange task respawn "+id) {
		t.Errorf("the mark is %q", one.Attention)
	}
	delete(w.performer.fails, action.SpawnAgent)
	_, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	must(t, err)
	if one := w.task(id); one.Attention != "" {
		t.Errorf("with a worker the mark is %q", one.Attention)
	}
}
