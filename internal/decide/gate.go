package decide

import (
	"fmt"
	"strings"

	"orange/internal/document"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Evidence is what was read from disk at the moment of the decision, with what the record knows of earlier evidence.
type Evidence struct {
	Document *document.Document // nil when it could not be read
	Trouble  string             // why not
	Spent    []task.Spent       // what earlier transitions of the task rested on
	Entry    []task.Evidence    // what was there when the present status began
	Facts    map[string]Fact    // what was seen of the parts that look elsewhere than in the document, by their Key
}

// Fact is what was seen of one part of a gate that looks at files, checks or git.
type Fact struct {
	Holds  bool
	Source string // "planning/planning.ai.json", "check tests", "git clean"
	Digest string // of Text; empty where there was nothing to see
	Text   string // what was seen, normalised: kept with the decision that rests on it
	Found  string // why it does not hold, for people
	Where  string // a path, with a line where that helps
	Want   string // what would make it hold
}

// Digests are the sections that must be new in a status once it is entered, as they stand before, each once:
// those of which a gate out of it asks that they were written since.
func Digests(def *workflow.Definition, to task.Status, document *document.Document) []task.Evidence {
	if document == nil {
		return nil
	}
	var out []task.Evidence
	for _, name := range since(def, to) {
		if s, present := document.Section(name); present {
			out = addOnce(out, evidenceOf(s))
		}
	}
	return out
}

// since lists the sections that the gates out of a status want written after it began.
func since(def *workflow.Definition, status task.Status) []string {
	var out []string
	add := func(p workflow.Part) {
		if p.Since == workflow.SinceEntry {
			out = append(out, p.Section)
		}
	}
	for i := range def.Transitions {
		if def.Transitions[i].From == status {
			for _, p := range def.Transitions[i].Gate {
				add(p)
			}
		}
	}
	for i := range def.Exit.Rules {
		if rule := &def.Exit.Rules[i]; rule.Status == status && rule.HasArtifact != nil {
			add(*rule.HasArtifact)
		}
	}
	return out
}

// NeedsDocument says whether a request for a status can depend on what stands in the document's body.
// Where it cannot, the body need not be read, however long it is.
func NeedsDocument(def *workflow.Definition, from, to task.Status) bool {
	for _, edge := range edges(def, from, to) {
		if len(edge.Gate) > 0 {
			return true
		}
	}
	return len(since(def, to)) > 0
}

func addOnce(list []task.Evidence, e task.Evidence) []task.Evidence {
	for _, have := range list {
		if have.Source == e.Source {
			return list
		}
	}
	return append(list, e)
}

func evidenceOf(s document.Section) task.Evidence {
	return task.Evidence{Source: "## " + s.Key, Digest: document.Digest(s.Text)}
}

// judgment is the outcome of looking at a whole gate.
type judgment struct {
	unmet  []Detail
	rested []task.Evidence // what the gate rested on, when it is met
	notes  []string
}

func judgeGate(parts []workflow.Part, ev Evidence) judgment {
	var j judgment
	for _, p := range parts {
		judgePart(&j, p, ev)
	}
	return j
}

func judgePart(j *judgment, p workflow.Part, ev Evidence) {
	name := "section " + quoteHeading(p.Section)
	if ev.Document == nil {
		j.unmet = append(j.unmet, Detail{
			Condition: name, Found: "no readable document: " + ev.Trouble, Where: "TASK.md", Want: "make TASK.md a readable text file again",
		})
		return
	}
	s, present := ev.Document.Section(p.Section)
	if !present {
		j.unmet = append(j.unmet, Detail{Condition: name, Found: missing(ev.Document), Where: "TASK.md", Want: "write " + want(p)})
		return
	}
	where := fmt.Sprintf("TASK.md, line %d", s.Line)
	if s.Copies > 1 {
		where += fmt.Sprintf(", the last of %d sections of that name", s.Copies)
		j.notes = append(j.notes, fmt.Sprintf("%s stands %d times: the last one, on line %d, counted", name, s.Copies, s.Line))
	}
	evidence := evidenceOf(s)
	before := len(j.unmet)
	if found := lacks(p, s); found != "" {
		j.unmet = append(j.unmet, Detail{Condition: name, Found: found, Where: where, Want: "write " + want(p)})
	}
	if found := stale(p, evidence, ev); found != "" {
		j.unmet = append(j.unmet, Detail{Condition: name + " is new", Found: found, Where: where, Want: "write it anew for this move"})
	}
	if len(j.unmet) == before {
		j.rested = append(j.rested, evidence)
	}
}

func quoteHeading(section string) string {
	return fmt.Sprintf("%q", "## "+strings.TrimSpace(strings.TrimLeft(section, "# ")))
}

// missing says what stands in the document instead, and what may hide the section.
func missing(d *document.Document) string {
	names := d.SectionNames()
	text := "no such section"
	if len(names) > 0 {
		text += "; there are " + strings.Join(names, ", ")
	}
	for _, p := range d.Problems {
		text += fmt.Sprintf("; line %d: %s", p.Line, p.Text)
	}
	return text
}

// lacks says what of a part's content is not there; empty when all is.
func lacks(p workflow.Part, s document.Section) string {
	if s.Empty() {
		return "an empty section"
	}
	if len(p.Fields) > 0 && len(s.Fields(p.Fields)) == 0 {
		return "none of these labels with something behind it: " + strings.Join(p.Fields, ", ")
	}
	if p.Verdict == "" {
		return ""
	}
	verdict, found := s.FirstVerdict()
	if p.VerdictIn == workflow.VerdictAnywhere {
		verdict, found = s.AnyVerdict()
	}
	switch {
	case verdict == p.Verdict:
		return ""
	case verdict != "":
		return "the verdict " + verdict
	case found == "":
		return "no verdict"
	}
	return fmt.Sprintf("no verdict in %q", found)
}

// stale says why a part's evidence does not count as new; empty when it does or need not.
func stale(p workflow.Part, e task.Evidence, ev Evidence) string {
	if p.Fresh {
		for _, spent := range ev.Spent {
			if spent.Evidence == e {
				return fmt.Sprintf("a text identical to what moved the task at event %d", spent.Seq)
			}
		}
	}
	if p.Since == workflow.SinceEntry {
		for _, at := range ev.Entry {
			if at == e {
				return "a text that was there already when the present status began"
			}
		}
	}
	return ""
}

// want describes what would meet a part.
func want(p workflow.Part) string {
	text := quoteHeading(p.Section)
	switch {
	case p.Verdict != "" && p.VerdictIn == workflow.VerdictFirstLine:
		return fmt.Sprintf("%s with the first line %q", text, "Verdict: "+p.Verdict)
	case p.Verdict != "":
		return fmt.Sprintf("%s with the word %s in it", text, p.Verdict)
	case len(p.Fields) > 0:
		labels := make([]string, len(p.Fields))
		for i, f := range p.Fields {
			labels[i] = f + ":"
		}
		return fmt.Sprintf("%s with at least one of %s and something behind it", text, strings.Join(labels, " "))
	}
	return text + " with something in it"
}
