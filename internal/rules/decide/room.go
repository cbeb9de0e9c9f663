package decide

import (
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// roomFirst has a task that has lost its workspace get one where a hook of its move works there. What a task needs that
// leaves its first state, the workflow says.
func roomFirst(def *workflow.Definition, t task.Task, to task.Status, hooks []task.Hook) []task.Hook {
	if t.Workspace != "" || t.Status == def.Initial {
		return hooks
	}
	state, _ := def.State(to)
	needs, kept := false, state.Terminal
	for _, h := range hooks {
		row, _ := action.Of(h.Action)
		switch row.Means {
		case action.MakesWorkspace:
			return hooks
		case action.FreesWorkspace:
			kept = false
		case action.StartsAgent, action.NotifiesWorker:
			needs = true
		}
	}
	if !needs || kept { // a task that has ended would keep it: no hook gives it back
		return hooks
	}
	return slices.Concat([]task.Hook{{Action: action.AcquireWorkspace}}, hooks)
}

func lease(t task.Task, hooks []task.Hook) record.Lease {
	for _, h := range hooks {
		if h.Action == action.AcquireWorkspace && t.Workspace == "" {
			return record.LeaseReserve
		}
	}
	return record.LeaseKeep
}
