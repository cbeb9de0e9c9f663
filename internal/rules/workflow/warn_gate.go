package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/yaml"
)

// warnGates reports parts that ask for the same evidence in another way than most do.
func (r reader) warnGates(d *Definition) {
	said := &sayings{}
	d.EachGate(func(parts []Part) {
		for _, p := range Leaves(parts) {
			what := cmp.Or(p.Section, p.File)
			if what == "" {
				continue
			}
			// PASS and FAIL are asked for apart.
			said.add(strings.TrimSpace(fmt.Sprintf("%s %s", strings.ToLower(what), p.Verdict)), p.Pos, saying{
				"fields: " + cmp.Or(strings.Join(p.Fields, ", "), "none"), "fresh: " + strconv.FormatBool(p.Fresh),
				"since: " + cmp.Or(p.Since, "none"), "verdict_in: " + cmp.Or(p.VerdictIn, "none"),
			})
		}
	})
	said.tell(func(at yaml.Pos, what, found, expected string, line int) {
		r.Problem(at, "odd-gate", "found %q asked for with %s, expected %s as on line %d", what, found, expected, line)
	})
}

// saying is what one place of the file says of a thing: "key: value", of each thing the same keys in the same order.
type saying []string

func (s saying) key() string { return fmt.Sprintf("%q", []string(s)) }

// against reports in which keys it differs from another.
func (s saying) against(other saying) (mine, theirs string) {
	var own, its []string
	for i := range s {
		if s[i] != other[i] {
			own, its = append(own, s[i]), append(its, other[i])
		}
	}
	return strings.Join(own, ", "), strings.Join(its, ", ")
}

// sayings are the places of a file that speak of the same things. A place that is read twice, through an alias,
// counts once.
type sayings struct {
	things []string
	by     map[string][]place
	read   map[string]bool
}

type place struct {
	at   yaml.Pos
	says saying
}

func (s *sayings) add(thing string, at yaml.Pos, says saying) {
	if s.by == nil {
		s.by, s.read = map[string][]place{}, map[string]bool{}
	}
	if _, known := s.by[thing]; !known {
		s.things = append(s.things, thing)
	}
	if once := fmt.Sprintf("%d:%d %s", at.Line, at.Col, thing); !s.read[once] {
		s.read[once] = true
		s.by[thing] = append(s.by[thing], place{at, says})
	}
}

// tell visits the places that say of a thing something else than most. Of two that are equally many the first in
// the file counts as most.
func (s *sayings) tell(visit func(at yaml.Pos, thing, found, expected string, line int)) {
	for _, thing := range s.things {
		places := s.by[thing]
		slices.SortStableFunc(places, func(a, b place) int { return a.at.Line - b.at.Line })
		count := map[string]int{}
		for _, p := range places {
			count[p.says.key()]++
		}
		most := places[0]
		for _, p := range places {
			if count[p.says.key()] > count[most.says.key()] {
				most = p
			}
		}
		for _, p := range places {
			if p.says.key() != most.says.key() {
				found, expected := p.says.against(most.says)
				visit(p.at, thing, found, expected, most.at.Line)
			}
		}
	}
}

// maxPairs is how many transitions are compared with one another, far above what a person writes: a '*' makes millions.
const maxPairs = 20_000

// warnUndecided reports two transitions out of one state to different ones that the same evidence opens for the
// same role. A person chooses between moves without gates, and the asker for one that wants a reason has
// chosen too.
func (r reader) warnUndecided(d *Definition) {
	type door struct{ from, gate string }
	earlier, compared := map[door][]Transition{}, 0
	for _, a := range d.Transitions {
		if len(a.Gate) == 0 {
			continue
		}
		at := door{string(a.From), gateKey(a.Gate)}
		for _, b := range earlier[at] {
			if compared++; compared > maxPairs {
				r.Problem(a.Pos, "undecided", "found more than %d pairs of transitions that one gate opens: the "+
					"others were not compared, expected fewer of them", maxPairs)
			}
			if compared > maxPairs || r.Full() {
				return
			}
			if a.To == b.To || a.Reason != b.Reason || !share(a.CameFrom, b.CameFrom) || !share(a.By, b.By) {
				continue
			}
			if witness, found := Overlap(a.Counted(), b.Counted()); found {
				r.Problem(a.Pos, "undecided",
					"found a transition from %q to %q that the same gate opens as the one to %q on line %d "+
						"(%s), expected guards that exclude one another",
					a.From, a.To, b.To, b.Pos.Line, witness)
			}
		}
		if len(earlier[at]) < maxArms {
			earlier[at] = append(earlier[at], a)
		}
	}
}

// gateKey names all that a gate asks for: two gates with one key are open and closed together.
func gateKey(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("(" + p.Claim() + ")")
	}
	return b.String()
}
