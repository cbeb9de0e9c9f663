package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Evidence is what was read from disk at the moment of the decision, with what the record knows of earlier evidence.
type Evidence struct {
	Document *document.Document // nil when it could not be read
	Trouble  string             // why not
	TooLarge bool               // that is its size
	Spent    []task.Spent       // what earlier transitions of the task relied on
	Entry    []task.Evidence    // what was there when the present status began
	Start    []task.Evidence    // the verdicts that were there when the present status's agent was started last
	Subject  task.Subject       // what the evidence of this moment is about
	History  []history.Event    // the task's whole history; looked up only where LooksBack says so
	NoRoom   bool               // there is no free workspace for the move
	Landed   string             // the commit that was merged elsewhere: whatever it has passed, that is a fact
	Facts    map[string]Fact    // what was seen of the parts that do not look at the document, by their Key
}

// Fact is what was seen of one part of a gate that looks at files, checks or git.
type Fact struct {
	Holds   bool
	Pending bool   // the check still runs: ask again later
	Moved   bool   // it does not hold, and only because the tip is another commit
	Other   bool   // it does not hold because the work is not what was judged
	Anew    bool   // that, and a verdict on the work as it is now would also meet the part
	Unread  bool   // something is there, and cannot be read
	Files   int    // it does not hold because of so many new or changed files alone
	Source  string // "planning/planning.ai.json", "check tests", "git clean"
	Digest  string // of Text; empty where there was nothing to see
	Text    string // what was seen, normalised: kept with the decision that relies on it
	Found   string // why it does not hold, for people
	Where   string // a path, with a line where that helps
	Want    string // what would make it hold
}

// Text is the full text of a piece of evidence.
func (ev Evidence) Text(e task.Evidence) (string, bool) {
	for _, fact := range ev.Facts { // all that match have the same text
		if fact.Source == e.Source && fact.Digest == e.Digest {
			return fact.Text, true
		}
	}
	if ev.Document == nil {
		return "", false
	}
	s, found := ev.Document.Section(e.Source)
	return s.Text, found
}

// Digests are the evidence that must be new in a status once the task enters it, as it is before, each once: the
// evidence that a gate out of the status wants written since then.
func Digests(def *workflow.Definition, to task.Status, ev Evidence) []task.Evidence {
	return digests(def, to, (*workflow.Part).IsSince, ev)
}

// VerdictsNow are the verdicts that exist when an agent of a status is about to start: they are not its own.
func (ev Evidence) VerdictsNow(def *workflow.Definition, status task.Status) []task.Evidence {
	return digests(def, status, (*workflow.Part).IsVerdict, ev)
}

func digests(def *workflow.Definition, status task.Status, which func(*workflow.Part) bool,
	ev Evidence) []task.Evidence {
	var found []task.Evidence
	eachPartOut(def, status, which, func(p *workflow.Part) {
		if e, present := evidenceOf(p, ev); present {
			found = addOnce(found, e)
		}
	})
	return found
}

// unread replaces the digest of something that exists and cannot be read. Later, Orange cannot tell whether a text
// was already there.
const unread = "unread"

// evidenceOf is what a part finds now, whether or not it holds.
func evidenceOf(p *workflow.Part, ev Evidence) (task.Evidence, bool) {
	if p.Section == "" {
		fact := ev.Facts[p.Key()]
		if fact.Unread {
			return task.Evidence{Source: fact.Source, Digest: unread}, true
		}
		return task.Evidence{Source: fact.Source, Digest: fact.Digest}, fact.Digest != ""
	}
	if ev.Document == nil {
		return task.Evidence{}, false
	}
	s, present := ev.Document.Section(p.Section)
	return sectionEvidence(s), present
}

func sectionEvidence(s document.Section) task.Evidence {
	return task.Evidence{Source: "## " + s.Key, Digest: document.Digest(s.Text)}
}

// NeedsOnEntry lists the parts of the gates out of a status that want something written after it began. Orange has to
// know what already exists of them when the status begins.
func NeedsOnEntry(def *workflow.Definition, status task.Status) []workflow.Part {
	return partsOutOf(def, status, (*workflow.Part).IsSince)
}

// NeedsOnStart lists those of them that are a verdict. Orange also has to know what already exists of them when an
// agent of the status starts.
func NeedsOnStart(def *workflow.Definition, status task.Status) []workflow.Part {
	return partsOutOf(def, status, (*workflow.Part).IsVerdict)
}

// partsOutOf lists the chosen parts of the gates and exit rules of a status.
func partsOutOf(def *workflow.Definition, status task.Status, which func(*workflow.Part) bool) []workflow.Part {
	var found []workflow.Part
	eachPartOut(def, status, which, func(p *workflow.Part) { found = append(found, *p) })
	return found
}

func eachPartOut(def *workflow.Definition, status task.Status, which func(*workflow.Part) bool,
	visit func(*workflow.Part)) {
	chosen := func(p *workflow.Part) {
		if which(p) {
			visit(p)
		}
	}
	for i := range def.Transitions {
		if edge := &def.Transitions[i]; edge.From == status {
			for k := range edge.Gate {
				edge.Gate[k].EachLeaf(chosen)
			}
		}
	}
	for i := range def.Exit.Rules {
		if rule := &def.Exit.Rules[i]; rule.Status == status && rule.HasArtifact != nil {
			rule.HasArtifact.EachLeaf(chosen)
		}
	}
}

// Needs lists the parts that a request for a status can depend on: those of the gates on the way there, and those
// that must be new once the task is there.
func Needs(def *workflow.Definition, t task.Task, to task.Status) []workflow.Part {
	parts := GatesTo(def, t, to)
	if len(edges(def, t, to)) > 0 {
		parts = append(parts, NeedsOnEntry(def, to)...)
	}
	return parts
}

// GatesTo lists the parts of the gates on the way to a status.
func GatesTo(def *workflow.Definition, t task.Task, to task.Status) []workflow.Part {
	var parts []workflow.Part
	for _, edge := range edges(def, t, to) {
		parts = append(parts, workflow.Leaves(edge.Gate)...)
	}
	return parts
}

// NeedsOfDeath lists the parts that the exit rules of the task's status can depend on.
func NeedsOfDeath(def *workflow.Definition, t task.Task, death task.Death) []workflow.Part {
	return ofDeath(def, t, death, Needs)
}

// ofDeath lists the parts that the exit rules look for, and those that needs lists for each move that they may make.
func ofDeath(def *workflow.Definition, t task.Task, death task.Death, needs func(*workflow.Definition, task.Task,
	task.Status) []workflow.Part) []workflow.Part {
	var parts []workflow.Part
	if state, _ := def.State(t.Status); state.Role != death.Role || death.Ending.Unstarted != "" {
		return nil // no rule is asked
	}
	for _, rule := range rulesOf(def, t.Status) {
		if rule.HasArtifact != nil {
			parts = append(parts, workflow.Leaves([]workflow.Part{*rule.HasArtifact})...)
		}
		for _, to := range rule.LeadsTo() {
			parts = append(parts, needs(def, t, to)...)
		}
	}
	// An exit rule whose move is refused may take it instead.
	if slices.ContainsFunc(edges(def, t, t.Status), restarts) {
		parts = append(parts, needs(def, t, t.Status)...)
	}
	return parts
}

// GatesOfDeath lists the parts of all gates that judging a death can ask for.
func GatesOfDeath(def *workflow.Definition, t task.Task, death task.Death) []workflow.Part {
	return ofDeath(def, t, death, GatesTo)
}

// NeedsDocument reports whether one of the parts looks at the document's body. If none does, the body need not be
// read, however long it is.
func NeedsDocument(parts []workflow.Part) bool {
	return slices.ContainsFunc(parts, func(p workflow.Part) bool { return p.Section != "" })
}

func addOnce(list []task.Evidence, e task.Evidence) []task.Evidence {
	for _, have := range list {
		if have.Source == e.Source {
			return list
		}
	}
	return append(list, e)
}

// judgment is the outcome of looking at a whole gate.
type judgment struct {
	unmet  []rejection.Detail
	moved  int             // how many of those are unmet only because the tip is another commit
	held   int             // how many are unmet only because of new or changed files,
	files  int             // which are so many
	ended  int             // how many are a verdict that a person may take all the same, see endedVerdict
	rested []task.Evidence // what the gate relied on, when it is met
	good   []workflow.Part // what it was met with of what work passes
	bad    []workflow.Part // and of what refuses it
	notes  []string
}

func judgeGate(parts []workflow.Part, ev Evidence) judgment {
	var j judgment
	for _, p := range parts {
		switch {
		case len(p.All) > 0:
			j.add(judgeGate(p.All, ev))
		case len(p.Any) > 0:
			j.add(judgeAny(p.Any, ev))
		case p.Section != "":
			judgeSection(&j, p, ev)
		default:
			judgeFact(&j, p, ev)
		}
	}
	return j
}

func (j *judgment) add(other judgment) {
	j.unmet, j.notes = append(j.unmet, other.unmet...), append(j.notes, other.notes...)
	j.moved, j.ended = j.moved+other.moved, j.ended+other.ended
	j.held, j.files = j.held+other.held, max(j.files, other.files)
	j.good, j.bad = append(j.good, other.good...), append(j.bad, other.bad...)
	for _, e := range other.rested {
		j.rested = addOnce(j.rested, e)
	}
}

// old adds that evidence is not new.
func (j *judgment) old(condition, found, where string) {
	j.unmet = append(j.unmet, rejection.Detail{Condition: condition + " is new", Found: found, Where: where,
		Want: "write it again for this move"})
	if found == endedVerdict {
		j.ended++
	}
}

// onlyEnded reports whether nothing is missing but that the agent of a verdict ended as it should.
func (j judgment) onlyEnded() bool { return j.ended > 0 && j.ended == len(j.unmet) }

// judgeAny takes the first alternative that is met. If none is, it lists what each lacks.
func judgeAny(ways []workflow.Part, ev Evidence) judgment {
	var none judgment
	for i, p := range ways {
		j := judgeGate([]workflow.Part{p}, ev)
		if len(j.unmet) == 0 {
			for k := range ways[i+1:] { // what else is met is passed, too
				if other := judgeGate(ways[i+1+k:i+2+k], ev); len(other.unmet) == 0 {
					j.good = append(j.good, other.good...)
				}
			}
			return j
		}
		for _, d := range j.unmet {
			d.Condition = fmt.Sprintf("one of %d ways, the %s: %s", len(ways), ordinal(i+1), d.Condition)
			none.unmet = append(none.unmet, d)
		}
		none.held, none.files = none.held+j.held, max(none.files, j.files)
	}
	return none
}

func ordinal(n int) string {
	if words := []string{"first", "second", "third", "fourth"}; n <= len(words) {
		return words[n-1]
	}
	return strconv.Itoa(n) + "th"
}

// judgeFact judges what was seen outside the document.
func judgeFact(j *judgment, p workflow.Part, ev Evidence) {
	fact, seen := ev.Facts[p.Key()]
	if !seen {
		fact = Fact{Source: "the gate on line " + strconv.Itoa(p.Pos.Line), Found: "that no one has looked",
			Want: "report it: this is a bug in Orange"}
	}
	before := len(j.unmet)
	condition := fact.Source
	if len(p.With) > 0 {
		condition = p.Name() // without what it is seen together with, which only the evidence needs
	}
	if fact.Where == condition {
		fact.Where = "" // the condition says it already
	}
	if !fact.Holds {
		want := cmp.Or(p.Want, fact.Want)
		if fact.Pending {
			want = fact.Want // while the check runs, doing what the workflow's author says does not help
		}
		j.unmet = append(j.unmet, rejection.Detail{Condition: condition, Found: fact.Found, Where: fact.Where,
			Want: want, OtherWork: fact.Other, NewVerdict: fact.Anew, MovedTip: fact.Moved})
		if fact.Moved {
			j.moved++
		}
		if fact.Files > 0 {
			j.held, j.files = j.held+1, max(j.files, fact.Files)
		}
	}
	evidence := task.Evidence{Source: fact.Source, Digest: fact.Digest}
	if found := stale(p, evidence, ev); found != "" && fact.Digest != "" {
		j.old(condition, found, fact.Where)
	}
	if len(j.unmet) == before && fact.Digest != "" {
		j.rested = addOnce(j.rested, evidence)
	}
	if len(j.unmet) == before {
		j.note(p)
	}
}

// note notes what the work passes by a part that is met, or what refuses it.
func (j *judgment) note(p workflow.Part) {
	switch {
	case guarantee.Good(&p):
		j.good = append(j.good, p)
	case guarantee.Refuses(&p) != "":
		j.bad = append(j.bad, p)
	}
}

func judgeSection(j *judgment, p workflow.Part, ev Evidence) {
	name := func() string { return "section " + document.QuoteHeading(p.Section) }
	if ev.Document == nil {
		j.unmet = append(j.unmet, rejection.Detail{
			Condition: name(), Found: "no readable document: " + ev.Trouble, Where: "TASK.md",
			Want: "make TASK.md a readable text file again",
		})
		return
	}
	s, present := ev.Document.Section(p.Section)
	if !present {
		j.unmet = append(j.unmet, rejection.Detail{Condition: name(), Found: missing(ev.Document, p.Section),
			Where: "TASK.md", Want: "write " + want(p)})
		return
	}
	if s.Copies > 1 {
		j.notes = append(j.notes, fmt.Sprintf("%s is there %d times: the last one, on line %d, counted", name(),
			s.Copies, s.Line))
	}
	evidence := sectionEvidence(s)
	before := len(j.unmet)
	if found := lacks(p, s); found != "" {
		j.unmet = append(j.unmet, rejection.Detail{Condition: name(), Found: found, Where: whereIs(s),
			Want: "write " + want(p)})
	}
	if found := stale(p, evidence, ev); found != "" {
		j.old(name(), found, whereIs(s))
	}
	if len(j.unmet) == before {
		j.rested = addOnce(j.rested, evidence)
		j.note(p)
	}
}

// whereIs tells where a section is.
func whereIs(s document.Section) string {
	where := fmt.Sprintf("TASK.md, line %d", s.Line)
	if s.Copies > 1 {
		where += fmt.Sprintf(", the last of %d sections of that name", s.Copies)
	}
	return where
}

// missing lists what the document has instead of a section, and what may hide it.
func missing(d *document.Document, section string) string {
	names := d.SectionNames()
	text := "no such section"
	if len(names) > 0 {
		text += "; there are " + strings.Join(names, ", ")
	}
	if more := d.MoreSections(); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	for _, name := range names {
		if why := document.NearName(name, section); why != "" {
			text += fmt.Sprintf("; %q has %s", name, why)
		}
	}
	for _, p := range d.WhyMissing() {
		text += fmt.Sprintf("; line %d: %s", p.Line, p.Text)
	}
	return text
}

// lacks returns what is missing from a part's content; empty if nothing is.
func lacks(p workflow.Part, s document.Section) string {
	if s.Empty() {
		return "an empty section"
	}
	if len(p.Fields) > 0 && len(s.Fields(p.Fields)) == 0 {
		text := "none of these labels with something behind it: " + strings.Join(p.Fields, ", ")
		if line, why := s.NearLabel(p.Fields); why != "" {
			text += fmt.Sprintf("; %q has %s", line, why)
		}
		return text
	}
	if p.Verdict == "" {
		return ""
	}
	verdict, found := s.FirstVerdict()
	if p.VerdictIn == workflow.VerdictAnywhere {
		verdict, found = s.AnyVerdict()
	}
	if verdict == "" {
		if line, why := s.NearVerdict(p.VerdictIn == workflow.VerdictAnywhere); why != "" {
			return fmt.Sprintf("no verdict in %q: it has %s", line, why)
		}
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

// stale returns why a part's evidence does not count as new; empty if it does or need not.
func stale(p workflow.Part, e task.Evidence, ev Evidence) string {
	if p.Fresh {
		for _, spent := range ev.Spent {
			if spent.Evidence == e {
				return fmt.Sprintf("a text identical to what moved the task at event %d", spent.Seq)
			}
		}
	}
	if (p.Since == workflow.SinceEntry || p.IsVerdict()) && slices.Contains(ev.Entry, e) {
		return "a text that was there already when the present status began"
	}
	unseen := task.Evidence{Source: e.Source, Digest: unread}
	if p.IsVerdict() && (slices.Contains(ev.Entry, unseen) || slices.Contains(ev.Start, unseen) && !refuses(&p)) {
		return "a text in a place that could not be read when the status began, or when its agent was " +
			"started: no one knows whether it is newer"
	}
	if p.IsVerdict() && slices.Contains(ev.Start, e) && !refuses(&p) {
		return endedVerdict
	}
	return ""
}

// endedVerdict is why a verdict does not count that a person may take all the same, by name and with a reason.
const endedVerdict = "a verdict that was there when its agent was ended, or when the last one was started: no one " +
	"knows who wrote it"

// refuses reports whether a part asks for a verdict that refuses the work. Such a one counts once it is written in a
// status, also where another agent was started there since.
func refuses(p *workflow.Part) bool { return p.Verdict == "FAIL" }

// want describes what would meet a part.
func want(p workflow.Part) string {
	text := document.QuoteHeading(p.Section)
	if p.Want != "" {
		return text + ": " + p.Want
	}
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
