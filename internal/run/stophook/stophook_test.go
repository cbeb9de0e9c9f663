package stophook_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/stophook"
)

// world is a task whose worker has to hand over, with all that a Keeper asks for.
type world struct {
	seat  string
	t     *testing.T
	def   *workflow.Definition
	e     decide.Explanation
	need  record.Need
	tip   string
	files map[string]string
	fails string // what cannot be done: "refresh", "look", "tip", "read" or "write"
}

var errFails = errors.New("it fails")

func newWorld(t *testing.T) *world {
	t.Helper()
	def, err := workflow.Parse("w.yml", []byte(`
name: w
version: 1
states: {a: {role: worker}, b: {terminal: true}}
transitions: [{from: a, to: b, by: worker, gate: {section: "## Plan"}}]
`), workflow.Usual{})
	if err != nil {
		t.Fatal(err)
	}
	one := task.Task{ID: "x", Status: "a", Live: true, Workspace: "coffee--1"}
	return &world{t: t, def: def, tip: "c1", files: map[string]string{},
		e: decide.Explanation{Task: one, Ways: decide.Why(def, one, decide.Evidence{})}}
}

func (w *world) fail(what string) error {
	if w.fails == what {
		return errFails
	}
	return nil
}

func (w *world) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return w.def, nil
}

func (w *world) Refresh(context.Context, string) (record.Snapshot, decide.Evidence, error) {
	return record.Snapshot{}, decide.Evidence{}, w.fail("refresh")
}

func (w *world) Projection(_ task.Task, file string) (record.ProjectionFile, error) {
	return record.ProjectionFile{Text: []byte(w.files[file])}, w.fail("read")
}

func (w *world) Project(_ task.Task, file string, text []byte) error {
	if err := w.fail("write"); err != nil {
		return err
	}
	w.files[file] = string(text)
	return nil
}

// end reports whether the worker may end its turn.
func (w *world) end() (bool, error) {
	k := stophook.Keeper{Rules: w, Files: w, Texts: w, Seat: w.seat,
		Why:   func(context.Context, string) (decide.Explanation, error) { return w.e, w.fail("look") },
		Needs: func(context.Context, task.Task) (record.Need, error) { return w.need, nil },
		Tip:   func(context.Context, task.Task) (string, error) { return w.tip, w.fail("tip") }}
	own, awaits, err := k.End(w.t.Context(), "x", "worker")
	if err == nil && (len(own.Ways) == 0) != (awaits != "") {
		w.t.Errorf("ways %v, and awaits %q", own.Ways, awaits)
	}
	return len(own.Ways) == 0, err
}

// kept is how often the worker is kept before it may end its turn.
func (w *world) kept() int {
	w.t.Helper()
	for n := 0; n < 20; n++ {
		free, err := w.end()
		if err != nil {
			w.t.Fatal(err)
		}
		if free {
			return n
		}
	}
	return 20
}

func TestEnd_keepsAnAgentThreeTimesUntilThereIsNewEvidence(t *testing.T) {
	w := newWorld(t)
	w.seat = "one"
	steps := []struct {
		name string
		do   func()
		want int
	}{
		{"at first", func() {}, 3},
		{"with nothing new", func() {}, 0},
		{"with a commit", func() { w.tip = "c2" }, 3},
		{"with a text", func() { w.e.Seen = []task.Evidence{{Source: "the document", Digest: "d1"}} }, 3},
		{"with another text", func() { w.e.Seen = []task.Evidence{{Source: "the document", Digest: "d2"}} }, 3},
		{"in a status that it entered again", func() { w.e.Task.EnteredAt = w.e.Task.EnteredAt.Add(1) }, 3},
		{"as another agent", func() { w.seat = "two" }, 3},
		{"after its count was damaged", func() { w.files["turn-worker.json"] = "{" }, 3},
		{"with nothing new again", func() {}, 0},
	}
	for _, step := range steps {
		step.do()
		if got := w.kept(); got != step.want {
			t.Errorf("%s it is kept %d times, want %d", step.name, got, step.want)
		}
	}
}

func TestEnd_letsGoWhoseActIsNotNextAndCountsNothing(t *testing.T) {
	w := newWorld(t)
	w.need = record.Need{Kind: record.NeedsLimit, Found: "its worker is at a limit"}
	if free, err := w.end(); err != nil || !free || len(w.files) > 0 {
		t.Errorf("free %v, %v, files %v", free, err, w.files)
	}
	w.need = record.Need{}
	w.e.Task.Live = false
	if free, err := w.end(); err != nil || !free || len(w.files) > 0 {
		t.Errorf("free %v, %v, files %v", free, err, w.files)
	}
}

// Its caller lets an agent go at an error: one that could not be counted would be kept without end.
func TestEnd_isAnErrorWhereItCannotLookOrCount(t *testing.T) {
	w := newWorld(t)
	for _, w.fails = range []string{"refresh", "look", "tip", "read", "write"} {
		if _, err := w.end(); !errors.Is(err, errFails) {
			t.Errorf("%s: %v", w.fails, err)
		}
	}
}

func TestEnd_keepsItsCountInTheTasksFolderForAnyRoleName(t *testing.T) {
	w := newWorld(t)
	w.def.States[0].Role = "../../x"
	w.e.Ways[0].By = []string{"../../x"}
	k := stophook.Keeper{Rules: w, Files: w, Texts: w,
		Why:   func(context.Context, string) (decide.Explanation, error) { return w.e, nil },
		Needs: func(context.Context, task.Task) (record.Need, error) { return w.need, nil },
		Tip:   func(context.Context, task.Task) (string, error) { return "", nil }}
	if own, _, err := k.End(t.Context(), "x", "../../x"); err != nil || len(own.Ways) == 0 {
		t.Fatalf("%+v, %v", own, err)
	}
	for name := range w.files {
		if strings.ContainsRune(name, os.PathSeparator) {
			t.Errorf("it counts in %q", name)
		}
	}
}
