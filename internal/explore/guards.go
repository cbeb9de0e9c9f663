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

// overlaps reports two transitions between the same states that are open to someone at once.
func (w *walk) overlaps(at int32, t task.Task, there []int) {
	open := map[task.Status][]int{}
	for _, n := range there {
		edge := &w.def.Transitions[n]
		if !decide.Passes(edge, t) {
			continue
		}
		if slices.ContainsFunc(open[edge.To], func(m int) bool {
			before := &w.def.Transitions[m]
			return oneMayTake(edge, before) && !workflow.Exclude(edge.Gate, before.Gate)
		}) {
			w.report(Disjoint, flaw{
				at: at, pos: edge.Pos, suggestion: "make their guards exclude one another",
				message: fmt.Sprintf("two transitions from %q to %q are open at once%s", edge.From, edge.To,
					w.standing(w.configs[at])),
			})
		}
		open[edge.To] = append(open[edge.To], n)
	}
}

// oneMayTake reports whether there is a role that may ask for both transitions.
func oneMayTake(a, b *workflow.Transition) bool {
	return len(a.By) == 0 || len(b.By) == 0 ||
		slices.ContainsFunc(a.By, func(role string) bool { return slices.Contains(b.By, role) })
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

// judgeOutcomes reports results that open no move where an agent judges: the task stays with what was found. A judge
// that can accept can refuse, and a check that can pass can fail. Where nothing leads on at all, only that is reported.
func (w *walk) judgeOutcomes() {
	seen := map[view]bool{}
	for i, c := range w.configs {
		state := &w.def.States[c.status]
		if seen[c.view()] || c.owed != 0 || state.Role == "" || state.Role == task.RoleHuman ||
			len(w.flaws[NoDeadEnd]) > 0 {
			continue
		}
		seen[c.view()] = true
		t := w.taskOf(c)
		for _, n := range w.leaving[c.status] {
			gate := w.def.Transitions[n].Gate
			for _, p := range workflow.Leaves(gate) {
				if p.Section != "" && p.Verdict != "" {
					w.judgeOutcome(int32(i), t, outcomeOf(p), false)
					w.judgeOutcome(int32(i), t, outcomeOf(p), true)
				}
			}
			for _, p := range workflow.Certain(gate) {
				// who works there mends what is red, and who gives a verdict can refuse it
				if p.Check != "" && !w.works(c.status) && len(workflow.Verdicts(gate)) == 0 {
					w.judgeOutcome(int32(i), t, outcomeOf(p), true)
				}
			}
		}
	}
}

// result is what a verdict or a check may come to.
type result struct{ section, check string }

func outcomeOf(p workflow.Part) result { return result{p.Section, p.Check} }

// words name a result, good or bad.
func (o result) words(bad bool) (what, short string) {
	switch {
	case o.check != "":
		return fmt.Sprintf("the check %q that failed", o.check), "a check that failed"
	case bad:
		return fmt.Sprintf("the verdict FAIL in %q", o.section), "FAIL"
	}
	return fmt.Sprintf("the verdict PASS in %q", o.section), "PASS"
}

// asks reports whether a gate asks for a result.
func (o result) asks(edge *workflow.Transition, bad bool) bool {
	return slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool {
		if o.check != "" {
			return p.Check == o.check && (p.Result == workflow.CheckFailed) == bad
		}
		return p.Section == o.section && p.Verdict != "" && (p.Verdict == "FAIL") == bad
	})
}

// judgeOutcome reports a result that opens no move in a configuration: where the file speaks of it, else where it
// speaks of the other one.
func (w *walk) judgeOutcome(at int32, t task.Task, o result, bad bool) {
	var told *workflow.Transition
	for _, n := range w.leaving[w.configs[at].status] {
		edge := &w.def.Transitions[n]
		is := o.asks(edge, bad)
		switch {
		case is && decide.Leads(edge, t) && decide.Passes(edge, t):
			return
		case told == nil && (is || o.asks(edge, false)), is && !o.asks(told, bad):
			told = edge
		}
	}
	if told == nil {
		return // the file speaks only of the bad one
	}
	what, short := o.words(bad)
	w.report(Disjoint, flaw{
		at: at, pos: told.Pos,
		message: fmt.Sprintf("in %q %s opens no move%s", told.From, what, w.standing(w.configs[at])),
		suggestion: fmt.Sprintf("give %s a move at every count, such as one to a state where a person decides: a "+
			"guard on the last one needs a way for the one behind it", short),
	})
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
