// Package explore is the prover: it follows a task into every configuration that a workflow lets it come to, and says which promises hold there.
//
// It owns what a configuration is, which events there are, and the properties that are asked of all of them.
// It owns no rule: what follows from an event, decide says, as it says it to the engine.
package explore

import (
	"slices"

	"orange/internal/workflow"
)

// Most is the number of configurations after which the search gives up, where nobody says another one.
const Most = 500_000

// Report is what was found out about a workflow.
type Report struct {
	Configurations int
	// TooMany says that the search gave up: nothing is proved then, and nothing was found wrong either.
	TooMany bool
	// Coarse are the states with more combinations of evidence than were tried: there each gate was met on its own.
	Coarse   []string
	Bound    Bound
	Verdicts []Verdict
}

// Bound is how far agents, exit rules and timers go by themselves at most, between one act of a person and the next.
type Bound struct {
	Moves  int // of the task
	Agents int // started
	Rounds int // reviewers among those
}

// Verdict is what was found out about one property.
type Verdict struct {
	Name       string
	OK         bool
	Allowed    string   // the reason for which the file does without it; empty when it does not
	Message    string   // what is wrong, in a sentence
	Steps      []string // the shortest way there, in words; empty where no way is needed to see it
	Line, Col  int      // what is to blame
	Suggestion string
	More       int  // further places where the same is wrong
	Mild       bool // all of it leaves the task where a person finds it, with a mark
}

// Failed says whether the property is broken and the file does not say why that is as it should be.
func (v Verdict) Failed() bool { return !v.OK && v.Allowed == "" }

// Failed are the verdicts of the properties that are broken without a reason.
func (r Report) Failed() []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return !v.Failed() })
}

// Refused are those of them for which no task is created.
func (r Report) Refused() []Verdict {
	return slices.DeleteFunc(r.Failed(), func(v Verdict) bool { return v.Mild })
}

// Proved says whether the whole of the workflow was looked at and every property holds, or has a reason not to.
func (r Report) Proved() bool { return !r.TooMany && len(r.Failed()) == 0 }

// Check explores a workflow. It gives up after so many configurations.
func Check(def *workflow.Definition, most int) Report {
	w := newWalk(def, most)
	w.explore()
	r := Report{Configurations: len(w.configs), TooMany: w.tooMany, Coarse: w.forge.coarse}
	if w.tooMany {
		return r
	}
	r.Bound = w.judge()
	for _, p := range Properties() {
		v := Verdict{Name: p.Name, OK: true}
		if flaws := w.flaws[p.Name]; len(flaws) > 0 {
			f := flaws[max(0, slices.IndexFunc(flaws, func(f flaw) bool { return !f.mild }))]
			v = Verdict{
				Name: p.Name, Message: f.message, Line: f.pos.Line, Col: f.pos.Col, Suggestion: f.suggestion, More: len(flaws) - 1, Mild: f.mild,
			}
			if f.at >= 0 {
				v.Steps = w.steps(f.at)
			}
			if f.last != nil {
				v.Steps = append(v.Steps, w.words(f.at, *f.last))
			}
			for _, l := range f.round {
				v.Steps = append(v.Steps, w.words(l.at, l.way))
			}
		}
		v.Allowed = allowed(def, p.Name)
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

func allowed(def *workflow.Definition, property string) string {
	for _, a := range def.Allow {
		if a.Property == property {
			return a.Reason
		}
	}
	return ""
}
