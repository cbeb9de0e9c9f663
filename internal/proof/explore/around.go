package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// passing is one step of a way, with what was so of a thing before it and is after it.
type passing struct {
	was, now place
	step     step
}

// way is how a task comes to a place, from its birth.
func (p *passes) way(to place) []passing {
	var out []passing
	for at := to; at.at >= 0; {
		one := passing{now: at}
		one.was, one.step = p.last(at)
		out = append(out, one)
		at = one.was
	}
	slices.Reverse(out)
	return out
}

// around describes the shortest way to a place without the thing: from where the task left it behind, else from where
// it could have passed it last, else from the task's birth.
func (p *passes) around(to place, by string) guarantee.Around {
	all := p.way(to)
	out := guarantee.Around{What: p.name, By: by}
	way, pos := p.tell(all, p.since(all))
	out.Way, out.Line = way, pos.Line
	for _, one := range all {
		out.Steps = append(out.Steps, p.words(one.was.at, one.step))
	}
	return out
}

// since is the step of a way that left the thing behind, else the one that could have passed it last.
func (p *passes) since(all []passing) int {
	left, could := -1, 0
	for i, one := range all {
		switch {
		case one.loses(p) && !ofPeople(p.name):
			left = i
		case i > 0 && one.moves() && (ofPeople(p.name) || p.asksIn(p.configs[one.was.at].status)):
			could = i
		}
	}
	if left < 0 {
		return could
	}
	return left
}

// ofPeople reports whether only people pass a thing: the way around it begins with the last move.
func ofPeople(name string) bool { return name == guarantee.Person || name == guarantee.TwoPeople }

// loses reports whether a step leaves the thing behind: it was passed for other work, or is said of other work.
func (one passing) loses(p *passes) bool {
	e := one.step.event
	said := one.was.at >= 0 && one.moves() && e.edge >= 0 && p.needsThing(&e) && e.met
	return !one.now.passed && (one.was.passed || said)
}

func (one passing) moves() bool { return one.step.moves || one.step.again }

// asksIn reports whether a move out of a state asks for the thing.
func (p *passes) asksIn(status int16) bool {
	return slices.ContainsFunc(p.leaving[status], func(n int) bool { return p.offers[n] })
}

// tell puts a way into words, from one of its steps: the states, and what led from each to the next.
func (p *passes) tell(all []passing, from int) (text string, pos yaml.Pos) {
	var b strings.Builder
	name := func(at int32) task.Status { return p.def.States[p.configs[at].status].Name }
	if all[from].was.at >= 0 {
		b.WriteString(string(name(all[from].was.at)))
	}
	crashes, changed := 0, false
	for i := max(0, from-p.before(all, from)); i < len(all); i++ {
		one := all[i]
		if one.step.event.kind == isDeath {
			crashes++
		}
		changed = changed || one.step.event.kind == isEdit && !ofPeople(p.name)
		if one.was.at < 0 {
			fmt.Fprintf(&b, "created in %s", name(one.now.at))
			continue
		}
		if !one.moves() {
			continue
		}
		if i >= from {
			fmt.Fprintf(&b, " -[%s]-> %s", p.cause(one, crashes, changed), name(one.now.at))
			if pos.Line == 0 {
				pos = p.placeOfWay(one.was.at, one.step)
			}
		}
		crashes, changed = 0, false
	}
	if pos.Line == 0 {
		pos = p.placeOfWay(all[0].was.at, all[0].step)
	}
	return b.String(), pos
}

// before counts the steps right before one of a way in which the task stays where it is.
func (p *passes) before(all []passing, at int) int {
	n := 0
	for i := at - 1; i >= 0 && !all[i].moves() && all[i].was.at >= 0; i-- {
		n++
	}
	return n
}

// cause says in few words what moved the task.
func (p *passes) cause(one passing, crashes int, changed bool) string {
	e := one.step.event
	who := guarantee.Person
	if e.role >= 0 {
		who = "the " + p.roles[e.role]
	}
	text := ""
	switch e.kind {
	case isRequest:
		if text = who; e.override {
			text = "an override by " + who
		}
	case isDeath:
		text = who + " ends"
		if !e.met {
			text = fmt.Sprintf("%d crashes", crashes)
			if crashes == 1 {
				text = "a crash"
			}
		}
	case isTimer:
		text = "its time is over"
	case isRefused:
		text = "its agent was refused too often"
	case isPull:
		text = "its pull request is " + strings.ToLower(pullStates()[e.on])
	case isSetback:
		text = "it is sent back"
	case isRedo:
		text = "a person has it done again"
	default:
		text = who
	}
	if changed {
		text += ", after an agent changed the work"
	}
	return text
}
