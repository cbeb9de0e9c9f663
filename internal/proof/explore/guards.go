package explore

import (
	"fmt"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// judgeGuards checks that of the transitions between two states at most one is open, and that of those that share a
// gate one is.
func (w *walk) judgeGuards() {
	seen, rivals := map[view]bool{}, w.rivals()
	for i, c := range w.configs {
		if seen[c.view()] {
			continue
		}
		seen[c.view()] = true
		t := w.taskOf(c)
		w.overlaps(int32(i), t, rivals)
		w.holes(int32(i), t)
	}
}

// rivals are, for each transition, those before it between the same states that someone may take with it.
func (w *walk) rivals() [][]int {
	out := make([][]int, len(w.def.Transitions))
	for _, leaving := range w.leaving {
		for i, n := range leaving {
			edge := &w.def.Transitions[n]
			for _, m := range leaving[:i] {
				before := &w.def.Transitions[m]
				if edge.To == before.To && oneMayTake(edge, before) && !workflow.Exclude(edge.Gate, before.Gate) {
					out[n] = append(out[n], m)
				}
			}
		}
	}
	return out
}

// overlaps reports two transitions between the same states that are open to someone at once.
func (w *walk) overlaps(at int32, t task.Task, rivals [][]int) {
	open := func(n int) bool {
		edge := &w.def.Transitions[n]
		return decide.Leads(edge, t) && decide.Passes(edge, t)
	}
	for _, n := range w.leaving[w.configs[at].status] {
		if !slices.ContainsFunc(rivals[n], open) || !open(n) {
			continue
		}
		edge := &w.def.Transitions[n]
		w.report(Disjoint, flaw{
			at: at, pos: edge.Pos, suggestion: "make their guards exclude one another",
			message: fmt.Sprintf("two transitions from %q to %q are open at once%s", edge.From, edge.To,
				w.standing(w.configs[at])),
		})
	}
}

// oneMayTake reports whether there is a role that may ask for both transitions.
func oneMayTake(a, b *workflow.Transition) bool {
	return len(a.By) == 0 || len(b.By) == 0 ||
		slices.ContainsFunc(a.By, func(role string) bool { return slices.Contains(b.By, role) })
}

// holes reports evidence that leads to several states by a counter, and to none of them here.
func (w *walk) holes(at int32, t task.Task) {
	for _, n := range w.leaving[w.configs[at].status] {
		edge := &w.def.Transitions[n]
		if len(w.alike[n]) == 0 || len(edge.Gate) == 0 || !decide.Leads(edge, t) {
			continue
		}
		cases, some := 1, decide.Passes(edge, t)
		for _, m := range w.alike[n] {
			if other := &w.def.Transitions[m]; decide.Leads(other, t) {
				cases++
				some = some || decide.Passes(other, t)
			}
		}
		if cases > 1 && !some {
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
	if len(w.flaws[NoDeadEnd]) > 0 {
		return
	}
	var results [][]result
	for i := range w.def.States {
		results = append(results, w.resultsIn(int16(i)))
	}
	seen := map[view]bool{}
	for i, c := range w.configs {
		if seen[c.view()] || c.owed != 0 {
			continue
		}
		seen[c.view()] = true
		t := w.taskOf(c)
		for _, o := range results[c.status] {
			w.judgeOutcome(int32(i), t, o)
		}
	}
}

// resultsIn are the results of a state where an agent judges, as far as the file speaks of them or of the other one.
func (w *walk) resultsIn(status int16) []result {
	var out []result
	add := func(p workflow.Part, bad bool) {
		o := result{section: p.Section, check: p.Check, bad: bad}
		same := func(have result) bool {
			return have.section == o.section && have.check == o.check && have.bad == o.bad
		}
		if o.find(w.def, w.leaving[status]); o.told != nil && !slices.ContainsFunc(out, same) {
			out = append(out, o)
		}
	}
	if role := w.def.States[status].Role; role == "" || role == task.RoleHuman {
		return nil
	}
	for _, n := range w.leaving[status] {
		gate := w.def.Transitions[n].Gate
		for _, p := range workflow.Leaves(gate) {
			if p.Section != "" && p.Verdict != "" {
				add(p, false)
				add(p, true)
			}
		}
		for _, p := range workflow.Certain(gate) {
			// who works there mends what is red, and who gives a verdict can refuse it
			if p.Check != "" && !w.works(status) && len(workflow.Verdicts(gate)) == 0 {
				add(p, true)
			}
		}
	}
	return out
}

// result is what a verdict or a check may come to in a state, good or bad, with the moves that ask for it.
type result struct {
	section, check string
	bad            bool
	moves          []*workflow.Transition
	told           *workflow.Transition // where the file speaks of it, else where it speaks of the good one
}

func (o *result) find(def *workflow.Definition, leaving []int) {
	for _, n := range leaving {
		edge := &def.Transitions[n]
		is := o.askedBy(edge, o.bad)
		switch {
		case is && len(o.moves) == 0, o.told == nil && o.askedBy(edge, false):
			o.told = edge
		}
		if is {
			o.moves = append(o.moves, edge)
		}
	}
}

// words name the result.
func (o *result) words() (what, short string) {
	switch {
	case o.check != "":
		return fmt.Sprintf("the check %q that failed", o.check), "a check that failed"
	case o.bad:
		return fmt.Sprintf("the verdict FAIL in %q", o.section), "FAIL"
	}
	return fmt.Sprintf("the verdict PASS in %q", o.section), "PASS"
}

// askedBy reports whether a gate asks for the result, or for the other one.
func (o *result) askedBy(edge *workflow.Transition, bad bool) bool {
	return slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool {
		if o.check != "" {
			return p.Check == o.check && (p.Result == workflow.CheckFailed) == bad
		}
		return p.Section == o.section && p.Verdict != "" && (p.Verdict == "FAIL") == bad
	})
}

// judgeOutcome reports a result that opens no move in a configuration.
func (w *walk) judgeOutcome(at int32, t task.Task, o result) {
	if slices.ContainsFunc(o.moves, func(edge *workflow.Transition) bool {
		return decide.Leads(edge, t) && decide.Passes(edge, t)
	}) {
		return
	}
	what, short := o.words()
	w.report(Disjoint, flaw{
		at: at, pos: o.told.Pos,
		message: fmt.Sprintf("in %q %s opens no move%s", o.told.From, what, w.standing(w.configs[at])),
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
