package query

import (
	"testing"

	"orange/internal/rules/diff"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

func TestPatch_ofWhatChangedSinceAnotherCommitWasJudged(t *testing.T) {
	t.Parallel()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	text, err := workflows.Files.ReadFile("default.yml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse("default.yml", text, usual)
	if err != nil {
		t.Fatal(err)
	}
	move := func(from, to task.Status, actor, commit string) history.Event {
		return history.Event{Type: history.StatusChanged, From: from, To: to, Actor: actor,
			Subject: task.Subject{Commit: commit}}
	}
	first := move("agent-review", "working", "reviewer", "one")
	second := move("agent-review", "reviewing", "reviewer", "two")
	sent := move("reviewing", "working", "human", "two")
	sent.Person = "Ann"
	for _, one := range []struct {
		events   []history.Event
		tip      string
		from, by string
	}{
		{nil, "one", "", ""},
		{[]history.Event{move("working", "agent-review", "worker", "zero")}, "one", "", ""},
		{[]history.Event{first}, "one", "", ""},
		{[]history.Event{first}, "two", "one", "agent-review → working by reviewer"},
		{[]history.Event{first, second}, "two", "one", "agent-review → working by reviewer"},
		{[]history.Event{first, second, sent}, "three", "two", "reviewing → working by Ann"},
		{[]history.Event{first, second, sent, move("agent-review", "reviewing", "reviewer", "three")}, "three", "two",
			"reviewing → working by Ann"},
	} {
		asked := []string{}
		s, w := newService()
		w.events, w.def, w.patch = one.events, def, func(from string) diff.Patch {
			asked = append(asked, from)
			return diff.Patch{From: from, To: one.tip}
		}
		for _, since := range []bool{false, true} {
			p, err := s.Patch(t.Context(), task.Task{}, since)
			want := diff.Patch{To: one.tip, Last: one.from, Judged: one.by, Review: "Verdict: FAIL\n"}
			if since {
				want.From = one.from
			}
			if err != nil || p != want {
				t.Errorf("at %s, since=%t, asked for %q: got %+v, %v; want %+v", one.tip, since, asked, p, err, want)
			}
		}
		w.unread["document"] = true
		if p, err := s.Patch(t.Context(), task.Task{}, false); err != nil || p.To != one.tip {
			t.Errorf("without a document: %+v, %v", p, err)
		}
	}
}
