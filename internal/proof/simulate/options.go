package simulate

import (
	"cmp"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// option is a move that an actor may request now.
type option struct {
	edge    *workflow.Transition
	to      task.Status
	onPath  bool // it is on the straight path
	fails   bool // it is for failures
	detour  bool
	givesUp bool
}

// options are the moves that an actor may request, the straightest first.
func (r *run) options(t task.Task, actor task.Actor) []option {
	var out []option
	for i := range r.Workflow.Transitions {
		edge := &r.Workflow.Transitions[i]
		if !decide.Leads(edge, t) || !decide.Passes(edge, t) || !decide.Allows(edge, actor) {
			continue
		}
		w := option{edge: edge, to: edge.To}
		if edge.To == workflow.Previous {
			to, err := decide.Back(r.Workflow, t, task.Request{Task: t.ID, To: edge.To, Actor: actor})
			if err != nil {
				continue
			}
			w.to = to
		}
		marks := decide.Marks(r.Workflow, w.to)
		w.givesUp = marks.Terminal && !marks.Well
		w.detour = isDetour(r.Workflow, w.to)
		w.onPath, w.fails = r.paths.straight[i], r.paths.fails[i]
		if r.paths.offPath(t.Status) {
			w.onPath = !w.fails && !w.givesUp && w.to != t.Status
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b option) int { return cmp.Compare(r.rank(a), r.rank(b)) })
	return out
}

func (r *run) rank(w option) int {
	rank := min(r.paths.cost[w.to], far)
	if !w.onPath {
		rank += 2 * far
		if w.detour { // a failure is reported first
			rank += far
		}
	}
	if w.givesUp {
		rank += 4 * far
	}
	return rank
}

// wander is a random option that leads back to where the task has been, if there is one; else any but giving up.
func (r *run) wander(options []option) option {
	var back, on []option
	for _, w := range options {
		switch {
		case w.givesUp:
		case r.visited[w.to]:
			back = append(back, w)
		default:
			on = append(on, w)
		}
	}
	for _, some := range [][]option{back, on} {
		if len(some) > 0 {
			return some[r.random.IntN(len(some))]
		}
	}
	return options[0]
}

// pick is the straightest option; or, unless onward, a random one for a failure, if there is any.
func (r *run) pick(options []option, onward bool) (option, bool) {
	if len(options) == 0 {
		return option{}, false
	}
	if onward || len(options) == 1 {
		return options[0], true
	}
	var said, others []option
	for _, w := range options {
		switch {
		case w.onPath || w.givesUp:
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
		return options[0], true
	}
	return said[r.random.IntN(len(said))], true
}
