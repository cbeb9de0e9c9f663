package simulate

import (
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// checkSentBack checks that the rules of a status send a task back no more often than they say, from one act of a
// person to the next. The begin of a merge is no such act: the merge may fail, and send the task back.
func (a *Audit) checkSentBack(id string, before []history.Event, e history.Event) {
	most := mostSentBack(a.Workflow, e.From)
	if most < 0 || !isSentBack(e) {
		return
	}
	count := 1
	for _, old := range slices.Backward(before) {
		if old.Actor == task.RoleHuman && old.Type != history.MergeBegun {
			break
		}
		if isSentBack(old) {
			count++
		}
	}
	if count > most {
		a.Report(id, propBounded, "rules have sent the task back %d times since a person last did something to it, "+
			"and say at most %d times", count, most)
	}
}

// mostSentBack is how often the rules of a status send a task back until a person acts; negative if they do not say.
func mostSentBack(def *workflow.Definition, status task.Status) int {
	most := -1
	if def == nil {
		return most
	}
	state, _ := def.State(status)
	for _, rule := range state.SendBack {
		at := slices.IndexFunc(rule.When, func(g workflow.Guard) bool {
			return g.Op == "<" && slices.Contains(def.ResetByPerson(), g.Field)
		})
		if at < 0 {
			return -1
		}
		most = max(most, rule.When[at].Value)
	}
	return most
}

// isSentBack reports whether an event is the move of a rule that sends back.
func isSentBack(e history.Event) bool {
	return e.IsMove() && slices.ContainsFunc(workflow.SendBackEvents(), func(on string) bool {
		_, told := e.Data[on]
		return told
	})
}
