package workflow_test

import (
	"maps"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

type filled struct {
	file, initial string
	roles         map[task.Status]string
	moves         map[string]task.Status
	births        []task.Status
	crashThen     task.Status
}

func fillings() []filled {
	return []filled{
		{
			file: "classic-like.yml", initial: "pending",
			roles: map[task.Status]string{
				"pending": "", "clarification": task.RoleWorker, "working": task.RoleWorker,
				"agent-review": task.RoleReviewer,
				"reviewing":    "", "stuck": task.RoleWorker, "done": "", "cancelled": "",
			},
			moves: map[string]task.Status{
				workflow.MoveComplete: "agent-review", workflow.MoveStuck: "stuck", workflow.MoveMerge: "done",
				workflow.MoveCancel: "cancelled", workflow.MoveRequestChanges: "working", workflow.MovePRMerged: "done",
				workflow.MovePRClosed: "cancelled", workflow.MoveClarify: "clarification",
			},
			births:    []task.Status{"pending", "clarification", "agent-review", "reviewing"},
			crashThen: "stuck",
		},
		{
			file: "minimal-like.yml", initial: "pending",
			roles: map[task.Status]string{"pending": "", "working": task.RoleWorker, "reviewing": "", "done": "",
				"cancelled": ""},
			moves: map[string]task.Status{
				workflow.MoveMerge: "done", workflow.MoveCancel: "cancelled", workflow.MoveRequestChanges: "working",
				workflow.MovePRMerged: "done", workflow.MovePRClosed: "cancelled",
			},
			births: []task.Status{"pending", "reviewing"},
		},
		{
			file: "reviewing-ends.yml", initial: "todo",
			roles:  map[task.Status]string{"todo": "", "doing": task.RoleWorker, "reviewing": ""},
			moves:  map[string]task.Status{},
			births: []task.Status{"todo"},
		},
	}
}

func TestWhatAFileLeavesUnsaidIsFilledIn(t *testing.T) {
	t.Parallel()
	for _, test := range fillings() {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			d := load(t, "testdata/ok/"+test.file)
			if string(d.Initial) != test.initial {
				t.Errorf("initial is %q, want %q", d.Initial, test.initial)
			}
			roles, moves := map[task.Status]string{}, map[string]task.Status{}
			for _, s := range d.States {
				roles[s.Name] = s.Role
			}
			for _, m := range d.Moves {
				moves[m.Command] = m.To
			}
			if !maps.Equal(roles, test.roles) || !maps.Equal(moves, test.moves) {
				t.Errorf("roles %v, want %v; moves %v, want %v", roles, test.roles, moves, test.moves)
			}
			for _, to := range test.births {
				if _, exists := d.Birth(to); !exists {
					t.Errorf("no birth in %q", to)
				}
			}
			if len(d.Births) != len(test.births) {
				t.Errorf("%d births, want %d", len(d.Births), len(test.births))
			}
			for _, rule := range d.Exit.Rules {
				if rule.Action == workflow.ActionCrash && rule.Then != test.crashThen {
					t.Errorf("a crash leads to %q, want %q", rule.Then, test.crashThen)
				}
			}
		})
	}
}

func TestHooksGetTheHarnessAndPermissionsOfTheirRole(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, from, to, action, harness, permissions, field string }{
		{"testdata/ok/small.yml", "todo", "doing", action.SpawnAgent, task.HarnessTask, task.PermissionsFull, ""},
		{"testdata/ok/classic-like.yml", "working", "agent-review", action.SpawnAgent, task.HarnessReview,
			task.PermissionsReduced, task.ReviewRound},
		{"../../../workflows/default.yml", "working", "agent-review", action.SpawnReviewer, task.HarnessReview,
			task.PermissionsReduced, ""},
		{"../../../workflows/default.yml", "working", "agent-review", action.IncrementReviewRound, "", "",
			task.ReviewRound},
	}
	for _, test := range tests {
		t.Run(test.file+" "+test.action, func(t *testing.T) {
			t.Parallel()
			edge, exists := load(t, test.file).Edge(task.Status(test.from), task.Status(test.to))
			if !exists || !edge.Has(test.action) {
				t.Fatal("the edge or its hook is missing")
			}
			for _, h := range edge.Hooks {
				if h.Action == test.action && (h.Harness != test.harness || h.Permissions != test.permissions ||
					h.Field != test.field) {
					t.Errorf("got %+v", h.Hook)
				}
			}
		})
	}
}
