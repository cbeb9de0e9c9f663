package simulate

import (
	"cmp"
	"slices"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// far is further than any state is from the end.
const far = 1 << 20

// chart tells for each state how many moves the straight way to a good end has.
type chart map[task.Status]int

// chartOf measures a workflow. The straight way goes through no state that is for tasks which got nowhere, and over no failure.
func chartOf(def *workflow.Definition) chart {
	c := chart{}
	for _, s := range def.States {
		c[s.Name] = far
		if decide.Marks(def, s.Name).Well {
			c[s.Name] = 0
		}
	}
	for range def.States {
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			if aside(def, edge.To) || fails(edge) || c[edge.To] >= far {
				continue
			}
			c[edge.From] = min(c[edge.From], c[edge.To]+1)
		}
	}
	return c
}

// aside says whether a state is beside the straight way: it stands for a task that got nowhere, or that has questions.
func aside(def *workflow.Definition, name task.Status) bool {
	marks := decide.Marks(def, name)
	for _, command := range []string{workflow.MoveStuck, workflow.MoveClarify} {
		if to, said := def.Move(command); said && to == name {
			return true
		}
	}
	return marks.Escalation
}

// fails says whether a transition says that something did not go well.
func fails(edge *workflow.Transition) bool {
	return edge.Failure || slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool {
		return p.Verdict == "FAIL" || p.Result == workflow.CheckFailed
	})
}

// way is a move that somebody may ask for now.
type way struct {
	edge    *workflow.Transition
	to      task.Status
	onward  bool // it is on the straight way
	givesUp bool
}

// ways are the moves that an actor may ask for, the straightest first.
func (r *run) ways(t task.Task, actor task.Actor) []way {
	var out []way
	for i := range r.def.Transitions {
		edge := &r.def.Transitions[i]
		if !decide.Leads(edge, t) || !decide.Passes(edge, t) || !decide.Allows(edge, actor) {
			continue
		}
		w := way{edge: edge, to: edge.To}
		if edge.To == workflow.Previous {
			to, err := decide.Back(r.def, t, task.Request{Task: t.ID, To: edge.To, Actor: actor})
			if err != nil {
				continue
			}
			w.to = to
		}
		marks := decide.Marks(r.def, w.to)
		w.givesUp = marks.Terminal && !marks.Well
		w.onward = !fails(edge) && !aside(r.def, w.to) && r.chart[w.to] < r.chart[t.Status]
		if r.chart[t.Status] >= far || aside(r.def, t.Status) {
			w.onward = !fails(edge) && !w.givesUp && w.to != t.Status
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b way) int { return cmp.Compare(r.rank(a), r.rank(b)) })
	return out
}

func (r *run) rank(w way) int {
	rank := min(r.chart[w.to], far)
	if !w.onward {
		rank += 2 * far
	}
	if w.givesUp {
		rank += 4 * far
	}
	return rank
}

// wander is the way of somebody who goes round: back to where the task has been, if that can be; else anywhere but to its end.
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

// pick is the way that somebody takes: the straightest, or, where it shall not be, one that says what went wrong, if there is any.
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
		case len(w.edge.Gate) > 0 || fails(w.edge):
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
