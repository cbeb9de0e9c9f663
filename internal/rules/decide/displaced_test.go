package decide_test

import (
	"slices"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// A task that lost its workspace gets another one, and the agent of its status, if that has one, is started in it.
func TestRespawn_givesATaskThatLostItsWorkspaceAnotherOne(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct {
		status task.Status
		hooks  []string
		kind   string
	}{
		{"working", []string{action.AcquireWorkspace, action.SpawnAgent}, history.AgentRespawned},
		{"agent-review", []string{action.AcquireWorkspace, action.SpawnReviewer}, history.AgentRespawned},
		{"reviewing", []string{action.AcquireWorkspace}, history.Updated},
	} {
		lost := newTask(c.status)
		lost.Workspace, lost.QueuedFor = "", c.status
		for _, actor := range []task.Actor{{Rule: true}, human()} {
			change, err := decide.Respawn(def, lost, false, false, actor, noon)
			if err != nil {
				t.Fatalf("%s: %v", c.status, err)
			}
			e := change.Events[0]
			after := history.Follow(lost, e)
			if !slices.Equal(e.Hooks, c.hooks) || e.Type != c.kind || change.Lease != record.LeaseReserve ||
				change.Task.Queued() || after.Queued() || after.Status != c.status ||
				len(change.Hooks) != len(c.hooks) {
				t.Errorf("%s: %+v, and its history has it as %+v", c.status, change, after)
			}
		}
	}
	first := newTask("planning") // in the first status of its workflow, where an agent works
	first.Workspace, first.QueuedFor = "", "planning"
	if change, err := decide.Respawn(shippedWorkflow(t, "phases"), first, false, false, human(), noon); err != nil ||
		len(change.Hooks) != 2 {
		t.Errorf("%+v: %v", change, err)
	}
	waits := newTask("planning") // one that waits to move: it begins where it is
	waits.Workspace, waits.QueuedFor = "", "working"
	if change, err := decide.Respawn(def, waits, false, false, human(), noon); err != nil || change.Task.Queued() ||
		change.Lease != record.LeaseReserve {
		t.Errorf("%+v: %v", change, err)
	}
	for name, other := range map[string]task.Task{
		"one that waits to start": {Status: "pending", QueuedFor: "planning"},
		"one with a workspace":    {Status: "reviewing", QueuedFor: "reviewing", Workspace: "w1"},
	} {
		if change, err := decide.Respawn(def, other, false, false, human(), noon); err == nil {
			t.Errorf("%s: %+v", name, change)
		}
	}
}
