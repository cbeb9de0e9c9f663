package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// LooksBack reports whether a move to one of some states, or else any move out of the task's status, depends on its
// whole history: it leads to a good end, it takes another person than an earlier one, or no one vouched for the work.
func LooksBack(def *workflow.Definition, t task.Task, to ...task.Status) bool {
	return t.Subject.Unvouched || slices.ContainsFunc(outgoing(def, t), func(edge *workflow.Transition) bool {
		return (Marks(def, edge.To).Good || len(edge.OtherThan) > 0) && (len(to) == 0 || slices.Contains(to, edge.To))
	})
}

// unpassedThings is what keeps a task from a good end whatever the transition asks for: what was promised of it, and
// what it was moved past by force, as far as it has not passed that since its work changed last.
func (j judgment) unpassedThings(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) []rejection.Detail {
	if !Marks(def, edge.To).Good {
		return nil
	}
	owed := guarantee.OwedBy(def, ev.History)
	if len(owed) == 0 {
		return nil
	}
	move := history.Event{Type: history.StatusChanged, To: edge.To,
		Data: map[string]string{guarantee.DataPassed: j.ledger(def, t, edge, req, ev)}}
	now, noted := versions(t, edge, ev, req.Override)
	all := append(slices.Clip(ev.History), move)
	asked := guarantee.Needs(edge.Gate)
	at := ""
	if commit := ev.Subject.Commit; commit != "" {
		at = fmt.Sprintf(" at %.7s", commit)
	}
	var out []rejection.Detail
	for _, o := range owed {
		_, said := asked[o.What] // then the gate says what it lacks
		met := func(p workflow.Part) bool { return guarantee.Name(&p) == o.What }
		if guarantee.Had(def, all[o.After:], now, noted)[o.What] || said && len(j.unmet) > 0 && !req.Override ||
			req.Override && slices.ContainsFunc(j.good, met) { // it sets aside nothing that holds
			continue
		}
		out = append(out, rejection.Detail{Condition: o.What, Found: fmt.Sprintf("that the work%s has not passed it, "+
			"and %s", at, o.By), Want: toPass(def, t, o.What)})
	}
	return out
}

// lacks is all that keeps a task from a good end whatever the transition asks for.
func (j judgment) lacks(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) []rejection.Detail {
	if out := j.unpassedThings(def, t, edge, req, ev); len(out) > 0 {
		return out
	}
	return lacksVoucher(def, t, edge, ev)
}

// refusedBesides is what a request is refused for besides the transition's own conditions. A merge elsewhere is a fact:
// the task ends, and its mark says without what.
func (j judgment) refusedBesides(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) []rejection.Detail {
	if ev.Landed != "" {
		return nil
	}
	return j.lacks(def, t, edge, req, ev)
}

// without are the things that the work has not passed which was merged elsewhere.
func (j judgment) without(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) []string {
	if ev.Landed == "" {
		return nil
	}
	var out []string
	for _, d := range j.lacks(def, t, edge, req, ev) {
		out = append(out, d.Condition)
	}
	return out
}

// toPass says where tasks pass a thing, and with which command a person has a task go there.
func toPass(def *workflow.Definition, t task.Task, what string) string {
	if what == guarantee.Person {
		return "have a person make the move"
	}
	var moves []string
	command := ""
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		move := fmt.Sprintf("from %q to %q", edge.From, edge.To)
		if slices.Contains(guarantee.Gives(def, edge), what) && !slices.Contains(moves, move) {
			moves = append(moves, move)
			command = cmp.Or(command, wayTo(def, t, edge.From))
		}
	}
	if len(moves) == 0 {
		return "have a person set it aside, with a reason: nothing in this workflow asks for it"
	}
	return "it is passed on the way " + strings.Join(moves, ", or ") + command
}

// wayTo is the command with which a person takes a task to a state over a transition, if there is one: to the state
// itself, or to one before it.
func wayTo(def *workflow.Definition, t task.Task, to task.Status) string {
	person := task.Actor{Role: task.RoleHuman}
	leads := func(edge *workflow.Transition) bool {
		_, before := def.Edge(edge.To, to)
		return edge.To != t.Status && Allows(edge, person) && (edge.To == to || before)
	}
	for _, edge := range outgoing(def, t) {
		if leads(edge) {
			return "; from here: " + edge.Command(t.ID, edge.To)
		}
	}
	return ""
}

// versions are what the work is when an edge is taken. One that shows that the work is what was noted has two of them:
// the tip may be the commit of what was noted as files.
func versions(t task.Task, edge *workflow.Transition, ev Evidence, override bool) (now, noted guarantee.Version) {
	now, noted = guarantee.VersionOf(ev.Subject), guarantee.VersionOf(t.Subject)
	switch {
	case now == noted && ev.Landed == "":
	case ev.Landed != "":
		now = guarantee.Version{Commit: ev.Landed}
		return now, now
	case override || !guarantee.Shows(edge.Gate):
		return now, now
	case now.Commit == noted.Commit: // its files are those that were noted, though no one looked at them again
		return noted, noted
	}
	return now, noted
}

// ledger is what a task passes by taking an edge: what its gate was met with, and those who asked for it. A verdict is
// about the work that the evidence of the status is about.
func (j judgment) ledger(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request,
	ev Evidence) string {
	now, noted := versions(t, edge, ev, req.Override)
	out := ""
	for i := range j.good {
		switch p := &j.good[i]; {
		case req.Override || len(j.unmet) > 0 || ev.Landed != "" && p.Git != "": // a merge elsewhere takes git's place
		case p.IsVerdict() && !guarantee.Shows(edge.Gate):
			out = guarantee.Write(out, guarantee.Name(p), guarantee.VersionOf(t.Subject))
		default:
			out = guarantee.Write(out, guarantee.Name(p), now, noted)
		}
	}
	for _, name := range guarantee.By(def, edge, req.Actor.Speaks(), isPerson(req.Actor)) {
		others, _ := othersThan(def, edge, ev.History)
		if name != guarantee.TwoPeople || len(others) > 0 {
			out = guarantee.Write(out, name, now, noted)
		}
	}
	return out
}

// refusals are what the work has not passed by an edge that asks for that: a verdict refuses it, or a check failed.
func (j judgment) refusals(t task.Task, edge *workflow.Transition, req task.Request, ev Evidence) string {
	if req.Override || len(j.unmet) > 0 || len(j.bad) == 0 {
		return ""
	}
	now, noted := versions(t, edge, ev, false)
	out := ""
	for i := range j.bad {
		switch p := &j.bad[i]; {
		case p.IsVerdict() && !guarantee.Shows(edge.Gate):
			out = guarantee.Write(out, guarantee.Refuses(p), guarantee.VersionOf(t.Subject))
		default:
			out = guarantee.Write(out, guarantee.Refuses(p), now, noted)
		}
	}
	return out
}
