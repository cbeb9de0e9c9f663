package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
)

// judgeBound checks that the task comes to rest if no person acts, and returns how far it goes until then.
func (w *walk) judgeBound() Bound {
	order, group := w.groups()
	told := map[int32]bool{}
	for at := range w.configs {
		for _, o := range w.ways[at] {
			if o.person || group[o.to] != group[at] {
				continue
			}
			if !told[group[at]] {
				told[group[at]] = true
				w.tellRound(int32(at), group)
			}
		}
	}
	if len(told) > 0 {
		return Bound{}
	}
	best := make([]Bound, len(w.configs))
	var bound Bound
	for _, at := range order { // what it leads to comes first
		for _, o := range w.ways[at] {
			next := best[o.to]
			next.Agents += int(o.agents)
			next.Rounds += int(o.rounds)
			switch {
			case o.person: // what a person sets going counts with what follows from it
				bound = bound.atLeast(next)
			case o.moves || o.again:
				next.Moves++
				fallthrough
			default:
				best[at] = best[at].atLeast(next)
			}
		}
		bound = bound.atLeast(best[at])
	}
	bound.Because = w.countersOfBound(best)
	return bound
}

// countersOfBound tells how far counters come on the way on which agents are started most.
func (w *walk) countersOfBound(best []Bound) string {
	at := int32(0)
	for i := range best {
		if best[i].Agents > best[at].Agents {
			at = int32(i)
		}
	}
	most := task.Counters{}
	for left := best[at].Agents; ; {
		for _, c := range w.tallies[w.configs[at].counters] {
			if c.Name != task.CrashCount && c.Value > most.Get(c.Name) { // that one ends a way
				most = most.With(c.Name, c.Value)
			}
		}
		if left == 0 {
			break
		}
		next := slices.IndexFunc(w.ways[at], func(o step) bool {
			return !o.person && best[o.to].Agents+int(o.agents) == left
		})
		at = w.ways[at][next].to
		left = best[at].Agents
	}
	var out []string
	for _, c := range most {
		if c.Value > 1 {
			out = append(out, fmt.Sprintf("%s comes to %d", c.Name, c.Value))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (b Bound) atLeast(o Bound) Bound {
	return Bound{Moves: max(b.Moves, o.Moves), Agents: max(b.Agents, o.Agents), Rounds: max(b.Rounds, o.Rounds)}
}

// tellRound reports the shortest round from a configuration back to itself.
func (w *walk) tellRound(start int32, group []int32) {
	from := map[int32]roundStep{}
	open := []int32{start}
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		for _, o := range w.ways[at] {
			if o.person || group[o.to] != group[start] {
				continue
			}
			if _, seen := from[o.to]; seen {
				continue
			}
			from[o.to] = roundStep{at, o}
			if o.to == start {
				open = nil
				break
			}
			open = append(open, o.to)
		}
	}
	var round []roundStep
	for at := start; len(round) == 0 || at != start; at = from[at].at {
		round = append([]roundStep{from[at]}, round...)
	}
	blamed := w.backEdge(round)
	s := w.def.States[w.configs[start].status]
	f := flaw{
		at: start, round: round, pos: w.placeOfWay(blamed.at, blamed.way),
		message: fmt.Sprintf("without a person it goes round forever from %q and back", s.Name) +
			w.standing(w.configs[start]),
		suggestion: "count the rounds with a hook and end them with a guard (when), or let a person make one " +
			"of the moves (by: human)",
	}
	if blamed.way.event.kind == isRevival || blamed.way.event.kind == isDeath {
		f.suggestion = fmt.Sprintf("give %q a crash rule with stuck_after and then, or take respawn: auto out", s.Name)
	}
	w.report(Bounded, f)
}

// backEdge is the leg of a round that leads back: to a state to which a task comes before the one that it leaves.
// If no leg leaves a state, it is the first one that an actor asks for.
func (w *walk) backEdge(round []roundStep) roundStep {
	first := make([]int, len(w.def.States)) // the number of a configuration grows with its distance
	for at := len(w.configs) - 1; at >= 0; at-- {
		first[w.configs[at].status] = at
	}
	var asked []roundStep
	for _, l := range round {
		from, to := w.configs[l.at].status, w.configs[l.way.to].status
		if l.way.moves && first[to] < first[from] {
			return l
		}
		if l.way.moves || l.way.event.kind == isRequest {
			asked = append(asked, l)
		}
	}
	if len(asked) == 0 {
		return round[0]
	}
	return asked[0]
}

// groups puts configurations that lead to one another without a person into one group (Tarjan's algorithm, without
// recursion). In the order, what a configuration leads to comes before it.
func (w *walk) groups() (order, group []int32) {
	const none = -1
	n := len(w.configs)
	group = make([]int32, n)
	index, low, onStack := make([]int32, n), make([]int32, n), make([]bool, n)
	for i := range index {
		index[i], group[i] = none, none
	}
	type frame struct {
		at   int32
		next int
	}
	var stack []int32
	var calls []frame
	count, groups := int32(0), int32(0)
	for root := range n {
		if index[root] != none {
			continue
		}
		calls = append(calls, frame{at: int32(root)})
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			at := f.at
			if f.next == 0 {
				index[at], low[at], onStack[at] = count, count, true
				count++
				stack = append(stack, at)
			}
			deeper := false
			for f.next < len(w.ways[at]) {
				o := w.ways[at][f.next]
				f.next++
				if o.person {
					continue
				}
				if index[o.to] == none {
					calls, deeper = append(calls, frame{at: o.to}), true
					break
				}
				if onStack[o.to] {
					low[at] = min(low[at], index[o.to])
				}
			}
			if deeper {
				continue
			}
			if low[at] == index[at] {
				for {
					top := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[top], group[top] = false, groups
					order = append(order, top)
					if top == at {
						break
					}
				}
				groups++
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				before := calls[len(calls)-1].at
				low[before] = min(low[before], low[at])
			}
		}
	}
	return order, group
}
