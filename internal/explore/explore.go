// Package explore is the prover: it follows a task into every configuration that a workflow lets it come to, and
// says which promises hold there.
//
// It owns what a configuration is, which events there are, and the properties that are asked of all of them.
// It owns no rule: what follows from an event, decide says, as it says it to the engine.
package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/workflow"
	"orange/internal/yaml"
)

// Most is the number of configurations after which the search gives up, where nobody says another one. It gives
// up earlier where these are large, or have many ways out: with Most a process takes 500 MB at most.
const Most = 500_000

// MostAtCreation is the same where a person waits for their task: about 2 seconds, and 200 MB at most.
const MostAtCreation = 100_000

// Edition is the number of what is proved, and how. It grows with every property that is added or comes to ask
// for more: what was proved before is to be proved again then.
const Edition = 2

// Report is what was found out about a workflow.
type Report struct {
	Configurations int
	// TooMany says that the search gave up: nothing is proved then. The verdicts are what was found broken until there.
	TooMany bool
	// Vast are the states with more combinations of evidence than were tried: there each gate was met on its own,
	// and nothing is proved.
	Vast     []TooMany
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
	More       []yaml.Pos // further places where the same is wrong, in the order of the file
	Mild       bool       // all of it leaves the task where a person finds it, with a mark
}

// Tell says in lines what is wrong, where in the file, how a task comes there, and what is to be done.
func (v Verdict) Tell(file string) string {
	var b strings.Builder
	word := "broken"
	switch {
	case v.Allowed != "":
		fmt.Fprintf(&b, "%s:%d:%d: allowed: %s [%s]\n  because: %s", file, v.Line, v.Col, v.Message, v.Name, v.Allowed)
		return b.String()
	case v.Mild:
		word = "warning"
	}
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]", file, v.Line, v.Col, word, v.Message, v.Name)
	for i, step := range v.Steps {
		fmt.Fprintf(&b, "\n  %d. %s", i+1, step)
	}
	fmt.Fprintf(&b, "\n  to do: %s", v.Suggestion)
	if len(v.More) > 0 {
		fmt.Fprintf(&b, "\n  the same is wrong on %s", linesOf(v.More))
	}
	return b.String()
}

func linesOf(places []yaml.Pos) string {
	if len(places) == 1 {
		return fmt.Sprintf("line %d", places[0].Line)
	}
	out := make([]string, len(places))
	for i, at := range places {
		out[i] = strconv.Itoa(at.Line)
	}
	last := len(out) - 1
	return "the lines " + strings.Join(out[:last], ", ") + " and " + out[last]
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

// Excuse is what a file says that shall do without the properties for which it is refused.
func (r Report) Excuse() string {
	var names []string
	for _, v := range r.Refused() {
		names = append(names, v.Name+": REASON")
	}
	return "allow: {" + strings.Join(names, ", ") + "}"
}

// NotProved says, in a sentence for each reason, why the whole of the workflow was not looked at. It is empty
// where it was.
func (r Report) NotProved() []string {
	var out []string
	if r.TooMany {
		out = append(out, fmt.Sprintf("there was too much to follow: it gave up after %d configurations; "+
			"fewer counters, or smaller numbers in guards, would help", r.Configurations))
	}
	for _, v := range r.Vast {
		out = append(out, fmt.Sprintf("in the state %q these can be there in more than %d combinations, which "+
			"gates look at together: %s; ask for fewer of them in one gate",
			v.State, maxLooks, strings.Join(v.Parts, ", ")))
	}
	return out
}

// Proved says whether the whole of the workflow was looked at and every property holds, or has a reason not to.
func (r Report) Proved() bool { return len(r.NotProved()) == 0 && len(r.Failed()) == 0 }

// Check explores a workflow. It gives up after so many configurations.
func Check(def *workflow.Definition, most int) Report {
	return CheckWithProgress(def, most, nil)
}

// CheckWithProgress is Check, and tells again and again how many configurations it has explored.
func CheckWithProgress(def *workflow.Definition, most int, progress func(configurations int)) Report {
	w := newWalk(def, most)
	w.progress = progress
	w.explore()
	r := Report{Configurations: len(w.configs), TooMany: w.tooMany, Vast: w.forge.vast}
	if !w.tooMany {
		r.Bound = w.judge()
	}
	if len(r.Vast) > 0 {
		r.Bound = Bound{} // there may be ways that nobody has gone
	}
	w.dropWarned()
	for _, p := range Properties() {
		v := w.verdict(p.Name)
		if v.OK && len(r.NotProved()) > 0 {
			continue // nobody knows
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

// dropWarned takes back what is only warned of where the same line, or the same property, is broken: it is told
// once, by the graver name.
func (w *walk) dropWarned() {
	broken := map[int]bool{}
	for _, flaws := range w.flaws {
		for _, f := range flaws {
			broken[f.pos.Line] = broken[f.pos.Line] || !f.mild
		}
	}
	for property, flaws := range w.flaws {
		grave := slices.ContainsFunc(flaws, func(f flaw) bool { return !f.mild })
		w.flaws[property] = slices.DeleteFunc(flaws, func(f flaw) bool {
			return f.mild && (grave || broken[f.pos.Line])
		})
	}
}

// verdict is what the flaws that were found say about a property.
func (w *walk) verdict(property string) Verdict {
	v := Verdict{Name: property, OK: true, Allowed: allowed(w.def, property)}
	flaws := w.flaws[property]
	if len(flaws) == 0 {
		return v
	}
	f := flaws[0] // where one of them is graver than a warning no warning is left
	v.OK, v.Message, v.Line, v.Col, v.Suggestion, v.More, v.Mild = false, f.message, f.pos.Line, f.pos.Col,
		f.suggestion, places(flaws, f), f.mild
	if f.at >= 0 {
		v.Steps = w.steps(f.at)
	}
	if f.last != nil {
		v.Steps = append(v.Steps, w.words(f.at, *f.last))
	}
	for _, l := range f.round {
		v.Steps = append(v.Steps, w.words(l.at, l.way))
	}
	return v
}

// places are those of all flaws but one.
func places(flaws []flaw, but flaw) []yaml.Pos {
	var out []yaml.Pos
	for _, f := range flaws {
		if f.pos != but.pos {
			out = append(out, f.pos)
		}
	}
	slices.SortFunc(out, func(a, b yaml.Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return out
}

func allowed(def *workflow.Definition, property string) string {
	for _, a := range def.Allow {
		if a.Property == property {
			return a.Reason
		}
	}
	return ""
}
