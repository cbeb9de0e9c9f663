package replay

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"orange/internal/rules/document"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// unseenParts are the parts that a decision under other rules would have had to look at, and that Orange did not look
// at.
func (in *Inputs) unseenParts(def *workflow.Definition, t task.Task) []workflow.Part {
	var out []workflow.Part
	for _, p := range in.parts(def, t) {
		missing := false
		switch {
		case p.Section == "":
			_, seen := in.Facts[short(p.Key())]
			missing = !seen
		case in.Trouble != "", slices.ContainsFunc(in.Read, func(s Section) bool {
			return document.Key(s.Name) == document.Key(p.Section)
		}):
		case in.Names == nil, in.More > 0, slices.ContainsFunc(in.Names, func(have string) bool {
			return document.Key(have) == document.Key(p.Section)
		}):
			missing = true
		}
		if missing && !slices.ContainsFunc(out, func(have workflow.Part) bool { return have.Claim() == p.Claim() }) {
			out = append(out, p)
		}
	}
	return out
}

func names(parts []workflow.Part) []string {
	var out []string
	for _, p := range parts {
		if name := p.Name(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// answer is what became of a decision, as far as two workflows can answer it differently.
type answer struct {
	text    string
	refused bool
}

func (in Inputs) decideAgain(def *workflow.Definition, past Past) (answer, error) {
	c, err := in.Again(def, past)
	var refused *rejection.Rejection
	switch {
	case errors.As(err, &refused):
		a := answer{text: "refused: " + refused.Code, refused: true}
		if lack := refused.Lacks(); lack != "" {
			a.text += " (" + lack + ")"
		}
		return a, nil
	case err != nil:
		return answer{}, err
	case len(c.Events) == 0:
		return answer{text: "nothing"}, nil
	}
	return answer{text: outcome(c.Events)}, nil
}

// maxSupposed limits how many combinations replay tries for parts that Orange did not look at.
const maxSupposed = 256

// decideSupposing makes a decision by other rules that look at parts which Orange did not look at. It is sure of the
// answer if the answer is the same whatever they were like: what is known to be missing refuses a move, whether or not
// the rest was there.
func (in Inputs) decideSupposing(def *workflow.Definition, past Past,
	unseen []workflow.Part) (a answer, sure bool, err error) {
	s := suppose(def, in.Facts, unseen)
	in.Facts = s.facts(0)
	if a, err = in.decideAgain(s.def, past); err != nil || a.refused {
		return a, err == nil, err // even if all unseen parts hold: the fewer hold, the less is open
	}
	ways := 1
	for _, one := range s.open {
		if ways *= len(one.may); ways > maxSupposed || s.twofold {
			return answer{}, false, nil
		}
	}
	for way := 1; way < ways; way++ {
		in.Facts = s.facts(way)
		if other, err := in.decideAgain(s.def, past); err != nil || other != a {
			return answer{}, false, err
		}
	}
	return a, true, nil
}

// supposition is a workflow in which each part that Orange did not look at is a fact that may hold or not.
type supposition struct {
	def     *workflow.Definition
	known   map[string]Seen
	open    []open
	twofold bool // two parts look at one thing, and require that it is new in different ways: they may differ
}

// open is one part that Orange did not look at, and what it may have been like. The first possibility is that it
// holds.
type open struct {
	key string
	may []Seen
}

// suppose makes a supposition. A section that Orange did not look at becomes a file with a name that no other file
// has.
func suppose(def *workflow.Definition, known map[string]Seen, unseen []workflow.Part) supposition {
	s := supposition{known: known}
	instead := map[string]workflow.Part{}
	for i, p := range unseen {
		name := p.Name()
		if p.Section != "" {
			other := p
			other.Section, other.File, other.Fields = "", fmt.Sprintf("\x00section %d", i), nil
			instead[p.Claim()], p = other, other
		}
		one := open{short(p.Key()), []Seen{{Source: name, Holds: true}, {Source: name, Found: nobodyLooked}}}
		if p.Git != "" {
			one.may = append(one.may, Seen{Source: name, Found: nobodyLooked, Moved: true},
				Seen{Source: name, Found: nobodyLooked, Files: 1})
		}
		if slices.ContainsFunc(s.open, func(have open) bool { return have.key == one.key }) {
			s.twofold = true
			continue
		}
		s.open = append(s.open, one)
	}
	s.def = withParts(def, instead)
	return s
}

// nobodyLooked is the reason why it is not known whether a part held.
const nobodyLooked = "no one looked at it"

// facts are the known facts, and one combination of the ones that are not known.
func (s supposition) facts(way int) map[string]Seen {
	out := maps.Clone(s.known)
	if out == nil {
		out = map[string]Seen{}
	}
	for _, one := range s.open {
		out[one.key] = one.may[way%len(one.may)]
		way /= len(one.may)
	}
	return out
}

// withParts is a workflow with some parts of its gates replaced.
func withParts(def *workflow.Definition, instead map[string]workflow.Part) *workflow.Definition {
	if len(instead) == 0 {
		return def
	}
	var all func(parts []workflow.Part) []workflow.Part
	one := func(p workflow.Part) workflow.Part {
		if other, found := instead[p.Claim()]; found {
			other.Pos = p.Pos
			return other
		}
		p.All, p.Any = all(p.All), all(p.Any)
		return p
	}
	all = func(parts []workflow.Part) []workflow.Part {
		out := slices.Clone(parts)
		for i := range out {
			out[i] = one(out[i])
		}
		return out
	}
	d := *def
	d.Transitions, d.Exit.Rules = slices.Clone(def.Transitions), slices.Clone(def.Exit.Rules)
	for i := range d.Transitions {
		d.Transitions[i].Gate = all(d.Transitions[i].Gate)
	}
	for i := range d.Exit.Rules {
		if artifact := d.Exit.Rules[i].HasArtifact; artifact != nil {
			other := one(*artifact)
			d.Exit.Rules[i].HasArtifact = &other
		}
	}
	return &d
}
