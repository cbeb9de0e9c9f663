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
// they are, or are set; the start of an agent depends on none. So decide is asked once for all configurations that
// differ in nothing but such counters; a person's request is judged on counters that the person has set back, so that
// these make no difference to it either. TestWhatIsCarriedAlongMakesNoDifference compares the result with what decide
// answers for every count.

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
	rest     // see death, restart and begun
)

// death is what follows where the agent of a role ends, and restart where a person starts it although it lives.
func death(role int) int   { return rest + 2*role }
func restart(role int) int { return rest + 2*role + 1 }

// begun is what follows where a person takes the task back to one of the states that can begin again.
func (w *walk) begun(state int) int { return rest + 2*len(w.roles) + state }

// viewed is what decide answered for all configurations with one view.
type viewed struct {
	view    view
	follows []int32 // from events of each kind: its place in the walk's list; 0 where that was not asked yet
	touched int32   // the counters after a person has changed the task; -1 where that was not asked yet
}

// goTo makes a configuration the one whose events are followed.
func (w *walk) goTo(c config) {
	n, known := w.numberOf[c.view()]
	if !known {
		n = int32(len(w.views))
		w.numberOf[c.view()] = n
		w.views = append(w.views, viewed{c.view(), make([]int32, w.begun(len(w.def.Redo))), -1})
	}
	w.viewOf = append(w.viewOf, n)
	w.here = &w.views[n]
}

// once returns what follows from events of a kind in the present configuration. It is asked once for each view.
func (w *walk) once(what int, ask func() []outcome) []outcome {
	have := &w.here.follows[what]
	if *have == 0 {
		out := ask()
		w.outcomes = append(w.outcomes, out)
		*have = int32(len(w.outcomes))
	}
	return w.outcomes[*have-1]
}

// class names configurations in which the same follows from an event. The view has only the counters that make a
// difference.
type class struct {
	what int
	view view
}

// split is a list of counters, in two parts.
type split struct {
	asked   int32 // those that make a difference
	carried int32
}

// answered is what follows for a class: for each outcome, which counters are what decide has made of them.
type answered struct {
	outcomes []outcome
	made     [][]bool
}

// alikeIn returns what follows from an event of a kind in the present configuration, with some counters. It asks only
// for the first configuration of its class, and has the counters of the others come along.
func (w *walk) alikeIn(what int, counters int32, ask func() []outcome) []outcome {
	if w.whole {
		return w.once(what, ask)
	}
	return w.once(what, func() []outcome {
		at := w.here.view
		at.counters = counters
		parts := w.split(what, at)
		key := class{what, at}
		key.view.counters = parts.asked
		known, found := w.classOf[key]
		if !found {
			known.outcomes = ask()
			for i := range known.outcomes {
				known.made = append(known.made, w.madeBy(what, at, &known.outcomes[i]))
			}
			w.classOf[key] = known
			return known.outcomes
		}
		w.room -= outcomeBytes * len(known.outcomes)
		out := slices.Clone(known.outcomes)
		for i := range out {
			after := &out[i].after
			after.counters = w.joined(after.status, known.made[i], after.counters, parts.carried)
		}
		return out
	})
}

// madeBy are the counters that make a difference to what follows in a view, and those that the outcome sets: by hooks,
// and the failures of a state that a person has done again.
func (w *walk) madeBy(what int, of view, o *outcome) []bool {
	made, to := slices.Clone(w.asked(what, of)), w.def.States[o.after.status].Name
	for n, name := range w.count.names {
		sets := func(h task.Hook) bool { return setsField(h, name, to) }
		made[n] = made[n] || o.event.kind == isRedo && name == task.Failures(to) ||
			slices.ContainsFunc(w.lists[o.wants], sets)
	}
	return made
}

// asked are the counters that make a difference to what follows from events of a kind in a view.
func (w *walk) asked(what int, of view) []bool {
	if w.isStart(what) {
		return w.count.none
	}
	return w.count.asked[of.status][of.previous+1]
}

// isStart reports whether an agent is started again, or a state begun again: what follows depends on no counter.
func (w *walk) isStart(what int) bool {
	return what == aRevival || what == aRespawn || what >= w.begun(0) || what >= rest && what == restart((what-rest)/2)
}

// split divides the counters of a view for events of a kind.
func (w *walk) split(what int, of view) split {
	if w.isStart(what) {
		return split{0, of.counters} // the list of none is the first
	}
	of.workspace = false // it makes no difference
	parts, known := w.splitOf[of]
	if !known {
		asked, carried := slices.Clone(w.counts[of.counters]), slices.Clone(w.counts[of.counters])
		for n, makes := range w.count.asked[of.status][of.previous+1] {
			if makes {
				carried[n] = 0
			} else {
				asked[n] = 0
			}
		}
		parts = split{w.tally(asked), w.tally(carried)}
		w.splitOf[of] = parts
	}
	return parts
}

// joined are the counters in a state after an event: those that it has made, and those that are carried along.
func (w *walk) joined(state int16, made []bool, after, carried int32) int32 {
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
			if h.Action == action.IncrementReviewRound {
				asked[task.ReviewRound] = true
			}
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
