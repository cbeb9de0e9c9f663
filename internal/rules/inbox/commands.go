package inbox

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// mostCommands is how many commands people are shown at their turn.
const mostCommands = 3

// way is a command that people use where a task needs them, ready to be copied, and the dashboard's action that does
// the same.
type way struct{ command, action string }

// ways are what people do where a task needs them: what they want most comes first.
func ways(def *workflow.Definition, t task.Task, need record.Need) []way {
	state, _ := def.State(t.Status)
	line := func(words, action string) way { return way{fmt.Sprintf("orange task "+words, t.ID), action} }
	attach := line("attach %s", "start")
	if state.Role != "" {
		attach.command += " --role " + state.Role
	}
	say, why := line(`say %s "..."`, "say"), line("why %s", "part-3")
	respawn, retry := line("respawn %s", "start"), line("retry %s", "retry")
	switch need.Kind {
	case record.NeedsAnswer, record.NeedsStart:
		return []way{attach}
	case record.NeedsModel, record.NeedsWord, record.NeedsRefused:
		return []way{say, attach}
	case record.NeedsDocument:
		return []way{{"orange doctor", ""}}
	case record.NeedsWorktree:
		return []way{respawn}
	case record.NeedsAgent:
		return []way{respawn, line("logs %s", "part-5")}
	case record.NeedsAttention:
		switch {
		case !t.Live:
			return []way{line("history %s", "part-2"), retry, line("update %s --seen", "")}
		case strings.HasPrefix(t.Attention, record.HookMark):
			return []way{retry, why}
		case strings.Contains(t.Attention, respawn.command):
			return []way{respawn, why}
		}
		return []way{why, respawn}
	case record.NeedsLimit:
		if need.Rest != nil { // it lives
			return []way{attach, say}
		}
		return []way{respawn}
	case record.NeedsPerson:
	default:
		return nil
	}
	if merge, _ := def.Move(workflow.MoveMerge); leads(def, t.Status, merge) {
		out := []way{line("diff %s", "review"), line("merge %s", "merge")}
		if back, _ := def.Move(workflow.MoveRequestChanges); leads(def, t.Status, back) {
			out = append(out, line(`request-changes %s "..."`, "request-changes"))
		}
		return out
	}
	if state.Role != "" && state.Role != task.RoleHuman {
		return []way{say, attach, why}
	}
	return append(moves(def, t), why)
}

// moves are the commands for the moves out of a status that are a person's, the one that cancels apart.
func moves(def *workflow.Definition, t task.Task) []way {
	var out []way
	cancel, _ := def.Move(workflow.MoveCancel)
	for _, edge := range def.Transitions {
		mine := len(edge.By) == 0 || slices.Contains(edge.By, task.RoleHuman)
		if edge.From != t.Status || edge.To == cancel || edge.To == t.Status || edge.To == workflow.Previous ||
			!mine || len(out) == mostCommands-1 {
			continue
		}
		words := way{edge.Command(t.ID, edge.To), "move"}
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
