package explore

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// showsGit reports whether an event that meets its gate shows also what the gate asks git for: a merge elsewhere takes
// the place of that.
func showsGit(e *event) bool { return e.kind != isPull || e.on != pullMerged }

// passes follows one thing through all ways.
type passes struct {
	*walk
	name     string
	gives    []bool            // by transition: its gate cannot be met without the thing
	offers   []bool            // by transition: its gate asks for the thing, or for something else
	refuses  []bool            // by transition: its gate cannot be met unless the thing was refused
	people   []bool            // by transition: a person who takes it gives the thing
	reviewer []bool            // by transition: the reviewer who takes it gives the thing
	verdict  bool              // it is a verdict, on what was there when its judge began
	git      bool              // it is what git shows
	shows    []bool            // by transition: its gate shows that the work is what was noted
	plan     bool              // it is a verdict on a plan: see passed.Plan
	made     []bool            // by state: the plan is made there
	well     []bool            // by state: it is a good end
	accepts  []bool            // by transition: a move over it shows that a verdict accepted the work
	ends     []bool            // by state: it is an end, and not where giving up leads
	answers  bool              // it matters who answers for the work: some may be handed in by no person and no verdict
	skips    map[[2]int16]bool // by the states of a move: one by force skips the thing there
	handed   []bool            // by state: to come there sends the work to be merged; nil for a thing
	besides  string            // what is followed besides the usual: one of package passed's By, or nothing
	trails   *trails
}

// trails are the shortest ways to all nodes that were found: a node is the number of a place. They serve one thing
// after the other: a table needs about 80 bytes for each configuration.
type trails struct {
	seen []bool
	from []int32 // by node: that from which the way to it came; negative for a birth
	by   []int32 // which way of that configuration it was, or which birth; edited for none of them
	open []int32
	bits int // of a node that are not its configuration
}

const edited = -1

// newTrails has room for the nodes of so many configurations; more where moves by force skip something, and where the
// work may come to its merge without a verdict.
func newTrails(configurations int, skips, unvouched bool) *trails {
	bits := 4
	switch {
	case unvouched:
		bits = 7
	case !skips:
		bits = 3
	}
	nodes := configurations << bits
	return &trails{make([]bool, nodes), make([]int32, nodes), make([]int32, nodes), nil, bits}
}

func (t *trails) node(p place) int32 {
	of := bit(p.vouched)<<6 | bit(p.accepted)<<5 | bit(p.open)<<4 | bit(p.skipped)<<3
	return p.at<<t.bits | int32(of|bit(p.noted)<<2|bit(p.passed)<<1|bit(p.judged))
}

// place is that of a node.
func (t *trails) place(node int32) place {
	if node < 0 {
		return nowhere()
	}
	at := node >> t.bits
	of := node - at<<t.bits
	is := func(n int) bool { return of>>n&1 == 1 }
	return place{at: at, vouched: is(6), accepted: is(5), open: is(4), skipped: is(3), noted: is(2), passed: is(1),
		judged: is(0)}
}

// visit notes the first way to a place.
func (t *trails) visit(was int32, now place, by int) {
	if n := t.node(now); !t.seen[n] {
		t.seen[n], t.from[n], t.by[n] = true, was, int32(by)
		t.open = append(t.open, n)
	}
}

// place is a configuration, with what is so there of two versions of the work: the present one, and the one that the
// evidence of the state is about.
type place struct {
	at      int32
	noted   bool // they are the same
	passed  bool // the present one has passed the thing
	judged  bool // the other one has passed it
	skipped bool // the task was moved past it by force, so that no good end is open without it
	// Whether the work was handed in to be merged by no person and no verdict, and whether a verdict accepted the
	// present version, and the other one.
	open, accepted, vouched bool
}

// nowhere is the place of what was not found.
func nowhere() place { return place{at: -1} }

// after is what is so of the thing after a step. Can is false where the step does not happen: its gate shows that the
// present version is the one that the evidence is about, and it is not; or the task was moved past the thing by force.
func (p *passes) after(was place, one *step) (now place, can bool) {
	e := &one.event
	after := &p.configs[one.to]
	now = was
	now.at = one.to
	if p.heldBack(was, one) && (p.besides != guarantee.ByOverride || !one.person ||
		!p.def.Overridable(&p.def.Transitions[e.edge])) {
		return now, false
	}
	notes := !e.carried // the state's evidence is about what it finds, as it is at a birth
	switch {
	case one.moves || one.again || was.at < 0:
		met := was.at >= 0 && e.met
		if met && p.shows[e.edge] && showsGit(e) && !was.noted {
			return now, false
		}
		switch {
		case e.kind == isRequest && p.by(e), met && p.needsThing(e) && !p.verdict, p.handedOver(one, met):
			now.passed, now.judged = true, was.judged || was.noted
		case met && p.needsThing(e):
			now.judged, now.passed = true, was.passed || was.noted
		}
		if met && p.refuses[e.edge] {
			now.passed, now.judged = was.passed && p.verdict && !was.noted, was.judged && !p.verdict && !was.noted
		}
		if p.answers {
			p.vouch(was, &now, e, met)
		}
	case !p.starts(&p.configs[was.at], after, e) || p.def.States[after.status].Subject == workflow.SubjectCarried:
		notes = false
	}
	if notes || p.plan {
		now.vouched = now.accepted
	}
	switch {
	case p.plan:
		now.noted, now.passed = true, now.judged && !p.made[after.status]
		now.judged = now.passed
	case notes:
		now.noted, now.judged = true, now.passed
	}
	if one.moves && e.forced && p.skips[[2]int16{p.configs[was.at].status, after.status}] {
		now.skipped, now.passed, now.judged = true, false, false
	}
	held := one.moves && now.skipped && !now.passed && p.well[after.status]
	return now, !held || e.override || !showsGit(e)
}

// heldBack reports whether a step leads to an end while no one answers for the work: no person handed it in to be
// merged, and no verdict accepted it. A person may answer for it then, by name.
func (p *passes) heldBack(was place, one *step) bool {
	e := &one.event
	return was.open && !was.vouched && one.moves && e.edge >= 0 && !e.override && !e.forced && showsGit(e) &&
		p.ends[p.configs[one.to].status]
}

// vouch notes what a move means for who answers for the work.
func (p *passes) vouch(was place, now *place, e *event, met bool) {
	accepts := met && p.accepts[e.edge]
	if now.open = p.isUnvouched(e); e.carried {
		now.open = was.open && (!met || !p.def.Transitions[e.edge].Accepts())
	}
	switch {
	case accepts && e.carried:
		now.accepted, now.vouched = was.accepted || was.noted, true
	case accepts:
		now.accepted, now.vouched = true, was.vouched || was.noted
	}
}

// isUnvouched reports whether an event puts the work up to be merged while no one answers for it. Where it is no matter
// who asks, it was an agent who asked decide, and a person answers for the same.
func (w *walk) isUnvouched(e *event) bool {
	return e.unvouched && (e.kind != isRequest || e.role >= 0 || w.resets)
}

// putsUpUnvouched reports whether work may come to its merge while no one answers for it.
func (w *walk) putsUpUnvouched() bool {
	return slices.ContainsFunc(w.ways, func(ways []step) bool {
		return slices.ContainsFunc(ways, func(one step) bool {
			return w.isUnvouched(&one.event)
		})
	})
}

// by reports whether the thing is passed because of who asks.
func (p *passes) by(e *event) bool {
	role := max(e.role, e.as)
	return e.role < 0 && p.people[e.edge] ||
		role >= 0 && p.roles[role] == task.RoleReviewer && p.reviewer[e.edge]
}

// edits are the places to which an agent comes that changes the work: by a version that is new, or by the one that the
// evidence is about.
func (p *passes) edits(was place) []place {
	if p.plan || p.configs[was.at].agents&p.writers == 0 {
		return nil
	}
	fresh, back := was, was
	fresh.noted, fresh.passed, fresh.accepted = false, false, false
	back.noted, back.passed, back.accepted = true, was.judged, was.vouched
	return []place{fresh, back}
}

// needsThing reports whether an event whose gate is met cannot happen without the thing.
func (p *passes) needsThing(e *event) bool { return p.gives[e.edge] && (!p.git || showsGit(e)) }

// starts reports whether the agent of the present state is started by a step that does not move the task.
func (w *walk) starts(before, after *config, e *event) bool {
	r := w.roleOf[after.status]
	return r >= 0 && after.agent(r) == alive && (before.agent(r) != alive || e.kind == isRespawn || e.kind == isRevival)
}

// follow goes all ways, and those besides, and shows each place that it finds, the nearest first, until no more is
// wanted.
func (p *passes) follow(besides string, wanted func(place) bool) {
	p.besides = besides
	clear(p.trails.seen)
	p.trails.open = p.trails.open[:0]
	for i := range p.born {
		p.try(nowhere(), -1, i, &p.born[i])
	}
	for n := 0; n < len(p.trails.open); n++ {
		node := p.trails.open[n]
		at := p.trails.place(node)
		if !wanted(at) {
			return
		}
		ways := p.ways[at.at]
		for i := range ways {
			p.try(at, node, i, &ways[i])
		}
		for _, changed := range p.edits(at) {
			p.trails.visit(node, changed, edited)
		}
	}
}

// try follows a step from a place, by its node, if it is one of those that are followed and can happen.
func (p *passes) try(was place, node int32, by int, one *step) {
	if !p.follows(was, one) {
		return
	}
	if now, can := p.after(was, one); can {
		p.trails.visit(node, now, by)
	}
}

// last is the step of the shortest way to a place that leads there.
func (p *passes) last(to place) (was place, one step) {
	node := p.trails.node(to)
	was = p.trails.place(p.trails.from[node])
	by := p.trails.by[node]
	switch {
	case was.at < 0:
		return was, p.born[by]
	case by == edited:
		return was, step{to: to.at, event: event{kind: isEdit, role: -1, as: -1, look: -1, failing: -1, edge: -1}}
	}
	one = p.ways[was.at][by]
	one.event.override = one.event.override || p.heldBack(was, &one)
	return was, one
}

// follows reports whether a step is one of those that are followed now.
func (p *passes) follows(was place, one *step) bool {
	switch {
	case was.at < 0:
		return p.besides == guarantee.ByBirth || !p.bornLate(*one)
	case one.event.override:
		return p.besides == guarantee.ByOverride
	}
	return p.besides == guarantee.ByMerge || showsGit(&one.event)
}

// bornLate reports whether a task is born in another state than the first.
func (w *walk) bornLate(one step) bool {
	return w.def.States[w.configs[one.to].status].Name != w.def.Initial
}

// table is of what each good end has passed.
func (w *walk) table() []guarantee.GoodEnd {
	names, verdicts := guarantee.Things(w.file)
	var out []guarantee.GoodEnd
	for i := range w.def.States {
		name := w.def.States[i].Name
		if decide.Marks(w.def, name).Good {
			out = append(out, guarantee.GoodEnd{End: name, Always: []string{}, Around: []guarantee.Around{}})
		}
	}
	skips := w.skips(names)
	answers := w.putsUpUnvouched()
	trails, besides := newTrails(len(w.configs), len(skips) > 0, answers), w.besides(answers)
	for _, name := range names {
		p := w.passesOf(name, verdicts[name])
		p.trails, p.skips, p.answers = trails, skips[name], answers
		p.tellEnds(out, besides)
	}
	return out
}

// skips are the moves by force of each of the things that skip it, by their states.
func (w *walk) skips(names []string) map[string]map[[2]int16]bool {
	out, done := map[string]map[[2]int16]bool{}, map[[2]int16]bool{}
	for at, ways := range w.ways {
		for _, one := range ways {
			move := [2]int16{w.configs[at].status, w.configs[one.to].status}
			if !one.moves || !one.event.forced || done[move] {
				continue
			}
			done[move] = true
			for _, what := range guarantee.Skipped(w.def, w.def.States[move[0]].Name, w.def.States[move[1]].Name) {
				if !slices.Contains(names, what) {
					continue
				}
				if out[what] == nil {
					out[what] = map[[2]int16]bool{}
				}
				out[what][move] = true
			}
		}
	}
	return out
}

// besides are the kinds of ways that there are besides the usual, in the order in which they are followed.
func (w *walk) besides(answers bool) []string {
	merges, births, overrides := false, slices.ContainsFunc(w.born, w.bornLate), answers
	for _, ways := range w.ways {
		for _, one := range ways {
			merges, overrides = merges || !showsGit(&one.event), overrides || one.event.override
		}
	}
	out := []string{""}
	for _, kind := range []struct {
		name  string
		there bool
	}{{guarantee.ByMerge, merges}, {guarantee.ByBirth, births}, {guarantee.ByOverride, overrides}} {
		if kind.there {
			out = append(out, kind.name)
		}
	}
	return out
}

// tellEnds adds the thing to the good ends: to what every way there has passed, or with what leads around it. It is
// nothing to an end to which no way has it.
func (p *passes) tellEnds(out []guarantee.GoodEnd, besides []string) {
	asked, around := make([]bool, len(out)), make([]string, len(out))
	told := make([]bool, len(out))
	for i := range out {
		asked[i] = !slices.Contains(p.gives, true)
	}
	for _, kind := range besides {
		if !slices.Contains(told, false) {
			break // what else leads around it says nothing more
		}
		without := p.without(kind, out, asked, told)
		for i := range out {
			if without[i] != nowhere() && asked[i] && !told[i] {
				out[i].Around, told[i], around[i] = append(out[i].Around, p.around(without[i], kind)), true, kind
			}
		}
	}
	for i := range out {
		if asked[i] && (!told[i] || around[i] == guarantee.ByBirth || around[i] == guarantee.ByOverride) {
			out[i].Always = append(out[i].Always, p.name)
		}
	}
}

func (w *walk) passesOf(name string, verdict bool) *passes {
	p := &passes{walk: w, name: name, verdict: verdict, gives: make([]bool, len(w.def.Transitions)),
		offers: make([]bool, len(w.def.Transitions)),
		shows:  make([]bool, len(w.def.Transitions)), refuses: make([]bool, len(w.def.Transitions)),
		people: make([]bool, len(w.def.Transitions)), reviewer: make([]bool, len(w.def.Transitions))}
	var made []task.Status
	p.plan, made = guarantee.Plan(w.def, name)
	for _, state := range w.def.States {
		p.made = append(p.made, slices.Contains(made, state.Name))
		p.well = append(p.well, decide.Marks(w.def, state.Name).Good)
		p.ends = append(p.ends, decide.Marks(w.def, state.Name).Well)
	}
	for i := range w.def.Transitions {
		edge := &w.def.Transitions[i]
		gate := edge.Gate
		p.accepts = append(p.accepts, w.def.Accepts(edge.From, edge.To))
		_, p.gives[i] = guarantee.Needs(gate)[name]
		for _, part := range workflow.Leaves(gate) {
			if guarantee.Good(&part) && guarantee.Name(&part) == name {
				p.offers[i], p.git = true, part.Git != ""
			}
		}
		p.offers[i] = p.offers[i] || slices.Contains(guarantee.Gives(w.file, &w.file.Transitions[i]), name)
		p.people[i] = slices.Contains(guarantee.By(w.file, &w.file.Transitions[i], task.RoleHuman, true), name)
		p.reviewer[i] = slices.Contains(guarantee.By(w.file, &w.file.Transitions[i], task.RoleReviewer, false), name)
		p.shows[i] = guarantee.Shows(gate)
		p.refuses[i] = slices.ContainsFunc(workflow.Certain(gate), func(part workflow.Part) bool {
			return guarantee.Refuses(&part) == name
		})
	}
	return p
}

// without are the nearest places at the good ends at which the thing was not passed, for ends of which the table says
// nothing yet. What comes to an end with it shows that the thing is asked for there; a person who decides by name does
// not.
func (p *passes) without(kind string, out []guarantee.GoodEnd, asked, told []bool) []place {
	found := slices.Repeat([]place{nowhere()}, len(out))
	byName := kind == guarantee.ByBirth || kind == guarantee.ByOverride
	open := func(i int) bool {
		return !told[i] && (asked[i] || !byName) && (!asked[i] || found[i] == nowhere())
	}
	wanted := true
	p.follow(kind, func(at place) bool {
		status := p.configs[at.at].status
		if !p.well[status] {
			return wanted
		}
		wanted = false
		for i := range out {
			switch {
			case p.def.States[status].Name != out[i].End:
			case at.passed:
				asked[i] = asked[i] || !byName
			case found[i] == nowhere():
				found[i] = at
			}
			wanted = wanted || open(i)
		}
		return wanted
	})
	return found
}
