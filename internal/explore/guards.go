package explore

import (
	"fmt"
	"slices"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// judgeGuards checks that of the transitions between two states at most one is open, and that of those that share a
// gate one is.
func (w *walk) judgeGuards() {
	seen := map[view]bool{}
	for i, c := range w.configs {
		if seen[c.view()] {
			continue
		}
		seen[c.view()] = true
		t := w.taskOf(c)
		var there []int
		for _, n := range w.leaving[c.status] {
			if decide.Leads(&w.def.Transitions[n], t) {
				there = append(there, n)
			}
		}
		w.overlaps(int32(i), t, there)
		w.holes(int32(i), t, there)
	}
}

// overlaps reports two transitions between the same states that are open at once.
func (w *walk) overlaps(at int32, t task.Task, there []int) {
	first := map[task.Status]int{}
	for _, n := range there {
		edge := &w.def.Transitions[n]
		if !decide.Passes(edge, t) {
			continue
		}
		if before, taken := first[edge.To]; taken && !workflow.Exclude(edge.Gate, w.def.Transitions[before].Gate) {
			w.report(Disjoint, flaw{
				at: at, pos: edge.Pos, suggestion: "make their guards exclude one another",
				message: fmt.Sprintf("two transitions from %q to %q are open at once%s", edge.From, edge.To,
					w.standing(w.configs[at])),
			})
		}
		first[edge.To] = n
	}
}

// holes reports evidence that leads to several states by a counter, and to none of them here.
func (w *walk) holes(at int32, t task.Task, there []int) {
	for _, n := range there {
		edge := &w.def.Transitions[n]
		cases, some := 1, decide.Passes(edge, t)
		for _, m := range w.alike[n] {
			if other := &w.def.Transitions[m]; slices.Contains(there, m) {
				cases++
				some = some || decide.Passes(other, t)
			}
		}
		if cases > 1 && !some && len(edge.Gate) > 0 {
			w.report(Disjoint, flaw{
				at: at, pos: edge.Pos, suggestion: "let the guards of the moves that ask for it cover every case",
				message: fmt.Sprintf("in %q the same evidence leads here or there by a counter, and for this "+
					"count nowhere%s", edge.From, w.standing(w.configs[at])),
			})
			return
		}
	}
}

// alikeGates finds for each transition those out of the same state whose gate asks for the same.
func alikeGates(def *workflow.Definition, leaving [][]int) [][]int {
	forms := make([]string, len(def.Transitions))
	for n := range def.Transitions {
		for _, p := range workflow.Leaves(def.Transitions[n].Gate) {
			forms[n] += fmt.Sprintf("%s %q %q\n", p.Key(), p.Verdict, p.Fields)
		}
	}
	out := make([][]int, len(def.Transitions))
	for _, edges := range leaving {
		for _, n := range edges {
			for _, m := range edges {
				if m != n && forms[n] == forms[m] {
					out[n] = append(out[n], m)
				}
			}
		}
	}
	return out
}
