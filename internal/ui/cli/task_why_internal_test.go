package cli

import (
	"bytes"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Defect: people read "found ... to do: nothing" of each rule, and of tasks that were over.
func TestWhy_saysWhatToDoAndOnlyCountsIdleRules(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 3, 12, 20, 0, 0, time.UTC)
	works := rejection.Detail{Condition: "the worker", Found: "it is at work",
		Want: "let it work, or look: orange task attach 4Fz"}
	idle := rejection.Detail{Condition: "no merge_failed", Found: "x", Idle: true}
	asks := record.Need{Kind: record.NeedsPerson, Reason: "asks: which year?",
		Waits: "its worker waits for your answer", Commands: []string{"orange task say 4Fz", "orange task why 4Fz"}}
	const overAt = "4Fz is done, over since 2026-05-03 12:20:00 UTC"
	for name, c := range map[string]struct {
		e    decide.Explanation
		want string
	}{
		"at work": {decide.Explanation{Waits: []rejection.Detail{works, idle}}, "4Fz is working  Builds.\n\n" +
			"waits for\n  the worker: it is at work\n    let it work, or look: orange task attach 4Fz\n" +
			"  1 other rule has nothing to do now\n\nno move leads out of here\n"},
		"several rules": {decide.Explanation{Waits: []rejection.Detail{idle, works, idle}}, "4Fz is working  " +
			"Builds.\n\nwaits for\n  the worker: it is at work\n    let it work, or look: orange task attach 4Fz\n" +
			"  2 other rules have nothing to do now\n\nno move leads out of here\n"},
		"asks": {decide.Explanation{Need: asks, Waits: []rejection.Detail{idle, {Condition: "a person",
			Found: "the worker lives, and the status waits for a person", Want: "answer it"}}},
			"4Fz is working  Builds.\nneeds you: asks: which year?\n  its worker waits for your answer\n" +
				"  orange task say 4Fz\n\nno move leads out of here\n"},
		"over": {decide.Explanation{Waits: []rejection.Detail{{Condition: "no one", Found: `"done", which is final`,
			Want: "there is nothing to do", Idle: true}}}, overAt + "  Builds.\n"},
		"over, with a hook": {decide.Explanation{Waits: []rejection.Detail{{Condition: "the hook push_branch",
			Found: "it is pending", Want: "wait a moment"}}}, overAt + "  Builds.\n" +
			"\nwaits for\n  the hook push_branch: it is pending\n    wait a moment\n"},
	} {
		var out bytes.Buffer
		p := &finder{}
		p.Out, p.Err, p.utc = printable.NewWriter(&out), printable.NewWriter(&out), true
		c.e.About, c.e.Task = "Builds.", task.Task{ID: "4Fz", Status: "working", Live: true, EnteredAt: at}
		if name == "over" || name == "over, with a hook" {
			c.e.Task.Status, c.e.Task.Live = "done", false
		}
		(&explainer{finder: p}).why(c.e, nil)
		if err := p.flush(); err != nil || out.String() != c.want {
			t.Errorf("%s: %v, it says\n%s\nwant\n%s", name, err, out.String(), c.want)
		}
	}
}
