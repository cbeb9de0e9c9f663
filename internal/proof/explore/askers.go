package explore

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
)

// asker is one who asks for moves.
type asker struct {
	role int8   // -1 is a person
	as   int8   // the role for which a person asks; -1 for their own
	via  bool   // a program in a person's place
	asks []bool // the transitions for which it may ask, unless the same follows where an earlier one has asked
}

// askersOf are all who may ask: the agents of every role, then people, for themselves and for a role, then a program
// in a person's place, which resets nothing.
func (w *walk) askersOf() []asker {
	var out []asker
	add := func(role, as int, actor task.Actor) {
		one := asker{role: int8(role), as: int8(as), via: actor.Via != "", asks: make([]bool, len(w.def.Transitions))}
		for n := range w.def.Transitions {
			edge := &w.def.Transitions[n]
			one.asks[n] = decide.Allows(edge, actor) &&
				(as < 0 || !decide.Allows(edge, task.Actor{Role: task.RoleHuman}))
		}
		out = append(out, one)
	}
	for r, name := range w.roles {
		add(r, -1, task.Actor{Role: name})
	}
	add(-1, -1, task.Actor{Role: task.RoleHuman})
	for _, name := range w.speakers {
		add(-1, slices.Index(w.roles, name), task.Actor{Role: task.RoleHuman, As: name})
	}
	if w.resets {
		add(-1, -1, task.Actor{Role: task.RoleHuman, Via: "a program"})
	}
	return out
}

// requests makes one actor ask for every move for which it may ask.
func (w *walk) requests(at int32, c config, one *asker) {
	all := w.movesFor(c, one)
	for i := range all {
		e := all[i].event
		if !one.asks[e.edge] || e.override && (one.role >= 0 || one.as >= 0) {
			continue
		}
		e.role, e.as = one.role, one.as
		w.follow(at, c, e, &all[i])
	}
}

// movesFor returns the moves for one who asks. For a program they are those from which something else follows than
// from the same request of a person, who asks too.
func (w *walk) movesFor(c config, one *asker) []outcome {
	if !one.via {
		return w.moves(c, one.role < 0)
	}
	return w.follows.of(class{aProgramMove, w.here}, func() (out []outcome) {
		persons := w.moves(c, true)
		for _, o := range w.moves(c, false) {
			if !slices.Contains(persons, o) {
				out = append(out, o)
			}
		}
		return out
	})
}
