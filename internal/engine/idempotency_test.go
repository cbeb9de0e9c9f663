package engine_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// under is an actor with a key, who asks for what these words say.
func under(actor task.Actor, key string, words ...string) task.Actor {
	actor.Key, actor.Asked = key, idempotency.Digest(words...)
	return actor
}

// errCut is of a program that is killed after its commit: no one hears of the move.
var errCut = errors.New("cut")

// asks is an actor who asks for what these words say.
type asks func(actor task.Actor, words ...string) task.Actor

func byKey(actor task.Actor, words ...string) task.Actor { return under(actor, "k", words...) }

// byCall is by the number of a call, which is made again or not.
func byCall(again bool) asks {
	return func(actor task.Actor, _ ...string) task.Actor {
		actor.Call, actor.Again = "n", again
		return actor
	}
}

// knownRequests do one thing each to a task, by one who can be known again, and say what their event is.
func knownRequests() map[string]struct {
	from task.Status
	text string
	kind string
	do   func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error)
} {
	alive := func(task.Task, string) (bool, error) { return false, nil }
	type request = struct {
		from task.Status
		text string
		kind string
		do   func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error)
	}
	return map[string]request{
		"request": {"working", handoff, history.StatusChanged,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.Request(ctx, task.Request{Task: id, To: "agent-review", Actor: by(worker, "update")})
			}},
		"next": {"working", handoff, history.StatusChanged,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.Next(ctx, id, by(worker, "next"), false, "", "")
			}},
		"command": {"working", "", history.StatusChanged,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.Command(ctx, id, "cancel", by(human, "cancel"), "why")
			}},
		"request-changes": {"reviewing", "", history.StatusChanged,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.RequestChanges(ctx, id, "use the helper", by(human, "request-changes"))
			}},
		"merge": {"reviewing", "", history.StatusChanged,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				out, how, err := e.Merge(ctx, id, task.Merge{}, by(human, "merge"))
				if err == nil && how != "merged" {
					err = errors.New("it was merged how? " + how)
				}
				return out, err
			}},
		"respawn": {"working", "", history.AgentRespawned,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.Respawn(ctx, id, alive, by(human, "respawn"))
			}},
		"create-pr": {"reviewing", "", history.PRRequested,
			func(ctx context.Context, e *engine.Engine, id string, by asks) (record.Outcome, error) {
				return e.RequestPR(ctx, id, by(human, "create-pr"))
			}},
	}
}

func TestARequestWithAKey_isDoneOnceAndAnsweredAgain(t *testing.T) {
	t.Parallel()
	for name, r := range knownRequests() {
		for _, cut := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", cut short after its commit"}[cut], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				id := w.reach(r.from)
				w.write(id, r.text)
				before := len(w.events(id, r.kind))
				whole := w.ports.RunHooks
				if cut {
					w.rewire(func(p *engine.Ports) {
						p.RunHooks = func(context.Context, string, bool) error { return errCut }
					})
				}
				first, err := r.do(t.Context(), w.Engine, id, byKey)
				if cut {
					if !errors.Is(err, errCut) {
						t.Fatalf("it was not cut short: %+v, %v", first, err)
					}
					w.rewire(func(p *engine.Ports) { p.RunHooks = whole })
					first, err = r.do(t.Context(), w.Engine, id, byKey)
				}
				must(t, err)
				hooks := w.performer.done()
				again, err := r.do(t.Context(), w.Engine, id, byKey)
				must(t, err)
				if !reflect.DeepEqual(first, again) {
					t.Errorf("first:\n%+v\nagain:\n%+v", first, again)
				}
				if n := len(w.events(id, r.kind)); n != before+1 {
					t.Errorf("%d events %s, before there were %d", n, r.kind, before)
				}
				wantText(t, "hooks", w.performer.done(), hooks)
				if w.repository.merged > 1 || strings.Count(w.document(id), "use the helper") > 1 {
					t.Errorf("it was done twice: %d merges\n%s", w.repository.merged, w.document(id))
				}
				key, _ := again.Event.Asked()
				if again.Event.Type != r.kind || key != "k" ||
					again.Event.Person == "" && again.Event.Actor == "human" {
					t.Errorf("the event is %+v", again.Event)
				}
			})
		}
	}
}

func TestARequestWithAKey_isAnsweredAlikeAfterLaterMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	asked := task.Request{Task: id, To: "agent-review", Actor: under(worker, "k", "update")}
	first, err := w.Request(t.Context(), asked)
	must(t, err)
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	again, err := w.Request(t.Context(), asked)
	must(t, err)
	if !reflect.DeepEqual(first.Event, again.Event) || again.Task.Status != "agent-review" || !again.Task.Live ||
		!again.Moved || w.task(id).Status != "reviewing" {
		t.Errorf("the answer is %+v", again)
	}
	_, err = w.Request(t.Context(), task.Request{Task: id, To: "done", Actor: under(worker, "k", "other")})
	if !errors.Is(err, idempotency.ErrReused) {
		t.Errorf("another request under the key: %v", err)
	}
}

func TestARequestWithAKey_thatDidNothingDoesNothingLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	asked := task.Request{Task: id, To: "working", Actor: under(human, "k", "update")}
	out, err := w.Request(t.Context(), asked)
	must(t, err)
	w.move(id, "agent-review", worker)
	w.write(id, fail)
	again, err := w.Request(t.Context(), asked)
	must(t, err)
	if out.Moved || again.Moved || again.Event.Seq != 0 || again.Task.Status != "working" ||
		w.task(id).Status != "agent-review" {
		t.Errorf("first %+v, then %+v", out, again)
	}
}

func TestARefusal_isNotKeptUnderItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	asked := task.Request{Task: id, To: "agent-review", Actor: under(worker, "k", "update")}
	before := w.everything()
	if _, err := w.Request(t.Context(), asked); err == nil || w.everything() != before {
		t.Fatalf("without evidence: %v", err)
	}
	w.write(id, handoff)
	if out, err := w.Request(t.Context(), asked); err != nil || !out.Moved {
		t.Errorf("with evidence: %+v, %v", out, err)
	}
}

func TestTwoRequestsUnderOneKeyAtOnce_areOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	var crew sync.WaitGroup
	outs := make([]record.Outcome, 4)
	errs := make([]error, len(outs))
	for i := range outs {
		other := w.another()
		crew.Go(func() {
			outs[i], errs[i] = other.RequestChanges(t.Context(), id, "use the helper", under(human, "k", "changes"))
		})
	}
	crew.Wait()
	for i := range outs {
		if errs[i] != nil || outs[i].Event.Seq != outs[0].Event.Seq {
			t.Errorf("one of them was told %+v, %v", outs[i].Event, errs[i])
		}
	}
	if n := strings.Count(w.document(id), "use the helper"); n != 1 {
		t.Errorf("the document has the text %d times", n)
	}
}

func TestAMergeWithAKey_goesOnWhereItWasCutShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	work := &branch{fakeRepository: w.repository, cut: true}
	w.rewire(func(p *engine.Ports) { p.Work = work })
	asked := under(human, "k", "merge")
	if _, _, err := w.Merge(t.Context(), id, task.Merge{}, asked); err == nil {
		t.Fatal("it was not cut short")
	}
	work.cut = false
	out, how, err := w.Merge(t.Context(), id, task.Merge{}, asked)
	if err != nil || out.Event.To != "done" {
		t.Fatalf("the repeat answered %+v, %q, %v", out, how, err)
	}
	again, said, err := w.Merge(t.Context(), id, task.Merge{}, asked)
	if err != nil || again.Event.Seq != out.Event.Seq || said != how {
		t.Errorf("the third one answered %+v, %q, %v", again, said, err)
	}
}

func TestUpdateWithAKey_isDoneOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	say := func(text string, actor task.Actor) {
		_, err := w.Update(t.Context(), id, task.Update{Summary: &text, Actor: actor})
		must(t, err)
	}
	say("one", under(human, "k", "one"))
	say("two", human)
	say("one", under(human, "k", "one"))
	wantText(t, "summary", w.task(id).Summary, "two")
	say("two", under(human, "same", "two"))
	say("three", human)
	say("two", under(human, "same", "two"))
	wantText(t, "summary", w.task(id).Summary, "three")
}

func TestSayWithAKey_isSaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	v := &voice{}
	for range 2 {
		role, how, err := w.heardBy(v).Say(t.Context(), id, "", "use the helper", under(human, "k", "say"))
		if err != nil || role != "worker" || how != history.HowTyped {
			t.Errorf("said to %q by %q: %v", role, how, err)
		}
	}
	if len(v.typed) != 1 || len(w.said(id)) != 1 {
		t.Errorf("typed was %q", v.typed)
	}
	v.unsafe = []error{&tmux.NotSafe{Reason: tmux.NotReady, Pasted: true}}
	_, _, first := w.heardBy(v).Say(t.Context(), id, "", "and the gate", under(human, "k2", "say"))
	_, _, again := w.heardBy(v).Say(t.Context(), id, "", "and the gate", under(human, "k2", "say"))
	if first == nil || again == nil || first.Error() != again.Error() || len(v.typed) != 2 {
		t.Errorf("first %v, then %v", first, again)
	}
}

func (w *world) wanted(spawn bool) task.New {
	return task.New{Project: w.repository.project, Branch: "fix", Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex", Workflow: "default", Spawn: spawn, Actor: human}
}

func TestCreate_underAKeyOrAnIDMakesOneTask(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(*task.New){
		"key": func(n *task.New) { n.Actor = under(human, "k", "create") },
		"id":  func(n *task.New) { n.ID = "OrangeStory0000000001" },
	} {
		for _, spawn := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", started at once"}[spawn], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				n := w.wanted(spawn)
				mark(&n)
				first, err := w.Create(t.Context(), n)
				must(t, err)
				again, err := w.Create(t.Context(), n)
				must(t, err)
				if !reflect.DeepEqual(first, again) {
					t.Errorf("first:\n%+v\nagain:\n%+v", first, again)
				}
				all, err := w.store.List(t.Context(), record.Filter{})
				if must(t, err); len(all) != 1 {
					t.Errorf("there are %d tasks", len(all))
				}
				n.Project.Name = "orchard"
				if _, err := w.Create(t.Context(), n); err == nil {
					t.Error("the task is in two projects")
				}
			})
		}
	}
}

// A call that is made again is known by its number: what it asks for counts once, and another task is another matter.
func TestACallThatIsMadeAgain_isOfItsOwnTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.reach("working")
	other := w.create("b", true).Task.ID
	_, err := w.Command(t.Context(), one, "cancel", byCall(false)(human), "why")
	must(t, err)
	if _, err = w.Command(t.Context(), other, "cancel", byCall(true)(human), "why"); err != nil ||
		w.task(other).Status != "cancelled" {
		t.Errorf("the other task is %s, %v", w.task(other).Status, err)
	}
}

func TestCreate_thatWasCutShortBeforeTheStartIsStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.wanted(false)
	n.Actor = under(human, "k", "create")
	born, err := w.Create(t.Context(), n)
	must(t, err)
	n.Spawn = true // as it was asked for: the program was ended before it came to that
	started, err := w.Create(t.Context(), n)
	must(t, err)
	again, err := w.Create(t.Context(), n)
	must(t, err)
	if started.Task.ID != born.Task.ID || started.Event.To != "planning" || again.Event.Seq != started.Event.Seq {
		t.Errorf("it was born as %+v, then %+v, then %+v", born.Event, started.Event, again.Event)
	}
}

// The history of a task that was lost is no place for another one.
func TestCreate_withTheIDOfALostTaskIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.wanted(false)
	n.ID = "OrangeStory0000000001"
	_, err := w.Create(t.Context(), n)
	must(t, err)
	w = w.lose()
	before := w.everything()
	if _, err := w.Create(t.Context(), n); err == nil || !strings.Contains(err.Error(), "orange doctor --rebuild") ||
		w.everything() != before {
		t.Errorf("it was created: %v", err)
	}
}

func TestCreate_thatIsQueuedIsAnsweredSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("a", true)
	w.create("b", true)
	n := w.wanted(true)
	n.Actor = under(human, "k", "create")
	first, err := w.Create(t.Context(), n)
	must(t, err)
	again, err := w.Create(t.Context(), n)
	must(t, err)
	if !first.Queued || !again.Queued || len(again.Holders) != 2 || again.Task.ID != first.Task.ID {
		t.Errorf("first %+v, then %+v", first, again)
	}
}

// Where the program was ended after it noted the text and before it typed it, a repeat says so, and never "typed".
func TestSayWithAKey_thatWasCutShortIsNotCalledTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	v := &voice{ends: true}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _, _ = w.heardBy(v).Say(t.Context(), id, "", "use the helper", under(human, "k", "say"))
	}()
	<-over
	v.ends = false
	for range 2 {
		role, _, err := w.heardBy(v).Say(t.Context(), id, "", "use the helper", under(human, "k", "say"))
		if err == nil || role != "worker" ||
			!strings.Contains(err.Error(), "it is not known whether it reached the worker") {
			t.Errorf("again: %s, %v", role, err)
		}
	}
	if len(v.typed) > 0 || len(w.said(id)) != 1 {
		t.Errorf("typed %q, on record %v", v.typed, w.said(id))
	}
	if _, how, err := w.heardBy(v).Say(t.Context(), id, "", "use the helper", under(human, "k2", "say")); err != nil ||
		how != history.HowTyped || len(v.typed) != 1 {
		t.Errorf("under another key: %s, %v", how, err)
	}
}

func TestRetryWithAKey_isDoneOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.SpawnReviewer] = errPerformer
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	for i := range 2 {
		out, err := w.Retry(t.Context(), id, under(human, "k", "retry"))
		if err != nil || out.Moved || (i == 0) != (len(out.Hooks) == 1) {
			t.Errorf("%d: %+v, %v", i, out.Hooks, err)
		}
	}
	if n := len(w.events(id, history.HooksRetried)); n != 1 {
		t.Errorf("it is on record %d times", n)
	}
	if _, err := w.Drop(t.Context(), id, under(human, "k", "drop")); !errors.Is(err, idempotency.ErrReused) {
		t.Errorf("another request under the key: %v", err)
	}
	delete(w.performer.fails, action.SpawnReviewer)
	if _, err := w.Retry(t.Context(), id, under(human, "k2", "retry")); err != nil || len(w.load(id).Owed) > 0 {
		t.Errorf("under another key: %v", err)
	}
}
