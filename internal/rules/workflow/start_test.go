package workflow_test

import (
	"reflect"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// A respawn starts what the move into the state starts, with its role, its harness and its permissions.
func TestStartIn_isWhatTheMoveIntoTheStateStarts(t *testing.T) {
	t.Parallel()
	spawn := func(h task.Hook) workflow.Hook { return workflow.Hook{Hook: h} }
	full, reduced := task.PermissionsFull, task.PermissionsReduced
	for name, c := range map[string]struct {
		role, again string
		move        []workflow.Hook
		want        task.Hook
		none        bool
	}{
		"a reviewer that no move starts": {role: task.RoleReviewer, again: "read", want: task.Hook{
			Action: action.SpawnReviewer, Prompt: "read", Harness: task.HarnessReview, Permissions: reduced}},
		"a worker that no move starts": {role: task.RoleWorker, again: "go", want: task.Hook{
			Action: action.SpawnAgent, Prompt: "go", Harness: task.HarnessTask, Permissions: full}},
		"a role that no move starts": {role: "cto", again: "go", want: task.Hook{Action: action.SpawnAgent, Role: "cto",
			Prompt: "go", Harness: task.HarnessTask, Permissions: full}},
		"a reviewer with full permissions": {role: task.RoleReviewer, again: "read", move: []workflow.Hook{
			spawn(task.Hook{Action: action.SpawnReviewer, Prompt: "first", Harness: task.HarnessTask, Permissions: full,
				Field: "round"})}, want: task.Hook{Action: action.SpawnReviewer, Prompt: "read",
			Harness: task.HarnessTask, Permissions: full}},
		"a worker with reduced permissions": {role: task.RoleWorker, again: "go", move: []workflow.Hook{
			spawn(task.Hook{Action: action.SpawnAgent, Prompt: "first", Harness: task.HarnessTask,
				Permissions: reduced})},
			want: task.Hook{Action: action.SpawnAgent, Prompt: "go", Harness: task.HarnessTask, Permissions: reduced}},
		"a role that the hook does not name": {role: "cto", again: "go", move: []workflow.Hook{
			spawn(task.Hook{Action: action.SpawnAgent, Prompt: "first", Harness: task.HarnessTask,
				Permissions: reduced})},
			want: task.Hook{Action: action.SpawnAgent, Prompt: "go", Harness: task.HarnessTask, Permissions: reduced}},
		"another agent is called to help": {role: task.RoleWorker, again: "go", move: []workflow.Hook{
			spawn(task.Hook{Action: action.SpawnReviewer, Prompt: "first", Harness: task.HarnessReview,
				Permissions: reduced})}, want: task.Hook{Action: action.SpawnAgent, Prompt: "go",
			Harness: task.HarnessTask, Permissions: full}},
		"without a respawn_prompt": {role: task.RoleWorker, move: []workflow.Hook{spawn(task.Hook{
			Action: action.SpawnAgent, Prompt: "first", Harness: task.HarnessTask, Permissions: full, Field: "round"})},
			want: task.Hook{Action: action.SpawnAgent, Prompt: "first", Harness: task.HarnessTask, Permissions: full}},
		"none at all":       {role: task.RoleWorker, none: true},
		"a person's status": {none: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := workflow.State{Name: "here", Role: c.role, RespawnPrompt: workflow.Named{Name: c.again}}
			def := &workflow.Definition{States: []workflow.State{{Name: "there"}, state}}
			def.Transitions = []workflow.Transition{
				{From: "there", To: "there", Hooks: []workflow.Hook{spawn(task.Hook{Action: action.SpawnAgent})}},
				{From: "there", To: "here", Hooks: c.move}}
			got, starts := def.StartIn(state)
			if starts == c.none || !reflect.DeepEqual(got, c.want) {
				t.Errorf("it starts %+v, %v, want %+v", got, starts, c.want)
			}
		})
	}
}
