package decide

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// withHints adds hints to conditions that are unmet because the work is not what was judged: how to have it judged as
// it is now. None of them advises another verdict: what to think of the work is its judge's.
func withHints(def *workflow.Definition, t task.Task, actor task.Actor, unmet []rejection.Detail) []rejection.Detail {
	if actor.Rule { // no one who could act on a hint reads it
		return unmet
	}
	out := slices.Clone(unmet)
	for i := range out {
		if out[i].OtherWork {
			out[i].Want = strings.Join(append([]string{out[i].Want}, hintsFor(def, t, actor, out[i])...), "; ")
		}
	}
	return out
}

// hintsFor are the hints for the refused actor, as sentences with commands: the actor's own commands, else a
// person's.
func hintsFor(def *workflow.Definition, t task.Task, actor task.Actor, d rejection.Detail) []string {
	judge := judgedIn(def, t.Status)
	if own := restartHint(def, t, actor, judge, d.MovedTip); d.NewVerdict && own != "" {
		return []string{"what is there now is judged again with: " + own}
	}
	if !d.NewVerdict || judge == "" {
		return nil
	}
	who, ends := "a person has", "a person ends the agent and has"
	person := task.Actor{Role: task.RoleHuman}
	if actor.Role == person.Role {
		who, ends = "have", "end the agent and have"
	}
	state, _ := def.State(t.Status)
	if theirs := restartHint(def, t, person, judge, d.MovedTip); theirs != "" {
		return []string{fmt.Sprintf("%s what is there now judged again with: %s", who, theirs)}
	} else if judge == t.Status && state.RespawnPrompt.Name != "" &&
		(d.MovedTip || state.Subject == workflow.SubjectWorktree) {
		return []string{fmt.Sprintf("%s another one judge what is there now: orange task respawn %s", ends, t.ID)}
	}
	return nil
}

// judgedIn is the state in which the work that a state relies on is judged: the state itself, or the one whose
// verdict led to it. It is empty if no state judges the work.
func judgedIn(def *workflow.Definition, status task.Status) task.Status {
	var seen []task.Status
	for !slices.Contains(seen, status) {
		seen = append(seen, status)
		before := slices.IndexFunc(def.Transitions, func(edge workflow.Transition) bool {
			return edge.To == status && edge.From != status && carriesSubject(def, &edge)
		})
		if before < 0 {
			break
		}
		status = def.Transitions[before].From
	}
	if slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		return edge.From == status && isPassingVerdict(&edge)
	}) {
		return status
	}
	return ""
}

// carriesSubject reports whether what was judged before an edge still counts after it.
func carriesSubject(def *workflow.Definition, edge *workflow.Transition) bool {
	from, _ := def.State(edge.From)
	to, _ := def.State(edge.To)
	return isPassingVerdict(edge) || from.Subject == workflow.SubjectCarried && to.Subject == workflow.SubjectCarried
}

// restartHint is the command with which an actor has the work judged in a state as it is now; empty if the actor may
// not.
func restartHint(def *workflow.Definition, t task.Task, actor task.Actor, judge task.Status, moved bool) string {
	t.Counters = resetBy(def, t.Counters, actor)
	for _, edge := range edges(def, t, judge) {
		if !Allows(edge, actor) || !Passes(edge, t) || restarts(edge) && !moved {
			continue
		}
		command := edge.Command(t.ID, judge) + asRole(actor)
		if wants := writes(edge.Gate); wants != "" {
			command += ", once there is " + wants
		}
		return command
	}
	again := slices.ContainsFunc(def.Redo, func(s workflow.Named) bool { return s.Name == string(judge) })
	if again && actor.Role == task.RoleHuman {
		return fmt.Sprintf("orange task redo %s %s --reason TEXT", t.ID, judge)
	}
	return ""
}

func asRole(actor task.Actor) string {
	if actor.As == "" {
		return ""
	}
	return " --as " + actor.As
}

// writes lists what a gate wants the actor to write.
func writes(gate []workflow.Part) string {
	var all []string
	for _, p := range workflow.Leaves(gate) {
		switch {
		case p.Section != "":
			all = append(all, want(p))
		case p.File != "" && p.Want != "":
			all = append(all, fmt.Sprintf("%s (%s)", p.File, p.Want))
		case p.File != "":
			all = append(all, p.File)
		}
	}
	return strings.Join(all, " and ")
}
