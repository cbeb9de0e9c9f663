package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What a person allowed stays allowed, and Orange's own folder is protected where anything is.
func TestProtecting_leavesOutAllThatAPersonAllowed(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	events := []history.Event{
		{Type: history.Updated, Data: map[string]string{replay.DataMayChange: "a\nb"}},
		{Type: history.Updated},
		{Type: history.Updated, Data: map[string]string{replay.DataMayChange: "c"}},
	}
	patterns, except := replay.Protecting(def, []string{"Makefile"}, events).Protected()
	if fmt.Sprint(patterns, except) != "[Makefile /.orange/] [a b c]" {
		t.Errorf("protects %q but for %q", patterns, except)
	}
}

// The inputs of a decision have what was protected, whatever the project says later.
func TestInputs_keepWhatTheProjectProtected(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default").Protecting([]string{"Makefile"}, []string{"a"})
	c := record.Change{Task: newTask("working"), Events: []history.Event{{Time: noon, Type: history.StatusChanged}}}
	c, err := replay.Inputs{Ask: replay.AskMove, To: "agent-review"}.By(task.Actor{Role: "worker"}).Keep(def,
		record.Snapshot{Task: newTask("working")}, decide.Evidence{Facts: map[string]decide.Fact{
			(workflow.Part{Git: workflow.GitProtected, Untouched: []string{"Makefile"}, Except: []string{"a"}}).Key(): {
				Holds: true, Source: "protected files"}}}, c)
	var kept replay.Inputs
	if err == nil {
		err = json.Unmarshal(c.Events[0].Inputs, &kept)
	}
	if err != nil || fmt.Sprint(kept.Protected, kept.MayChange) != "[Makefile] [a]" {
		t.Errorf("kept %q, but for %q: %v", kept.Protected, kept.MayChange, err)
	}
	if len(kept.Facts) == 0 {
		t.Error("the inputs have no fact of it")
	}
}

// The rules are what they were then, although the project protects nothing now.
func TestAReplay_protectsWhatTheProjectProtectedThen(t *testing.T) {
	t.Parallel()
	plain := tiny([]workflow.Transition{{From: "todo", To: "busy", Gate: []workflow.Part{{Check: "tests"}}}})
	w := decided(t, plain)
	w.def = plain.Protecting([]string{"Makefile"}, nil)
	ev := evidence("")
	ev.Facts = map[string]decide.Fact{}
	for _, p := range decide.GatesTo(w.def, w.s.Task, "busy") {
		ev.Facts[p.Key()] = decide.Fact{Holds: true, Source: p.Name(), Text: p.Name(),
			Digest: document.Digest(p.Name())}
	}
	w.asked("busy", false, ev)
	books := w.library()
	books.Rules = func(string) (*workflow.Definition, error) { return plain, nil }
	if got, err := replay.Replay(w.s.Task, w.lines, books, nil); err != nil || got.Equal != 2 {
		t.Errorf("%v, %+v", err, got)
	}
}
