package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// death is the death of the task's agent of a role.
func (w *world) death(id, role string) task.Death {
	w.t.Helper()
	seats, err := w.store.OpenSeats(w.t.Context(), id)
	must(w.t, err)
	for _, seat := range seats {
		if seat.Role == role {
			return task.Death{Task: id, Role: role, Hook: seat.Hook, Ending: task.Ending{Known: true, Status: 1}}
		}
	}
	w.t.Fatalf("task %s has no %s: its seats are %+v", id, role, seats)
	return task.Death{}
}

func (w *world) die(death task.Death) record.Outcome {
	w.t.Helper()
	out, err := w.Died(w.t.Context(), death)
	must(w.t, err)
	return out
}

func TestDied_movesOnTheEvidenceThatTheAgentLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	out := w.die(w.death(id, task.RoleWorker))
	if out.Event.Type != history.AutoAdvanced || out.Event.From != "working" || out.Event.To != "agent-review" {
		t.Errorf("the event is %+v", out.Event)
	}
	wantText(t, "hooks", w.performer.done(), action.SpawnReviewer)
	wantText(t, "status", string(w.task(id).Status), "agent-review")
	if kept := w.load(id).Spent; !slices.ContainsFunc(kept, func(s task.Spent) bool {
		return s.Source == "## handoff" && s.Seq == out.Event.Seq
	}) {
		t.Errorf("the handoff is not spent: %+v", kept)
	}
}

// Defect: an auto-advance left the task in review without a reviewer, and Orange no longer watched it.
func TestDied_startsAReviewerWhoseOwnDeathIsSeenToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	w.die(w.death(id, task.RoleWorker))
	reviewer := w.death(id, task.RoleReviewer) // it has a seat, so its death would be seen
	w.write(id, pass)
	reviewer.Ending = task.Ending{Known: true}
	w.die(reviewer)
	wantText(t, "status", string(w.task(id).Status), "reviewing")
}

func TestDied_reportedByManyAtOnceHasOneConsequence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	death := w.death(id, task.RoleWorker)
	w.many(8, func(program *world) error {
		_, err := program.Died(t.Context(), death)
		return err
	})
	if crashes := w.events(id, history.AgentCrashed); len(crashes) != 1 ||
		w.task(id).Counters.Get(task.CrashCount) != 1 {
		t.Errorf("%d crashes are told, %d are counted", len(crashes), w.task(id).Counters.Get(task.CrashCount))
	}
}

func TestDied_andACommandAtTheSameInstantMakeOneMove(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := newWorld(t)
		id := w.reach("agent-review")
		w.write(id, pass)
		death := w.death(id, task.RoleReviewer)
		death.Ending = task.Ending{Known: true} // by itself: what another one leaves is a person's to take
		other := w.another()
		var crew sync.WaitGroup
		var died, asked error
		crew.Go(func() { _, died = w.Died(t.Context(), death) })
		crew.Go(func() {
			_, asked = other.Request(t.Context(), task.Request{Task: id, To: "reviewing", Actor: reviewer})
		})
		crew.Wait()
		must(t, died)
		must(t, asked)
		moves := slices.DeleteFunc(w.events(id, ""), func(e history.Event) bool {
			return !e.IsMove() || e.To != "reviewing"
		})
		if len(moves) != 1 || w.task(id).Status != "reviewing" || w.task(id).Counters.Get(task.CrashCount) != 0 {
			t.Errorf("%d moves, the task is %+v", len(moves), w.task(id))
		}
	}
}

func TestDied_waitsForPendingHooksThatMayExplainTheDeath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	death := w.death(id, task.RoleReviewer)
	w.write(id, pass)
	w.runner.dead = true
	w.move(id, "reviewing", reviewer) // its kill_reviewer is owed
	if out := w.die(death); out.Moved {
		t.Errorf("the death led to %+v", out.Event)
	}
	must(t, w.Settle(t.Context(), id))
	if out := w.die(death); out.Moved || len(w.events(id, history.AgentCrashed)) != 0 {
		t.Errorf("an agent that was ended on purpose died of %+v", out.Event)
	}
}

// Defect: a push ends the agents of a worktree that is gone, before it makes that again. Who looked at the task while
// it pushed counted their ends as deaths.
func TestDied_waitsForAPushThatMayHaveEndedTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	death, watch := w.death(id, task.RoleWorker), w.another()
	w.watch().adds[action.PushBranch] = record.Effect{EndSeats: []string{record.EveryRole}}
	w.rewire(func(p *engine.Ports) {
		p.Perform = interrupted(p.Perform, func(job record.Job) {
			if job.Hook.Action != action.PushBranch {
				return
			}
			if out := watch.die(death); out.Moved {
				t.Errorf("while it is pushed, the death led to %+v", out.Event)
			}
		})
	})
	_, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	if out := watch.die(death); out.Moved || len(w.events(id, history.AgentCrashed)) != 0 ||
		w.task(id).Counters.Get(task.CrashCount) != 0 {
		t.Errorf("an agent that the push has ended died of %+v", out.Event)
	}
}

// A push that fails again and again holds up no death between its tries.
func TestDied_doesNotWaitForTheNextTryOfAPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.PushBranch] = errPerformer
	_, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	w.die(w.death(id, task.RoleWorker))
	if crashes := w.events(id, history.AgentCrashed); len(crashes) != 1 || len(w.load(id).Owed) == 0 {
		t.Errorf("%d crashes are told, and owed are %+v", len(crashes), w.load(id).Owed)
	}
}

func TestDied_twiceInOneStatusLeadsToStuckAndCountsBoth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	one := w.task(id)
	if one.Status != "working" || !strings.Contains(one.Attention, "crash 1") ||
		!strings.Contains(one.Attention, "orange task respawn") {
		t.Errorf("after the first crash the task is %+v", one)
	}
	_, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	must(t, err)
	w.die(w.death(id, task.RoleWorker))
	one = w.task(id)
	if one.Status != "stuck" || one.Counters.Get(task.CrashCount) != 2 ||
		!strings.Contains(one.Attention, "2 crashes") {
		t.Errorf("after the second crash the task is %+v", one)
	}
	wantText(t, "hooks", w.performer.done(), "spawn_agent kill_reviewer notify_worker")
	crashed := w.events(id, history.AgentCrashed)
	if len(crashed) != 2 || crashed[0].Data["last_words"] != "out of paper" || crashed[1].Crash != 2 ||
		crashed[1].In != crashed[0].In || crashed[0].In == "" {
		t.Errorf("the crashes are %+v", crashed)
	}
}

func TestRespawnDead_startsADeadReviewerByItselfOnceAndNoWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	if again, err := w.RespawnDead(t.Context(), id); err != nil || !again.IsZero() || w.performer.done() != "" {
		t.Fatalf("while the reviewer lives: %v, %v, %s", again, err, w.performer.done())
	}
	w.die(w.death(id, task.RoleReviewer))
	var crew sync.WaitGroup
	for range 4 {
		e := w.another().Engine
		crew.Go(func() { _, _ = e.RespawnDead(t.Context(), id) })
	}
	crew.Wait()
	_, err := w.RespawnDead(t.Context(), id)
	must(t, err)
	wantText(t, "hooks", w.performer.done(), action.SpawnReviewer)
	if got := w.events(id, history.AgentRespawned); len(got) != 1 || got[0].Actor != task.ActorEngine ||
		w.task(id).Attention != "" {
		t.Errorf("the events are %+v, the mark is %q", got, w.task(id).Attention)
	}
	busy := w.reach("working")
	w.die(w.death(busy, task.RoleWorker))
	_, err = w.RespawnDead(t.Context(), busy)
	must(t, err)
	wantText(t, "hooks", w.performer.done(), "")
}

func TestStalled_isAMarkThatMovesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	since := w.clock.Now()
	for i, want := range []bool{true, false} {
		marked, err := w.Stalled(t.Context(), id, since.Add(time.Duration(i)*time.Second))
		must(t, err)
		if marked != want {
			t.Errorf("round %d: the mark is new: %v", i, marked)
		}
	}
	one := w.task(id)
	if one.StalledAt.IsZero() || one.Status != "working" || one.Attention != "" ||
		len(w.events(id, history.AgentStalled)) != 1 {
		t.Errorf("the task is %+v", one)
	}
	_, err := w.Stalled(t.Context(), id, time.Time{})
	must(t, err)
	if !w.task(id).StalledAt.IsZero() {
		t.Error("the mark stays when the agent works again")
	}
}

func TestFree_givesBackWhatATaskThatIsOverStillHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	must(t, w.Free(t.Context(), id))
	wantText(t, "hooks of a live task", w.performer.done(), "")
	s := w.load(id)
	s.Task.Live, s.Task.Status = false, "done" // as an older workflow without release_workspace would leave it
	_, err := w.store.Commit(t.Context(), record.Change{Task: s.Task, Expect: s.Task.Version})
	must(t, err)
	must(t, w.Free(t.Context(), id))
	wantText(t, "hooks", w.performer.done(), "kill_session release_workspace")
	if one := w.task(id); one.Workspace != "" || one.Session != "" || len(w.events(id, history.OrphanFreed)) != 1 {
		t.Errorf("the task is %+v", one)
	}
}

func TestFinish_performsWhatIsOwedAndTriesWhatFailedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.SpawnReviewer] = errPerformer
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	if len(w.load(id).Owed) != 1 {
		t.Fatalf("owed are %+v", w.load(id).Owed)
	}
	delete(w.performer.fails, action.SpawnReviewer)
	must(t, w.Finish(t.Context()))
	if owed := w.load(id).Owed; len(owed) != 0 {
		t.Errorf("owed are %+v", owed)
	}
}

// A seat that was issued for a failed attempt gives no rights.
func TestTheSeatOfAnAttemptThatFailed_ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.SpawnReviewer] = errPerformer
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	lost := w.performer.last(t, action.SpawnReviewer).secret
	delete(w.performer.fails, action.SpawnReviewer)
	_, err := w.Retry(t.Context(), id, human)
	must(t, err)
	taken := w.performer.last(t, action.SpawnReviewer).secret
	for secret, ended := range map[string]bool{lost: true, taken: false} {
		seat, err := w.store.Seat(t.Context(), harness.SeatOf(secret))
		must(t, err)
		if seat.Ended != ended {
			t.Errorf("the seat has ended: %v, want %v", seat.Ended, ended)
		}
	}
}

// Defect, found by the simulation: the death came between the start and the note of it, and the note gave the
// dead agent its seat back: its death was met a second time.
func TestDied_waitsUntilTheStartOfTheAgentIsOnRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.dead = true
	id := w.create("fix", true).Task.ID
	var death task.Death
	watch := w.another()
	perform := interrupted(w.performer.Perform, func(job record.Job) {
		if job.Hook.Action != action.SpawnAgent {
			return
		}
		s := w.load(id)
		_, err := w.store.Commit(t.Context(), record.Change{Task: s.Task, Expect: s.Task.Version,
			Settled: []record.Settled{{ID: job.Hook.ID, State: task.HookSuperseded}}})
		must(t, err)
		death = watch.death(id, task.RoleWorker)
		watch.die(death)
		must(t, watch.EndUnusedSeats(t.Context(), id, death.Hook))
		if open, err := w.store.OpenSeats(t.Context(), id); err != nil || len(open) != 1 {
			t.Errorf("open while the hook is performed are %+v, %v", open, err)
		}
	})
	w.rewire(func(p *engine.Ports) { p.Perform = perform })
	must(t, w.Settle(t.Context(), id))
	for range 2 {
		watch.die(death)
	}
	if crashes := w.events(id, history.AgentCrashed); len(crashes) != 1 ||
		crashes[0].Seq < w.events(id, history.AgentSpawned)[0].Seq {
		t.Errorf("the history is %+v", w.events(id, ""))
	}
	if open, err := w.store.OpenSeats(t.Context(), id); err != nil || len(open) != 0 {
		t.Errorf("open are %+v, %v", open, err)
	}
}

// Defect, found by the simulation: a start ended the agent that it replaces and was cut off before it was noted;
// a move took its place, and Orange reported the death of the replaced agent as if it had happened by itself.
func TestDied_ofAReplacedAgentHasNoConsequence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("fix", true).Task.ID
	death := w.death(id, task.RoleWorker)
	s := w.load(id)
	later := &record.Seat{Hash: "of the successor", Task: id, Role: task.RoleWorker, Hook: death.Hook + 1}
	_, err := w.store.Commit(t.Context(), record.Change{Task: s.Task, Expect: s.Task.Version, NewSeat: later})
	must(t, err)
	before := len(w.events(id, ""))
	for range 2 {
		w.die(death)
	}
	if got := w.events(id, ""); len(got) != before || w.task(id).Attention != "" {
		t.Errorf("the history is %+v, and the mark %q", got[before:], w.task(id).Attention)
	}
	if open, err := w.store.OpenSeats(t.Context(), id); err != nil || len(open) != 1 || open[0].Hook != later.Hook {
		t.Errorf("open are %+v, %v", open, err)
	}
	w.die(task.Death{Task: id, Role: task.RoleWorker, Hook: later.Hook, Ending: task.Ending{Known: true, Status: 1}})
	if len(w.events(id, history.AgentCrashed)) != 1 {
		t.Error("the death of the successor has none either")
	}
}

// lostRules are workflows whose texts are gone.
type lostRules struct{ engine.Rules }

func (lostRules) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return nil, task.Notef(task.ErrNotFound, "the text of the workflow is gone")
}

// "Could not look" is no word that a task was deleted: the monitor hears why nothing followed.
func TestDeathsAndTimeouts_reportMissingRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	death, rules := w.death(id, task.RoleWorker), w.ports.Rules
	w.rewire(func(p *engine.Ports) { p.Rules = lostRules{rules} })
	_, err := w.Died(t.Context(), death)
	_, _, late := w.Timeouts(t.Context(), id)
	for what, err := range map[string]error{"a death": err, "a timeout": late} {
		if !errors.Is(err, task.ErrNotFound) || !strings.Contains(err.Error(), "the text of the workflow is gone") {
			t.Errorf("%s ended with %v", what, err)
		}
	}
	w.rewire(func(p *engine.Ports) { p.Rules = rules })
	if gone, err := w.Died(t.Context(), task.Death{Task: "nothere", Role: task.RoleWorker}); err != nil || gone.Moved {
		t.Errorf("the death of an agent without a task: %+v, %v", gone, err)
	}
}
