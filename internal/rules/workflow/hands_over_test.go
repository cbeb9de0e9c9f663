package workflow_test

import (
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Protected files are asked for where an agent gives its work to another one, or puts it up for its merge: and nowhere
// else.
func TestProtecting_asksWhereWorkIsHandedOver(t *testing.T) {
	t.Parallel()
	type (
		rules = workflow.Definition
		move  = workflow.Transition
	)
	hook := func(does string) workflow.Hook { return workflow.Hook{Hook: task.Hook{Action: does}} }
	for name, c := range map[string]struct {
		change func(d *rules, edge *move)
		want   bool
	}{
		"another role starts":  {func(*rules, *move) {}, true},
		"the same role starts": {func(_ *rules, e *move) { e.Hooks[0] = hook(action.SpawnAgent) }, false},
		"no one starts":        {func(_ *rules, e *move) { e.Hooks = nil }, false},
		"the worker may ask": {func(_ *rules, e *move) {
			e.By = []string{task.RoleWorker}
		}, true},
		"another one asks": {func(_ *rules, e *move) { e.By = []string{task.RoleHuman} }, false},
		"a person works there": {func(d *rules, _ *move) {
			d.States[1].Role = task.RoleHuman
		}, false},
		"no one works there":   {func(d *rules, _ *move) { d.States[1].Role = "" }, false},
		"help is asked for":    {func(d *rules, _ *move) { d.States[2].Escalation = true }, false},
		"help was given":       {func(d *rules, _ *move) { d.States[1].Escalation = true }, false},
		"its verdict is asked": {func(_ *rules, e *move) { e.Gate = verdictPart() }, false},
		"its first worktree": {func(d *rules, e *move) {
			d.Initial, e.Hooks = "work", append(e.Hooks, hook(action.AcquireWorkspace))
		}, false},
		"a later worktree": {func(_ *rules, e *move) {
			e.Hooks = append(e.Hooks, hook(action.AcquireWorkspace))
		}, true},
		"a merge": {func(d *rules, e *move) {
			e.Hooks, d.Moves = nil, []workflow.Move{{Command: workflow.MoveMerge, To: "check"}}
		}, true},
		"what waits for a merge": {func(d *rules, e *move) {
			e.Hooks, d.Moves = nil, []workflow.Move{{Command: workflow.MoveMerge, To: "done"}}
			d.Transitions = append(d.Transitions, workflow.Transition{From: "check", To: "done"})
		}, true},
	} {
		d := &workflow.Definition{Initial: "todo",
			States: []workflow.State{{Name: "todo"}, {Name: "work", Role: task.RoleWorker},
				{Name: "check", Role: task.RoleReviewer}, {Name: "done", Terminal: true}},
			Transitions: []workflow.Transition{{From: "work", To: "check",
				Hooks: []workflow.Hook{hook(action.SpawnReviewer)}}}}
		c.change(d, &d.Transitions[0])
		got := d.Protecting([]string{"Makefile"}, nil).Transitions[0].Gate
		if asks := workflow.Asks(got, workflow.GitProtected); asks != c.want {
			t.Errorf("%s: asks %v", name, asks)
		}
	}
}

func verdictPart() []workflow.Part {
	return []workflow.Part{{Section: "## Review", Verdict: "PASS", VerdictIn: workflow.VerdictFirstLine}}
}
