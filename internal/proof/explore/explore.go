// Package explore is the prover: it follows a task into every configuration that a workflow lets it come to, and
// reports which properties hold there.
//
// It owns what a configuration is, which events there are, and the properties that it checks in all of them.
// It owns no rule: decide determines what follows from an event, as it does for the engine.
package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// Most is the number of configurations after which the search gives up, unless the caller sets another one. It gives
// up earlier if these are large, or have many ways out: with Most a process takes at most 500 MB.
const Most = 500_000

// MostAtCreation is the limit while a person waits for their task: at most about 2 seconds and 200 MB.
const MostAtCreation = 100_000

// Report is the result of the check of a workflow.
type Report struct {
	Configurations int
	// TooMany reports that the search gave up: nothing is proved then. The verdicts are what it found broken so far.
	TooMany bool
	// Vast are the states with more combinations of evidence than Orange tried: there it met each gate on its own,
	// and proved nothing.
	Vast     []TooMany
	Bound    Bound
	Verdicts []Verdict
	Passed   []guarantee.GoodEnd // by good end; empty where the search gave up
}

// Bound is how far agents, exit rules and timers go by themselves at most, between one act of a person and the next.
type Bound struct {
	Moves  int `json:"moves"`   // of the task
	Agents int `json:"agents"`  // started
	Rounds int `json:"reviews"` // reviewers among those
	// Limits is how often more an agent is started that ends at its provider's limit and leaves nothing new.
	Limits int `json:"limits"`
	// Because says which counters make it so much: how far they come on the way with the most agents.
	Because string `json:"because,omitempty"`
}

// Verdict is the result for one property.
type Verdict struct {
	Name       string     `json:"name"`
	OK         bool       `json:"ok"`
	Allowed    string     `json:"allowed"` // the reason for which the file does without it; empty when it does not
	Message    string     `json:"message"` // what is wrong, in a sentence
	Steps      []string   `json:"steps"`   // the shortest way there, in words; empty where no way is needed to see it
	Line       int        `json:"line"`    // what is to blame
	Col        int        `json:"column"`
	Suggestion string     `json:"suggestion"`
	Risk       string     `json:"risk"` // what can happen to who leaves it so
	More       []yaml.Pos `json:"-"`    // further places where the same is wrong, in the order of the file
}

// Tell describes in lines what is wrong, where in the file, how a task comes there, and what to do.
func (v Verdict) Tell(file string) string {
	var b strings.Builder
	if v.Allowed != "" {
		fmt.Fprintf(&b, "%s:%d:%d: allowed: %s [%s]\n  because: %s", file, v.Line, v.Col, v.Message, v.Name, v.Allowed)
		return b.String()
	}
	fmt.Fprintf(&b, "%s:%d:%d: finding: %s [%s]", file, v.Line, v.Col, v.Message, v.Name)
	for i, step := range v.Steps {
		fmt.Fprintf(&b, "\n  %d. %s", i+1, step)
	}
	fmt.Fprintf(&b, "\n  can happen: %s\n  to do: %s", v.Risk, v.Suggestion)
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

// Failed reports whether the property is broken and the file gives no reason for that.
func (v Verdict) Failed() bool { return !v.OK && v.Allowed == "" }

// Failed are the verdicts of the properties that are broken without a reason: the findings.
func (r Report) Failed() []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return !v.Failed() })
}

// Excuse is the text for a file that has to allow its findings.
func (r Report) Excuse() string {
	var names []string
	for _, v := range r.Failed() {
		names = append(names, v.Name+": REASON")
	}
	return "allow: {" + strings.Join(names, ", ") + "}"
}

// NotProved returns, in a sentence for each reason, why Orange did not look at the whole of the workflow. It is empty
// if Orange did.
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

// Proved reports whether Orange looked at the whole of the workflow and every property holds, or has a reason not to.
func (r Report) Proved() bool { return len(r.NotProved()) == 0 && len(r.Failed()) == 0 }

// Check explores a workflow. It gives up after so many configurations.
func Check(def *workflow.Definition, most int) Report {
	return CheckWithProgress(def, most, nil)
}

// CheckWithProgress is Check, and shows each configuration as it explores it, with how many came before.
func CheckWithProgress(def *workflow.Definition, most int, progress func(before int, c Configuration)) Report {
	w := newWalk(def, most)
	w.progress = progress
	r := w.findings()
	if len(r.NotProved()) == 0 {
		r.Passed = w.table()
	}
	return r
}

// Findings is Check without what a task has passed at its end.
func Findings(def *workflow.Definition, most int) Report { return newWalk(def, most).findings() }

func (w *walk) findings() Report {
	w.explore()
	r := Report{Configurations: len(w.configs), TooMany: w.tooMany, Vast: w.forge.vast}
	if !w.tooMany {
		r.Bound = w.judge()
	}
	if len(r.Vast) > 0 {
		r.Bound = Bound{} // there may be unexplored ways
	}
	w.dropMilder()
	for _, p := range Properties() {
		v := w.verdict(p)
		if v.OK && len(r.NotProved()) > 0 {
			continue // unknown
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

// dropMilder removes milder flaws where the same line, or the same property, is broken: the report has such a fault
// once, by the graver name.
func (w *walk) dropMilder() {
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

// verdict is the result for a property, by the flaws that were found.
func (w *walk) verdict(property Property) Verdict {
	v := Verdict{Name: property.Name, OK: true, Allowed: reasonFor(w.def, property.Name)}
	flaws := w.flaws[property.Name]
	if len(flaws) == 0 {
		return v
	}
	f := flaws[0] // where one of them is grave no milder one is left
	v.OK, v.Message, v.Line, v.Col, v.Suggestion, v.Risk, v.More = false, f.message, f.pos.Line, f.pos.Col,
		f.suggestion, property.Risk, places(flaws, f)
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

func reasonFor(def *workflow.Definition, property string) string {
	for _, a := range def.Allow {
		if a.Property == property {
			return a.Reason
		}
	}
	return ""
}
