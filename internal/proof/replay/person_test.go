package replay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Replay judges again what a person does to a task that moves nothing, if it resets a counter. An event about an
// agent resets none.
func TestAReplay_knowsWhoSetsACounterBackWithoutAMove(t *testing.T) {
	t.Parallel()
	def := *shippedWorkflow(t, "default")
	def.Fields = []workflow.Field{{Named: workflow.Named{Name: "rereviews"}, Start: 3, Reset: workflow.ResetPerson}}
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada"}
	for _, row := range []struct {
		name             string
		kind             string
		by               task.Actor // as the inputs say
		decided, skipped int
		different        int
		stripped         bool // an intruder has removed its inputs
		stays            int
	}{
		{"a change of a field", history.Updated, ada, 2, 1, 0, false, 0},
		{"a merge that begins", history.MergeBegun, ada, 1, 2, 0, false, 3},
		{"a merge", history.Merged, ada, 2, 1, 0, false, 0},
		{"a change of a field that nobody can judge again", history.Updated, ada, 1, 1, 0, true, 0},
		{"a merge that nobody can judge again", history.Merged, ada, 1, 1, 0, true, 0},
		{"an agent that is said to set it back", history.Updated, task.Actor{Role: task.RoleWorker}, 2, 1, 1, false, 0},
	} {
		w := &stroll{t: t, def: &def, dice: rand.New(rand.NewPCG(1, 5)),
			now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), texts: map[string]string{}}
		w.born()
		if got := w.s.Task.Counters.Get("rereviews"); got != 3 {
			t.Fatalf("it begins with %d", got)
		}
		for range 2 { // the second time there is nothing to set back
			w.now = w.now.Add(time.Second)
			c := decide.Note(&def, w.s.Task, w.s.Task, ada, history.Event{
				Time: w.now, Type: row.kind, Data: map[string]string{history.DataSummary: "another"}})
			if len(c.Events[0].Counters) == 0 {
				w.record(c.Task, c.Events)
				continue
			}
			c.Events[0] = history.Sign(row.by, c.Events[0])
			if row.stripped {
				w.record(c.Task, c.Events)
				continue
			}
			w.commit(replay.Inputs{Ask: replay.AskNote}.By(row.by), decide.Evidence{}, c)
		}
		if got := w.s.Task.Counters.Get("rereviews"); got != row.stays {
			t.Errorf("%s: it ends with %d", row.name, got)
		}
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || got.Decisions != row.decided || got.Skipped != row.skipped ||
			len(got.Untold) > 0 != row.stripped || len(got.Different) != row.different {
			t.Errorf("%s: %v, %+v", row.name, err, got)
		}
	}
}

// Work that no person put up comes to a good end where an earlier verdict accepted it.
func TestAReplay_knowsTheVerdictsOfBefore(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{
		{From: "busy", To: "help", Gate: []workflow.Part{{Section: "## Review", Verdict: "PASS"}}},
		{From: "help", To: "done", By: []string{task.RoleHuman}}})
	def.States = append(def.States, workflow.State{Name: "done", Terminal: true, Success: true})
	one := newTask("help")
	one.Subject = task.Subject{Commit: "first", By: task.RoleWorker, Unvouched: true}
	verdict := history.Event{Type: history.StatusChanged, From: "busy", To: "help",
		Subject: task.Subject{Commit: "first"}}
	for accepted, events := range map[bool][]history.Event{true: {verdict}, false: nil} {
		in := replay.Inputs{Ask: replay.AskMove, To: "done", Role: task.RoleHuman, Now: noon}
		_, err := in.Again(def, replay.Past{Task: one, Events: events,
			Event: history.Event{Type: history.StatusChanged, From: "help", To: "done"}})
		if (err == nil) != accepted {
			t.Errorf("with a verdict before %t: %v", accepted, err)
		}
	}
}
