package explore

import (
	"fmt"
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// judgeMerges reports merges of other work than what a verdict passed, or what was there when the task came to wait for
// its merge: an agent can have changed it since, and no gate compares.
func (w *walk) judgeMerges() {
	merge, said := w.def.Move(workflow.MoveMerge)
	if !said {
		return
	}
	p := w.passesOf(Merges, true) // no thing has this name
	p.trails = newTrails(len(w.configs), false, false)
	for _, s := range w.def.States {
		p.handed = append(p.handed, decide.AwaitsMerge(w.def, s.Name))
	}
	for i := range w.def.Transitions {
		for _, verdict := range guarantee.Needs(w.def.Transitions[i].Gate) {
			p.gives[i] = p.gives[i] || verdict
		}
		p.offers[i] = p.gives[i]
	}
	leads := p.mergesUnseen(merge)
	if !slices.Contains(leads, true) {
		return
	}
	p.follow("", func(at place) bool {
		for _, one := range p.ways[at.at] {
			e := one.event
			if e.kind != isRequest || e.role >= 0 || e.override || !leads[e.edge] {
				continue
			}
			if now, can := p.after(at, &one); can && !now.passed {
				p.reportMerge(at, now, one)
			}
		}
		return true
	})
}

// mergesUnseen reports for each transition whether a person may merge other work by it than what was judged, or sent
// there. None may where its gate compares, and so does every verdict that leads to its state: unless an agent begins
// there, which is about what it finds, or the state takes along what was judged before.
func (p *passes) mergesUnseen(merge task.Status) []bool {
	out := make([]bool, len(p.def.Transitions))
	for i, edge := range p.def.Transitions {
		from, _ := p.def.State(edge.From)
		unseen := !p.shows[i] || from.Role != "" || from.Subject == workflow.SubjectCarried
		for n := range p.def.Transitions {
			unseen = unseen || p.def.Transitions[n].To == edge.From && p.offers[n] && !p.shows[n]
		}
		out[i] = (unseen || p.whole) && edge.To == merge && !p.works(p.place(edge.From))
	}
	return out
}

// works reports whether a state is one in which an agent changes the work: a person who merges from there takes what
// they find.
func (w *walk) works(status int16) bool {
	r := w.roleOf[status]
	return r >= 0 && !w.readers[r]
}

func (p *passes) reportMerge(at, now place, one step) {
	edge := &p.def.Transitions[one.event.edge]
	if p.hasFlaw(Merges, edge.Pos) {
		return
	}
	all := append(p.way(at), passing{was: at, now: now, step: one})
	way, _ := p.tell(all, p.since(all))
	p.report(Merges, flaw{at: -1, pos: edge.Pos,
		message: fmt.Sprintf("a merge from %q can take other work than what was judged or sent there: %s", edge.From,
			way),
		suggestion: "add git: unmoved to the gate, and to that of each verdict on the way: it compares the " +
			"work with what was there when the state began",
	})
}

// handedOver reports whether a step sends the work, as it is then, to where it waits for its merge. A verdict sends
// what it is about.
func (p *passes) handedOver(one *step, met bool) bool {
	verdict := met && p.needsThing(&one.event)
	return p.handed != nil && !verdict && p.handed[p.configs[one.to].status]
}
