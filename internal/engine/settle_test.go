package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// states are the hooks of a task's event with their states, "action=state".
func (w *world) states(id string, event int) string {
	w.t.Helper()
	hooks, err := w.store.Hooks(w.t.Context(), id, event)
	must(w.t, err)
	var out []string
	for _, h := range hooks {
		out = append(out, h.Action+"="+string(h.State))
	}
	return strings.Join(out, " ")
}

func TestAHookThatFails_isMarkedAndRetryClearsTheMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.performer.fails[action.SpawnAgent] = errPerformer
	out := w.create("fix", true)
	id := out.Task.ID
	wantText(t, "hooks", w.states(id, out.Event.Seq), "acquire_workspace=done spawn_agent=failed")
	wantText(t, "status", string(out.Task.Status), "planning")
	wantText(t, "attention", out.Task.Attention, "hook spawn_agent: "+errPerformer.Error())
	if text := w.document(id); !strings.Contains(text, errPerformer.Error()) {
		t.Errorf("TASK.md does not show the mark:\n%s", text)
	}
	again, err := w.Retry(t.Context(), id, human)
	must(t, err)
	if len(again.Hooks) != 1 || again.Hooks[0].State != task.HookFailed || again.Hooks[0].Attempts != 2 {
		t.Errorf("the second attempt is %+v", again.Hooks)
	}
	delete(w.performer.fails, action.SpawnAgent)
	again, err = w.Retry(t.Context(), id, human)
	must(t, err)
	if again.Task.Attention != "" || len(again.Hooks) != 1 || again.Hooks[0].State != task.HookDone {
		t.Errorf("after the third attempt: %+v", again)
	}
	calls := w.performer.done()
	nothing, err := w.Retry(t.Context(), id, human)
	must(t, err)
	if len(nothing.Hooks) != 0 || w.performer.done() != calls {
		t.Errorf("with nothing owed Retry answered %+v", nothing)
	}
}

func TestAHookThatFailed_isLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.performer.fails[action.SpawnAgent] = errPerformer
	id := w.create("fix", true).Task.ID
	w.performer.forget()
	must(t, w.Settle(t.Context(), id))
	must(t, w.Resume(t.Context()))
	wantText(t, "before its time", w.performer.done(), "")
	w.performer.fails[action.SpawnAgent] = errPerformer
	w.clock.pass(6 * time.Second)
	must(t, w.Resume(t.Context()))
	if n := len(w.events(id, history.HookFailure)); n != 1 {
		t.Errorf("the same failure is told %d times", n)
	}
	w.performer.forget()
	delete(w.performer.fails, action.SpawnAgent)
	w.clock.pass(11 * time.Second)
	must(t, w.Resume(t.Context()))
	wantText(t, "in its time", w.performer.done(), "spawn_agent")
}

func TestHooksBehindAFailedOne_waitUnlessTheyAreIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.performer.fails[action.KillSession] = errPerformer
	out := w.move(id, "done", human)
	wantText(t, "asked for", w.performer.done(), "kill_session delete_remote_branch spawn_next")
	wantText(t, "hooks", w.states(id, out.Event.Seq),
		"kill_session=failed release_workspace=pending delete_remote_branch=done spawn_next=done")
	delete(w.performer.fails, action.KillSession)
	w.performer.forget()
	_, err := w.Retry(t.Context(), id, human)
	must(t, err)
	wantText(t, "after Retry", w.performer.done(), "kill_session release_workspace")
	if got := w.task(id); got.Workspace != "" || got.Attention != "" {
		t.Errorf("the task is %+v", got)
	}
	if noted := w.events(id, history.HooksRetried); len(noted) != 1 || noted[0].Person != human.Person ||
		noted[0].Data["hook"] != action.KillSession {
		t.Errorf("the history tells of the retry: %+v", noted)
	}
}

func TestAnIndependentHooksFailure_holdsUpNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.performer.fails[action.DeleteRemoteBranch] = errPerformer
	out := w.move(id, "done", human)
	wantText(t, "hooks", w.states(id, out.Event.Seq),
		"kill_session=done release_workspace=done delete_remote_branch=failed spawn_next=done")
	if got := w.task(id).Attention; !strings.Contains(got, "delete_remote_branch") {
		t.Errorf("the mark is %q", got)
	}
}

func TestCancel_supersedesAnOwedSpawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.performer.fails[action.SpawnAgent] = errPerformer
	born := w.create("fix", true)
	w.performer.forget()
	out, err := w.Command(t.Context(), born.Task.ID, "cancel", human, "enough")
	must(t, err)
	wantText(t, "the spawn", w.states(born.Task.ID, born.Event.Seq), "acquire_workspace=done spawn_agent=superseded")
	wantText(t, "asked for", w.performer.done(), "kill_session release_workspace")
	if out.Task.Status != "cancelled" || out.Task.Attention != "" || out.Task.Workspace != "" {
		t.Errorf("the task is %+v", out.Task)
	}
}

func TestCancel_keepsAnOwedKillAheadOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, fail)
	w.performer.fails[action.KillReviewer] = errPerformer
	failed := w.move(id, "working", reviewer)
	wantText(t, "hooks", w.states(id, failed.Event.Seq), "kill_reviewer=failed notify_worker=pending")
	w.move(id, "cancelled", human)
	wantText(t, "hooks", w.states(id, failed.Event.Seq), "kill_reviewer=failed notify_worker=superseded")
	delete(w.performer.fails, action.KillReviewer)
	w.performer.forget()
	_, err := w.Retry(t.Context(), id, human)
	must(t, err)
	wantText(t, "asked for", w.performer.done(), "kill_reviewer kill_session release_workspace")
	if owed := w.load(id).Owed; len(owed) != 0 {
		t.Errorf("still owed: %v", owed)
	}
}

func TestAfterACrashBetweenCommitAndHooks_othersFinishThem(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"Resume", "the next request"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.runner.dead = true
			out := w.create("fix", true)
			id := out.Task.ID
			wantText(t, "hooks", w.states(id, out.Event.Seq), "acquire_workspace=pending spawn_agent=pending")
			w.write(id, plan)
			next := w.another()
			want := "acquire_workspace spawn_agent"
			for range 2 {
				switch how {
				case "Resume":
					must(t, next.Resume(t.Context()))
				default:
					_, err := next.ask(id, "working", worker)
					must(t, err)
				}
			}
			wantText(t, "asked for", w.performer.done(), want)
			wantText(t, "hooks", w.states(id, out.Event.Seq), "acquire_workspace=done spawn_agent=done")
		})
	}
}

// Whichever hook the performer crashes in, every hook is performed in order, asked for again only where the crash was,
// and settled once.
func TestACrashInAnyHook_losesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	actions := strings.Fields(wholeLife)
	for at := range actions {
		t.Run(fmt.Sprintf("in hook %d", at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.performer.crashAt = at
			id := w.live()
			must(t, w.Resume(t.Context()))
			want := slices.Insert(slices.Clone(actions), at, actions[at])
			wantText(t, "asked for", w.performer.done(), strings.Join(want, " "))
			if got := w.load(id); len(got.Owed) != 0 || got.Task.Status != "done" || got.Task.Workspace != "" {
				t.Errorf("at the end: %+v", got)
			}
			for _, e := range w.events(id, history.StatusChanged) {
				if left := w.states(id, e.Seq); strings.Contains(left, "pending") || strings.Contains(left, "failed") {
					t.Errorf("hooks of event %d: %s", e.Seq, left)
				}
			}
		})
	}
}

func TestSettle_byManyAtOncePerformsEachHookOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.dead = true
	id := w.create("fix", true).Task.ID
	w.many(4, func(program *world) error { return program.Settle(t.Context(), id) })
	wantText(t, "asked for", w.performer.done(), "acquire_workspace spawn_agent")
	if w.performer.most != 1 {
		t.Errorf("%d hooks of a task were performed at once", w.performer.most)
	}
}

func TestSettle_ofATaskThatIsGoneIsNoError(t *testing.T) {
	t.Parallel()
	must(t, newWorld(t).Settle(t.Context(), "nobody"))
}

func TestCrashCount_endsAfterMoveHooksAndNotAfterRespawnHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	dead := func(task.Task, string) (bool, error) { return false, nil }
	out, err := w.Respawn(t.Context(), id, dead, human)
	must(t, err)
	wantText(t, "hooks", w.states(id, out.Event.Seq), "spawn_agent=done")
	if n := w.task(id).Counters.Get(task.CrashCount); n != 1 {
		t.Errorf("after the respawn the count is %d, want 1", n)
	}
	w.write(id, handoff)
	w.performer.fails[action.SpawnReviewer] = errPerformer
	if n := w.move(id, "agent-review", worker).Task.Counters.Get(task.CrashCount); n != 1 {
		t.Errorf("with a hook of the move still owed the count is %d, want 1", n)
	}
	delete(w.performer.fails, action.SpawnReviewer)
	_, err = w.Retry(t.Context(), id, human)
	must(t, err)
	if n := w.task(id).Counters.Get(task.CrashCount); n != 0 {
		t.Errorf("after the move's hooks the count is %d, want 0", n)
	}
	if noted := w.events(id, history.CrashesForgotten); len(noted) != 1 || noted[0].Counters.Get(task.CrashCount) != 0 {
		t.Errorf("the end of the count is told in %+v", noted)
	}
}

func TestCrashCount_leavesNoEventWhereNoAgentCrashed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	if noted := w.events(id, history.CrashesForgotten); len(noted) > 0 {
		t.Errorf("it is told that %+v", noted)
	}
}

// Defect: a respawn that dropped the hooks of a move kept the count of the status before, and one crash more was
// one too many.
func TestCrashCount_endsWithAMoveWhoseHooksARespawnDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	w.write(id, handoff)
	w.performer.fails[action.SpawnReviewer] = errPerformer
	w.move(id, "agent-review", human)
	delete(w.performer.fails, action.SpawnReviewer)
	_, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	must(t, err)
	if n := w.task(id).Counters.Get(task.CrashCount); n != 0 {
		t.Errorf("the count is %d, want 0", n)
	}
}

func TestRespawn_isRefusedWhileTheAgentLivesAndToAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	before := w.everything()
	lives := func(task.Task, string) (bool, error) { return true, nil }
	dead := func(task.Task, string) (bool, error) { return false, nil }
	_, err := w.Respawn(t.Context(), id, lives, human)
	wantCode(t, err, rejection.RespawnRefused)
	_, err = w.Respawn(t.Context(), id, dead, worker)
	wantCode(t, err, rejection.RespawnRefused)
	if w.everything() != before {
		t.Error("a refused respawn changed something")
	}
}

// The record may learn of a death before the terminal does: then the window still shows a living program.
func TestRespawn_startsTheAgentWhileTheDeadOnesWindowIsClosing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	out, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return true, nil }, human)
	must(t, err)
	wantText(t, "hooks", w.states(id, out.Event.Seq), "spawn_agent=done")
}

// interrupted is a performer during whose work something else happens.
func interrupted(perform engine.Perform, during func(record.Job)) engine.Perform {
	return func(ctx context.Context, job record.Job) (record.Effect, error) {
		during(job)
		return perform(ctx, job)
	}
}

// Defect: what a hook did while a later step dropped it was lost: its agent lived, and the task had no session.
func TestAHookDroppedWhileItRuns_keepsWhatItDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.dead = true
	out := w.create("fix", true)
	id := out.Task.ID
	perform := interrupted(w.performer.Perform, func(job record.Job) {
		if job.Hook.Action != action.SpawnAgent {
			return
		}
		s := w.load(id)
		_, err := w.store.Commit(t.Context(), record.Change{Task: s.Task, Expect: s.Task.Version,
			Settled: []record.Settled{{ID: job.Hook.ID, State: task.HookSuperseded}}})
		must(t, err)
	})
	w.rewire(func(p *engine.Ports) { p.Perform = perform })
	must(t, w.Settle(t.Context(), id))
	wantText(t, "hooks", w.states(id, out.Event.Seq), "acquire_workspace=done spawn_agent=superseded")
	if got := w.task(id).Session; got == "" || len(w.events(id, history.AgentSpawned)) != 1 {
		t.Errorf("the session is %q, the events are %+v", got, w.events(id, ""))
	}
}

// A hook that waits for one whose retry is not due yet needs no runner every second.
func TestResume_leavesATaskAloneWhoseHooksAllWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.performer.fails[action.AcquireWorkspace] = errPerformer
	id := w.create("branch-a", true).Task.ID
	if owed := w.load(id).Owed; len(owed) != 2 || owed[1].State != task.HookPending {
		t.Fatalf("owed are %+v", owed)
	}
	w.performer.forget()
	must(t, w.Resume(t.Context()))
	wantText(t, "hooks", w.performer.done(), "")
	delete(w.performer.fails, action.AcquireWorkspace)
	w.clock.pass(6 * time.Second)
	must(t, w.Resume(t.Context()))
	wantText(t, "hooks", w.performer.done(), "acquire_workspace spawn_agent")
}

func TestDrop_dismissesAHookAndATaskThatIsOverPushesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.CreatePR] = errPerformer
	first, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	_, err = w.Drop(t.Context(), id, worker)
	wantCode(t, err, rejection.DropRefused)
	out, err := w.Drop(t.Context(), id, human)
	must(t, err)
	wantText(t, "attention", out.Task.Attention, "")
	wantText(t, "hooks", w.states(id, first.Event.Seq), "push_branch=done create_pr=superseded")
	_, err = w.Drop(t.Context(), id, human)
	wantCode(t, err, rejection.DropRefused)

	second, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	w.move(id, "cancelled", human)
	wantText(t, "hooks of a task that is over", w.states(id, second.Event.Seq), "push_branch=done create_pr=superseded")
	wantText(t, "its mark", w.task(id).Attention, "")
}

// failing is a store that fails some commits.
type failing struct {
	engine.Record
	fails func(record.Change) error
}

func (f *failing) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	if err := f.fails(c); err != nil {
		return task.Task{}, err
	}
	return f.Record.Commit(ctx, c)
}

// The disk is full for a moment, just when the seat of an agent is to be noted: the hook has failed, and is tried
// again.
func TestAStartWhoseSeatCannotBeNoted_hasFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	errFull := errors.New("the disk is full")
	once := true
	full := func(c record.Change) error {
		if c.NewSeat == nil || !once {
			return nil
		}
		once = false
		return errFull
	}
	w.rewire(func(p *engine.Ports) { p.Record = &failing{Record: p.Record, fails: full} })
	out := w.create("fix", true)
	wantText(t, "hooks", w.states(out.Task.ID, out.Event.Seq), "acquire_workspace=done spawn_agent=failed")
	if !strings.Contains(out.Task.Attention, errFull.Error()) {
		t.Errorf("the mark is %q", out.Task.Attention)
	}
	all, err := w.store.List(t.Context(), record.Filter{})
	must(t, err)
	if len(all) != 1 || all[0].ID != out.Task.ID {
		t.Errorf("the record has %+v", all)
	}
}
