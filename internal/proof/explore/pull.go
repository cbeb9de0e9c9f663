package explore

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Of the events of a pull request: it was merged, or closed, and not by Orange.
const (
	pullMerged = iota
	pullClosed
)

// pullStates are the states of a pull request that has ended, by event.
func pullStates() []string { return []string{record.PRMerged, record.PRClosed} }

// pulls ends the task's pull request. A task can have an open one in each live state: people open them, and tasks begin
// with them.
func (w *walk) pulls(at int32, c config) {
	w.followAll(at, c, w.alikeIn(aPull, c.counters, func() []outcome { return w.pullEnds(c, w.taskOf(c)) }))
}

// pullEnds returns what follows from the end of the task's pull request, once for each transition that evidence opens.
// A task that stays with a mark for a person is no other configuration.
func (w *walk) pullEnds(c config, t task.Task) []outcome {
	t.PRURL, t.PRState = "one", record.PROpen
	var out []outcome
	for on, state := range pullStates() {
		pr := record.PullRequest{URL: t.PRURL, State: state}
		to, said := decide.PRMove(w.def, pr)
		if !said {
			continue
		}
		e := event{kind: isPull, role: -1, as: -1, on: int8(on), to: w.place(to), look: -1}
		looks := w.forge.looks[c.status][1] // a merge needs no worktree
		if !w.whole && !w.asksOnTheWay(c.status, to) {
			looks = looks[:1] // whatever there is
		}
		for _, l := range looks {
			evidence := l.evidence.Merged(w.def, t, to, pr)
			change := decide.PREnded(w.def, t, evidence, pr, "", anyTime())
			if !change.Entered || !c.workspace && w.hasWorktreeFact(evidence) {
				continue
			}
			edge := w.edgeMet(t, to, e, func(n int) bool { return meetsGate(w.def.Transitions[n].Gate, evidence) })
			same := func(o outcome) bool { return int(o.event.edge) == edge && o.event.on == e.on }
			if !slices.ContainsFunc(out, same) {
				out = append(out, w.outcomeOf(e, edge, change))
			}
		}
	}
	return out
}

// asksOnTheWay reports whether a transition from a state to another one asks for evidence.
func (w *walk) asksOnTheWay(from int16, to task.Status) bool {
	return slices.ContainsFunc(w.leaving[from], func(n int) bool {
		return w.def.Transitions[n].To == to && len(w.def.Transitions[n].Gate) > 0
	})
}

// hasWorktreeFact reports whether evidence has the result of a check, or what git shows of a worktree: there is one
// then.
func (w *walk) hasWorktreeFact(evidence decide.Evidence) bool {
	for i := range w.def.Transitions {
		for _, p := range workflow.Leaves(w.def.Transitions[i].Gate) {
			fact := evidence.Facts[p.Key()]
			if fact.Holds && (p.Check != "" || p.Git != "" && fact.Where == "") { // a merge is somewhere
				return true
			}
		}
	}
	return false
}
