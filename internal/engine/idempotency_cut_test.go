package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// cut ends a program at one of its steps: before it, or, where the step writes, also right after it.
type cut struct{ steps, at int }

type programKilled struct{}

func (c *cut) step() {
	if c.steps++; c.steps == c.at {
		panic(programKilled{})
	}
}

type cutRecord struct {
	engine.Record
	*cut
}

func (s cutRecord) Load(ctx context.Context, id string) (record.Snapshot, error) {
	s.step()
	return s.Record.Load(ctx, id)
}

func (s cutRecord) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	s.step()
	t, err := s.Record.Commit(ctx, c)
	s.step()
	return t, err
}

func (s cutRecord) Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error) {
	s.step()
	return s.Record.Hooks(ctx, id, event)
}

type cutFolder struct {
	engine.Folder
	*cut
}

func (f cutFolder) write(do func() error) error {
	f.step()
	err := do()
	f.step()
	return err
}

func (f cutFolder) Sync(t task.Task, past record.HistoryLines, header string) error {
	return f.write(func() error { return f.Folder.Sync(t, past, header) })
}

func (f cutFolder) Create(t task.Task, body string) error {
	return f.write(func() error { return f.Folder.Create(t, body) })
}

func (f cutFolder) Append(project, id, text string) error {
	return f.write(func() error { return f.Folder.Append(project, id, text) })
}

func (f cutFolder) Keep(project, id, digest, text string) (bool, error) {
	f.step()
	return f.Folder.Keep(project, id, digest, text)
}

// killedAt does something with a program that is killed at a step, and reports whether it came to that.
func (w *world) killedAt(step int, do func(e *engine.Engine) (record.Outcome, error)) (was bool) {
	c := &cut{at: step}
	p := w.ports
	p.Record, p.Folder = cutRecord{p.Record, c}, cutFolder{p.Folder, c}
	p.RunHooks = func(ctx context.Context, id string, person bool) error {
		c.step()
		err := w.ports.RunHooks(ctx, id, person)
		c.step()
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			if _, was = r.(programKilled); !was {
				panic(r)
			}
		}
	}()
	_, _ = do(engine.New(p))
	return false
}

// stride is how many steps lie between two kills: a short run tries some of them.
func stride() int {
	if testing.Short() {
		return 5
	}
	return 1
}

// asked are the events of a task that answer the key or the call, without the steps of a merge.
func (w *world) asked(id string) (all []history.Event) {
	w.t.Helper()
	seqs, err := w.store.Called(w.t.Context(), "n", id)
	must(w.t, err)
	for _, e := range w.events(id, "") {
		key, _ := e.Asked()
		known := key == "k" || slices.Contains(seqs, e.Seq)
		if known && e.Type != history.MergeBegun && e.Type != history.Merged {
			all = append(all, e)
		}
	}
	return all
}

// At whichever step the program is killed: the repeat does what was not done, and nothing is done twice.
func TestAKnownRequest_killedAtAnyStepHappensOnce(t *testing.T) {
	t.Parallel()
	for name, r := range knownRequests() {
		for by, asked := range known() {
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				for step := 1; ; step += stride() {
					w := newWorld(t)
					id := w.reach(r.from)
					w.write(id, r.text)
					do := func(by asks) func(*engine.Engine) (record.Outcome, error) {
						return func(e *engine.Engine) (record.Outcome, error) { return r.do(t.Context(), e, id, by) }
					}
					was := w.killedAt(step, do(asked.first))
					first, err := do(asked.repeat)(w.Engine)
					if err != nil {
						t.Fatalf("killed at step %d, the repeat failed: %v", step, err)
					}
					again, err := do(asked.repeat)(w.Engine)
					must(t, err)
					first.Event.Call, again.Event.Call = "", "" // one was committed just now, the other one read
					if all := w.asked(id); len(all) != 1 || all[0].Type != r.kind || !reflect.DeepEqual(first, again) {
						t.Fatalf("killed at step %d:\n%+v\nfirst %+v\nthen  %+v", step, all, first, again)
					}
					w.wantWhole(id, step)
					if !was {
						if step < 8 {
							t.Errorf("it has %d steps", step)
						}
						return
					}
				}
			})
		}
	}
}

// wantWhole finds nothing twice and nothing that does not fit the record, after a kill at a step.
func (w *world) wantWhole(id string, step int) {
	w.t.Helper()
	if strings.Count(w.document(id), "use the helper") > 1 {
		w.t.Fatalf("killed at step %d, the text is there twice:\n%s", step, w.document(id))
	}
	if bad, err := history.Disagree(w.task(id), w.events(id, "")); err != nil || len(bad) > 0 {
		w.t.Fatalf("killed at step %d: %v, %v", step, bad, err)
	}
}

// known are the ways in which one who asks again is known, the first time and each time after that.
func known() map[string]struct{ first, repeat asks } {
	return map[string]struct{ first, repeat asks }{"key": {byKey, byKey}, "call": {byCall(false), byCall(true)}}
}

func TestCreate_killedAtAnyStepMakesAndStartsOneTask(t *testing.T) {
	t.Parallel()
	for by, asked := range known() {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			for step := 1; createKilledAt(t, step, asked.first, asked.repeat); step += stride() {
			}
		})
	}
}

// createKilledAt has one program killed at a step, and another one ask again. It reports whether it came to that step.
func createKilledAt(t *testing.T, step int, first, repeat asks) (was bool) {
	t.Helper()
	w := newWorld(t)
	n := w.wanted(true)
	n.Context, n.MayChange = "about it", []string{"go.mod"}
	do := func(e *engine.Engine, by asks) (record.Outcome, error) {
		n.Actor = by(human, "create")
		return e.Create(t.Context(), n)
	}
	was = w.killedAt(step, func(e *engine.Engine) (record.Outcome, error) { return do(e, first) })
	out, err := do(w.Engine, repeat)
	if err != nil {
		t.Fatalf("killed at step %d, the repeat failed: %v", step, err)
	}
	all, err := w.store.List(t.Context(), record.Filter{})
	must(t, err)
	moves := ""
	for _, e := range w.asked(out.Task.ID) {
		moves += fmt.Sprintf("%s %s;", e.Type, e.To)
	}
	allowed := w.events(out.Task.ID, history.Updated)
	folders, err := os.ReadDir(filepath.Dir(w.files.Dir(out.Task.Project, out.Task.ID)))
	must(t, err)
	if len(all) != 1 || moves != "task.created ;status.changed planning;" || out.Event.To != "planning" ||
		len(allowed) != 1 || len(folders) != 1 {
		t.Fatalf("killed at step %d: %d tasks in %d folders, %s, allowed %+v\n%+v", step, len(all), len(folders),
			moves, allowed, out)
	}
	return was
}

// A part of an update that was done before the kill is no answer to the whole of it.
func TestUpdate_killedAtAnyStepLeavesNoPartOut(t *testing.T) {
	t.Parallel()
	for by, asked := range known() {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			for was, step := true, 1; was; step += stride() {
				w := newWorld(t)
				id := w.reach("working")
				summary := "mend the other gate"
				do := func(by asks) func(*engine.Engine) (record.Outcome, error) {
					u := task.Update{Actor: by(human, "update"), Summary: &summary, MayChange: []string{"go.mod"},
						Reason: "it needs another module"}
					return func(e *engine.Engine) (record.Outcome, error) {
						out, err := e.Update(t.Context(), id, u)
						return record.Outcome{Task: out}, err
					}
				}
				was = w.killedAt(step, do(asked.first))
				out, err := do(asked.repeat)(w.Engine)
				must(t, err)
				_, err = do(asked.repeat)(w.Engine)
				must(t, err)
				if all := w.events(id, history.Updated); len(all) != 2 || out.Task.Summary != summary {
					t.Fatalf("killed at step %d: %q, %+v", step, out.Task.Summary, all)
				}
				w.wantWhole(id, step)
			}
		})
	}
}

// One command line may ask for an update and then for a move.
func TestAMove_isNotAnsweredByTheUpdateBeforeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	summary := "mend the other gate"
	for _, again := range []bool{false, true} {
		actor := byCall(again)(human)
		_, err := w.Update(t.Context(), id, task.Update{Actor: actor.Unmarked(), Summary: &summary})
		must(t, err)
		if again {
			out, err := w.Request(t.Context(), task.Request{Task: id, To: "agent-review", Actor: actor})
			if err != nil || out.Event.To != "agent-review" {
				t.Errorf("the repeat answered %+v, %v", out, err)
			}
		}
	}
	if all := w.events(id, history.Updated); len(all) != 1 {
		t.Errorf("the update is there %d times", len(all))
	}
}
