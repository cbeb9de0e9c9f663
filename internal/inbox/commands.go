package inbox

import (
	"fmt"
	"slices"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// mostCommands is how many commands people are shown at their turn.
const mostCommands = 3

// commands are those that people use where a task needs them, ready to be copied: what they want most comes first.
func commands(def *workflow.Definition, t task.Task, need record.Need) []string {
	state, _ := def.State(t.Status)
	line := func(words string) string { return fmt.Sprintf("orange task "+words, t.ID) }
	attach := line("attach %s")
	if state.Role != "" {
		attach += " --role " + state.Role
	}
	say := line(`say %s "..."`)
	switch need.Kind {
	case record.NeedsAnswer, record.NeedsStart:
		return []string{attach}
	case record.NeedsModel, record.NeedsWord:
		return []string{say, attach}
	case record.NeedsDocument:
		return []string{"orange doctor"}
	case record.NeedsWorktree:
		return []string{line("respawn %s")}
	case record.NeedsAgent:
		return []string{line("respawn %s"), line("logs %s")}
	case record.NeedsAttention:
		if !t.Live {
			return []string{line("history %s"), line("retry %s"), line("update %s --seen")}
		}
		return []string{line("why %s"), line("retry %s"), line("respawn %s")}
	case record.NeedsLimit:
		if need.Rest != nil { // it lives
			return []string{attach, say}
		}
		return []string{line("respawn %s")}
	case record.NeedsPerson:
	default:
		return nil
	}
	if merge, _ := def.Move(workflow.MoveMerge); leads(def, t.Status, merge) {
		out := []string{line("diff %s"), line("merge %s")}
		if back, _ := def.Move(workflow.MoveRequestChanges); leads(def, t.Status, back) {
			out = append(out, line(`request-changes %s "..."`))
		}
		return out
	}
	if state.Role != "" && state.Role != task.RoleHuman {
		return []string{say, attach, line("why %s")}
	}
	return append(moves(def, t), line("why %s"))
}

// moves are the commands for the moves out of a status that are a person's, the one that cancels apart.
func moves(def *workflow.Definition, t task.Task) []string {
	var out []string
	cancel, _ := def.Move(workflow.MoveCancel)
	for _, edge := range def.Transitions {
		mine := len(edge.By) == 0 || slices.Contains(edge.By, task.RoleHuman)
		if edge.From != t.Status || edge.To == cancel || edge.To == t.Status || edge.To == workflow.Previous ||
			!mine || len(out) == mostCommands-1 {
			continue
		}
		words := edge.Command(t.ID, edge.To)
		if !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return out
}

// leads reports whether an edge goes from one status to another.
func leads(def *workflow.Definition, from, to task.Status) bool {
	return to != "" && slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		return edge.From == from && edge.To == to
	})
}
