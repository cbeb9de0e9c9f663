package simulate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// facts answers what gates ask for outside of TASK.md.
type facts struct{ r *run }

// artifact is a file, the files of a glob, the result of a check, or what git says.
type artifact struct {
	text      string
	satisfies map[string]bool // the keys of the parts that it satisfies
}

// SourceOf is where a part looks, in the words of a fact.
func SourceOf(p workflow.Part) string {
	switch {
	case p.Check != "":
		return "check " + p.Check
	case p.Git != "":
		return "git " + p.Git
	}
	return cmp.Or(p.File, p.Glob)
}

func (f facts) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	return take(f.r, Step{What: "it looks at the evidence"}, func() (map[string]decide.Fact, error) {
		if err := f.r.Fail("a look at the evidence"); err != nil {
			return nil, err
		}
		return f.r.facts(t, parts), nil
	})
}

func (r *run) facts(t task.Task, parts []workflow.Part) map[string]decide.Fact {
	out := map[string]decide.Fact{}
	for _, p := range workflow.Leaves(parts) {
		if p.Section != "" {
			continue
		}
		if fact, known := r.branch().Fact(t, p); known {
			out[p.Key()] = fact
			continue
		}
		fact := decide.Fact{Source: SourceOf(p), Where: SourceOf(p), Found: "nothing", Want: p.Want}
		have, there := r.artifacts[SourceOf(p)]
		if (p.Check != "" || p.Git != "") && t.Workspace == "" {
			there = false
		}
		if there {
			fact.Text = document.Normalise(have.text)
			fact.Digest = document.Digest(fact.Text)
			asksMore := p.JQ != "" || p.Check != "" || p.Git != ""
			if fact.Holds = !asksMore || have.satisfies[p.Key()]; !fact.Holds {
				fact.Found = "something else"
			}
		}
		out[p.Key()] = fact
	}
	return out
}

// evidence is what there is at this moment, as the engine would find it.
func (r *run) evidence(s record.Snapshot, parts []workflow.Part) decide.Evidence {
	return decide.Evidence{
		Document: document.Read(r.folder().text()), Spent: s.Spent, Entry: s.Entry,
		Start: s.Start, Facts: r.facts(s.Task, parts),
	}
}

// isMet reports whether a gate is met, as decide sees it: it requests the only move of a workflow with that gate.
func isMet(gate []workflow.Part, evidence decide.Evidence, r *run) bool {
	const here, there task.Status = "here", "there"
	def := &workflow.Definition{
		States:      []workflow.State{{Name: here}, {Name: there}},
		Transitions: []workflow.Transition{{From: here, To: there, Gate: gate}},
	}
	_, err := decide.Transition(def, task.Task{Status: here, Live: true}, evidence, task.Request{
		To: there, Actor: task.Actor{Rule: true}}, r.clock)
	return err == nil
}

// writeEvidence has an actor make what a gate asks for and is not there yet.
func (r *run) writeEvidence(who string, s record.Snapshot, gate []workflow.Part) {
	evidence := r.evidence(s, gate)
	if isMet(gate, evidence, r) {
		return
	}
	var wanted []workflow.Part
	for _, p := range gate {
		wanted = r.choose(wanted, p)
	}
	sections, places := map[string][]workflow.Part{}, map[string][]workflow.Part{}
	lacks := map[string]bool{}
	for _, p := range wanted {
		name, of := SourceOf(p), places
		if p.Section != "" {
			name, of = document.Key(p.Section), sections
		}
		if _, known := r.branch().Fact(s.Task, p); known && p.Git != "" {
			continue // that is how the branch is: no one can write it
		}
		of[name] = append(of[name], p)
		lacks[name] = lacks[name] || !isMet([]workflow.Part{p}, evidence, r)
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if lacks[name] {
			r.writeSection(who, sections[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		if lacks[name] {
			r.makeArtifact(who, name, places[name])
		}
	}
}

// choose adds the leaves that an actor is going to meet: one of several alternatives, mostly the first.
func (r *run) choose(to []workflow.Part, p workflow.Part) []workflow.Part {
	switch {
	case len(p.All) > 0:
		for _, one := range p.All {
			to = r.choose(to, one)
		}
		return to
	case len(p.Any) > 0:
		pick := 0
		if r.chance(0.3) {
			pick = r.random.IntN(len(p.Any))
		}
		return r.choose(to, p.Any[pick])
	}
	return append(to, p)
}

func (r *run) writeSection(who string, parts []workflow.Part) {
	var text strings.Builder
	fmt.Fprintf(&text, "\n## %s\n\n", document.Key(parts[0].Section))
	for _, p := range parts {
		if p.Verdict != "" {
			fmt.Fprintf(&text, "Verdict: %s\n\n", p.Verdict)
			break
		}
	}
	r.notes++
	for _, p := range parts {
		for _, label := range p.Fields {
			fmt.Fprintf(&text, "%s: note %d\n", label, r.notes)
		}
	}
	fmt.Fprintf(&text, "Note %d.\n", r.notes)
	r.folder().body += text.String()
	verdict := ""
	if v := parts[0].Verdict; v != "" {
		verdict = ", verdict " + v
	}
	r.logf("%s writes the section %q%s", who, document.Key(parts[0].Section), verdict)
}

// makeArtifact has a file, a check or git say what the parts ask for, and nothing that others ask of the same.
func (r *run) makeArtifact(who, name string, parts []workflow.Part) {
	r.notes++
	one := artifact{text: fmt.Sprintf("%s, note %d", name, r.notes), satisfies: map[string]bool{}}
	for _, p := range parts {
		one.satisfies[p.Key()] = true
	}
	r.artifacts[name] = one
	r.logf("%s sees to %s", who, name)
}

// fakeEvidence is what a liar writes: something that looks like evidence.
func (r *run) fakeEvidence(who string, gate []workflow.Part) {
	leaves := workflow.Leaves(gate)
	if len(leaves) == 0 {
		return
	}
	p := leaves[r.random.IntN(len(leaves))]
	r.notes++
	if p.Section == "" {
		r.artifacts[SourceOf(p)] = artifact{text: fmt.Sprintf("nonsense %d", r.notes)}
		r.logf("%s pretends to have seen to %s", who, SourceOf(p))
		return
	}
	text := fmt.Sprintf("\n## %s\n\n", document.Key(p.Section))
	for _, label := range p.Fields {
		text += label + ":\n"
	}
	r.folder().body += text
	r.logf("%s writes an empty section %q", who, document.Key(p.Section))
}
