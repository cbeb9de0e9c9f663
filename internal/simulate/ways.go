package simulate

import (
	"cmp"
	"slices"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// way is a move that somebody may ask for now.
type way struct {
	edge    *workflow.Transition
	to      task.Status
	onward  bool // it is on the straight way
	fails   bool // it is for what did not go well
	aside   bool
	givesUp bool
}

// ways are the moves that an actor may ask for, the straightest first.
func (r *run) ways(t task.Task, actor task.Actor) []way {
	var out []way
	for i := range r.Workflow.Transitions {
		edge := &r.Workflow.Transitions[i]
		if !decide.Leads(edge, t) || !decide.Passes(edge, t) || !decide.Allows(edge, actor) {
			continue
		}
		w := way{edge: edge, to: edge.To}
		if edge.To == workflow.Previous {
			to, err := decide.Back(r.Workflow, t, task.Request{Task: t.ID, To: edge.To, Actor: actor})
			if err != nil {
				continue
			}
			w.to = to
		}
		marks := decide.Marks(r.Workflow, w.to)
		w.givesUp = marks.Terminal && !marks.Well
		w.aside = aside(r.Workflow, w.to)
		w.onward, w.fails = r.chart.straight[i], r.chart.fails[i]
		if r.chart.astray(t.Status) {
			w.onward = !w.fails && !w.givesUp && w.to != t.Status
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b way) int { return cmp.Compare(r.rank(a), r.rank(b)) })
	return out
}

func (r *run) rank(w way) int {
	rank := min(r.chart.cost[w.to], far)
	if !w.onward {
		rank += 2 * far
		if w.aside { // before a task is put aside, what went wrong is said
			rank += far
		}
	}
	if w.givesUp {
		rank += 4 * far
	}
	return rank
}

// wander is the way of somebody who goes round: back to where the task has been, if that can be; else anywhere
// but to its end.
func (r *run) wander(ways []way) way {
	var back, on []way
	for _, w := range ways {
		switch {
		case w.givesUp:
		case r.visited[w.to]:
			back = append(back, w)
		default:
			on = append(on, w)
		}
	}
	for _, some := range [][]way{back, on} {
		if len(some) > 0 {
			return some[r.dice.IntN(len(some))]
		}
	}
	return ways[0]
}

// pick is the way that somebody takes: the straightest, or, where it shall not be, one that says what went wrong,
// if there is any.
func (r *run) pick(ways []way, onward bool) (way, bool) {
	if len(ways) == 0 {
		return way{}, false
	}
	if onward || len(ways) == 1 {
		return ways[0], true
	}
	var said, others []way
	for _, w := range ways {
		switch {
		case w.onward || w.givesUp:
		case len(w.edge.Gate) > 0 || w.fails:
			said = append(said, w)
		default:
			others = append(others, w)
		}
	}
	if len(said) == 0 {
		said = others
	}
	if len(said) == 0 {
		return ways[0], true
	}
	return said[r.dice.IntN(len(said))], true
}
