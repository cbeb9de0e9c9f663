package explore

import (
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What follows from an event depends on few of a task's counters: on those that rules of its status ask for, or a guard
// of a move that leads on from where the task came from, and on those that such a move counts. The others come along as
// they are, or are set. So decide is asked once for all configurations that differ in nothing but such counters; a
// person's request is judged on counters that the person has set back, so that these make no difference to it either.
// TestWhatIsCarriedAlongMakesNoDifference compares the result with what decide answers for every count.

// What configurations may be alike in: what follows from events of one kind.
const (
	aMove        = iota // an agent asks
	aPersonsMove        // a person asks
	aProgramMove        // a program asks for a person, and something else follows than for that person
	aRevival
	aTimer
	aRefusal
	aSetback
	aPull
	aRespawn // by a person, where the state's agent does not live
	rest     // see death, restart and aRedo
)

// death is what follows where the agent of a role ends, and restart where a person starts it although it lives.
func death(role int) int   { return rest + 2*role }
func restart(role int) int { return rest + 2*role + 1 }

// aRedo is what follows where a person takes the task back to one of the states that can begin again.
func (w *walk) aRedo(state int) int { return rest + 2*len(w.roles) + state }

// class names configurations in which the same follows from an event. The view has only the counters that make a
// difference.
type class struct {
	what int
	view view
}

// answered is what follows for a class: for each outcome, which counters are what decide has made of them.
type answered struct {
	outcomes []outcome
	made     [][]bool
}

// alikeIn returns what follows from an event of a kind in the present configuration, with some counters.
func (w *walk) alikeIn(what int, counters int32, ask func() []outcome) []outcome {
	return w.follows.of(class{what, w.here}, func() []outcome { return w.carriedAlong(what, counters, ask) })
}

// carriedAlong asks only for the first configuration of a class, and has the counters of the others come along.
func (w *walk) carriedAlong(what int, counters int32, ask func() []outcome) []outcome {
	at := w.here
	at.counters = counters
	asked, carried := w.split(what, at)
	key := class{what, at}
	key.view.counters = asked
	first := w.classes.of(key, func() answered {
		out := answered{outcomes: ask()}
		for i := range out.outcomes {
			out.made = append(out.made, w.madeBy(what, at, &out.outcomes[i]))
		}
		return out
	})
	w.room -= outcomeBytes * len(first.outcomes)
	out := slices.Clone(first.outcomes)
	for i := range out {
		after := &out[i].after
		after.counters = w.join(after.status, first.made[i], after.counters, carried)
	}
	return out
}

// madeBy are the counters that make a difference to what follows in a view, and those that the outcome sets: by hooks,
// and the failures of a state that a person has done again.
func (w *walk) madeBy(what int, of view, o *outcome) []bool {
	made, to := slices.Clone(w.countersThatMatter(what, of)), w.def.States[o.after.status].Name
	for n, name := range w.count.names {
		sets := func(h task.Hook) bool { return setsField(h, name, to) }
		made[n] = made[n] || o.event.kind == isRedo && name == task.Failures(to) ||
			slices.ContainsFunc(w.lists[o.wants], sets)
	}
	return made
}

// countersThatMatter are the counters that make a difference to what follows from events of a kind in a view.
func (w *walk) countersThatMatter(what int, of view) []bool {
	if w.whole {
		return slices.Repeat([]bool{true}, len(w.count.names))
	}
	return w.count.asked[of.status][of.previous+1]
}

// split divides the counters of a view for events of a kind: into those that make a difference, and the others.
func (w *walk) split(what int, of view) (asked, carried int32) {
	makes, others := slices.Clone(w.counts[of.counters]), slices.Clone(w.counts[of.counters])
	for n, is := range w.countersThatMatter(what, of) {
		if is {
			others[n] = 0
		} else {
			makes[n] = 0
		}
	}
	return w.tally(makes), w.tally(others)
}

// join are the counters in a state after an event: those that it has made, and those that are carried along.
func (w *walk) join(state int16, made []bool, after, carried int32) int32 {
	all := slices.Clone(w.counts[carried])
	for n, value := range w.counts[after] {
		if made[n] {
			all[n] = value
		}
		if !w.count.keeps[state][n] {
			all[n] = 0
		}
	}
	return w.tally(all)
}

// askedFrom are the counters that guards, rules and moves ask for, or change by what they were, in a state to which a
// task came from another one.
func (c *counting) askedFrom(def *workflow.Definition, s workflow.State, previous task.Status) []bool {
	asked := map[string]bool{task.CrashCount: true, task.Failures(s.Name): true}
	guards := func(all []workflow.Guard) {
		for _, g := range all {
			asked[counterOf(g.Field, s.Name)] = true
		}
	}
	for n := range def.Transitions {
		edge := &def.Transitions[n]
		if !decide.Leads(edge, task.Task{Status: s.Name, Previous: previous}) {
			continue
		}
		guards(edge.When)
		for _, h := range edge.Hooks {
			if h.Action != action.SetField { // what was there before makes no difference to that
				asked[counterOf(h.Field, edge.To)] = true
			}
		}
	}
	for _, rule := range s.SendBack {
		guards(rule.When)
	}
	for _, rule := range def.Exit.Rules {
		for _, arm := range rule.ThenWhen {
			if rule.Status == s.Name {
				guards(arm.When)
			}
		}
	}
	out := make([]bool, len(c.names))
	for n, name := range c.names {
		out[n] = asked[name]
	}
	return out
}
