package explore

import (
	"slices"

	"orange/internal/action"
	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

// What follows from an event depends on few of a task's counters: on those that guards and rules of its status ask for,
// and on those that a move out of it changes. The others come along as they are. So decide is asked once for all
// configurations that differ in nothing but such counters; a person's request is judged on counters that the person has
// set back, so that these make no difference to it either. TestWhatIsCarriedAlongMakesNoDifference compares the
// result with what decide answers for every count.

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

// join is what follows for some counters in a view, the hooks that were performed, and the counters that are carried
// along.
type join struct {
	from, previous, to    int16
	wants, after, carried int32
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
		parts := w.split(at)
		key := class{what, at}
		key.view.counters = parts.asked
		known, found := w.classOf[key]
		if !found {
			known = ask()
			w.classOf[key] = known
			return known
		}
		w.room -= outcomeBytes * len(known)
		out := slices.Clone(known)
		for i := range out {
			after := &out[i].after
			after.counters = w.joined(join{at.status, at.previous, after.status, out[i].wants, after.counters,
				parts.carried})
		}
		return out
	})
}

// split divides the counters of a view.
func (w *walk) split(of view) split {
	of.workspace = false // it makes no difference
	parts, known := w.splitOf[of]
	if !known {
		var asked, carried task.Counters
		makes := w.count.asked[of.status][of.previous+1]
		for _, one := range w.tallies[of.counters] {
			if makes[one.Name] {
				asked = append(asked, one)
			} else {
				carried = append(carried, one)
			}
		}
		parts = split{w.tally(asked), w.tally(carried)}
		w.splitOf[of] = parts
	}
	return parts
}

// joined are the counters after an event, with those that are carried along: unless a hook has set them.
func (w *walk) joined(key join) int32 {
	counters, known := w.joinOf[key]
	if known {
		return counters
	}
	var all task.Counters
	follows := func(name string) bool {
		return w.count.asked[key.from][key.previous+1][name] ||
			slices.ContainsFunc(w.lists[key.wants], func(h task.Hook) bool {
				return setsField(h, name, w.def.States[key.to].Name)
			})
	}
	for _, one := range w.tallies[key.carried] {
		if !follows(one.Name) {
			all = all.With(one.Name, one.Value)
		}
	}
	for _, one := range w.tallies[key.after] {
		if follows(one.Name) {
			all = all.With(one.Name, one.Value)
		}
	}
	counters = w.tally(w.count.cut(all, int(key.to)))
	w.joinOf[key] = counters
	return counters
}

// askedIn returns for each state, and each one before it on which moves depend, the counters that guards, rules and
// moves out of it ask for, or change by what they were. The first of a state is for no such state before it.
func askedIn(def *workflow.Definition) [][]map[string]bool {
	out := make([][]map[string]bool, len(def.States))
	for i, s := range def.States {
		out[i] = append(out[i], askedFrom(def, s, ""))
		for _, before := range def.States {
			out[i] = append(out[i], askedFrom(def, s, before.Name))
		}
	}
	return out
}

func askedFrom(def *workflow.Definition, s workflow.State, previous task.Status) map[string]bool {
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
	return asked
}
