package explore

import (
	"fmt"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// setbacks sends the task back by the rules of its status, whenever they may: no person is needed for that.
func (w *walk) setbacks(at int32, c config) {
	if len(w.def.States[c.status].SendBack) == 0 {
		return
	}
	w.followAll(at, c, w.alikeIn(aSetback, c.counters, func() []outcome { return w.sentBacks(at, c, w.taskOf(c)) }))
}

// sentBacks returns what follows from all that can happen to the work.
func (w *walk) sentBacks(at int32, c config, t task.Task) []outcome {
	var out []outcome
	for i, on := range workflow.SendBackEvents() {
		to, _ := decide.Setback{On: on}.Target(w.def, t)
		leadsThere := func(o outcome) bool { return o.event.to == w.place(to) }
		if to != "" && !slices.ContainsFunc(out, leadsThere) { // else the same follows
			out = append(out, w.sentBack(at, c, t, int8(i), on)...)
		}
	}
	return out
}

// sentBack returns what follows from something that happens to the work. A task that stays with a mark for a person is
// no other configuration.
func (w *walk) sentBack(at int32, c config, t task.Task, n int8, on string) []outcome {
	back := decide.Setback{On: on, Reason: "something happened", Commit: "judged", Facts: []string{"one"}}
	t.Subject.Commit = back.Commit
	to, _ := back.Target(w.def, t)
	e := event{kind: isSetback, role: -1, as: -1, on: n, to: w.place(to), look: -1}
	for i, l := range w.forge.looks[c.status][bit(c.workspace)] { // the first is without any text
		l.evidence.Subject.Commit = back.Commit
		change, due := back.Change(w.def, t, l.evidence, nil, "", anyTime())
		if due && change.Entered {
			e.look = int16(i)
			edge := w.edgeOf(t, to, e)
			if i > 0 {
				w.tellSetback(at, c, to, on, " where no one has left "+asks(w.def.Transitions[edge].Gate))
			}
			o := w.outcomeOf(e, edge, change)
			into, _ := w.def.State(to)
			o.event.carried = into.Subject == workflow.SubjectCarried &&
				w.def.States[c.status].Subject == workflow.SubjectCarried
			return []outcome{o}
		}
	}
	w.tellSetback(at, c, to, on, "")
	return nil
}

// tellSetback reports a rule whose move is refused.
func (w *walk) tellSetback(at int32, c config, to task.Status, on, where string) {
	state := w.def.States[c.status]
	w.report(RulesLegal, flaw{
		at: at, pos: state.SendBacks(on)[0].Pos,
		message: fmt.Sprintf("the rule of %q for %s leads to %q, and that move is refused%s%s", state.Name, on, to,
			where, w.standing(c)),
		suggestion: "let it lead where a transition is open that asks for no evidence; when: tells cases apart by a " +
			"counter",
	})
}
