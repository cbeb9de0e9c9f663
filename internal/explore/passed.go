package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/decide"
	"orange/internal/passed"
	"orange/internal/task"
	"orange/internal/workflow"
)

// aPerson is passed where a person moves the task.
const aPerson = "a person"

// good reports whether a part is something that work passes: a verdict or a check that accepts it, or what git shows of
// it. Text that an agent writes about its own work is none, and no more is what is asked only to compare the work with
// what was judged.
func good(p *workflow.Part) bool {
	switch {
	case p.IsVerdict():
		return p.Verdict != "FAIL"
	case p.Check != "":
		return p.Result != workflow.CheckFailed
	case p.Git != "":
		return p.Git != workflow.GitUnmoved && p.Git != workflow.GitMoved && p.Git != workflow.GitAsReviewed
	}
	return false
}

// nameOf is what people call a part.
func nameOf(p *workflow.Part) string {
	switch {
	case p.Section != "":
		return fmt.Sprintf("%q %s", "## "+strings.TrimSpace(strings.TrimLeft(p.Section, "# ")), p.Verdict)
	case p.Check != "":
		return "check " + p.Check
	case p.Git == workflow.GitUntouched:
		return "git untouched " + strings.Join(p.Untouched, " ")
	case p.Git != "":
		return "git " + p.Git
	}
	return p.File + p.Glob
}

// needs are the names of what a gate cannot be met without, and whether each of them is a verdict.
func needs(parts []workflow.Part) map[string]bool {
	out := map[string]bool{}
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.All) > 0:
			for name, verdict := range needs(p.All) {
				out[name] = verdict
			}
		case len(p.Any) > 0:
			common := needs(p.Any[:1])
			for n := range p.Any {
				other := needs(p.Any[n : n+1])
				for name := range common {
					if _, both := other[name]; !both {
						delete(common, name)
					}
				}
			}
			for name, verdict := range common {
				out[name] = verdict
			}
		case good(p):
			out[nameOf(p)] = p.IsVerdict()
		}
	}
	return out
}

// meets reports whether the gate of the transition that an event takes was met: no force and no override led there.
func (w *walk) meets(before config, e event) bool {
	if e.edge < 0 || e.override || e.kind == isBorn || e.kind == isRedo {
		return false
	}
	if e.kind == isPull {
		return true // of what its gate asks git for: see shown
	}
	if len(w.def.Transitions[e.edge].Gate) == 0 {
		return true
	}
	at := slices.Index(w.leaving[before.status], int(e.edge))
	return e.look >= 0 && at >= 0 && w.forge.looks[before.status][bit(before.workspace)][e.look].gates[at]
}

// shown reports whether an event that meets its gate shows also what the gate asks git for: a merge elsewhere takes the
// place of that.
func shown(e event) bool { return e.kind != isPull || e.on != pullMerged }

// passes follows one thing through all ways.
type passes struct {
	*walk
	name    string
	gives   []bool // by transition: its gate cannot be met without the thing
	offers  []bool // by transition: its gate asks for the thing, or for something else
	verdict bool   // it is a verdict, on what was there when its judge began
	git     bool   // it is what git shows
	shows   []bool // by transition: its gate shows that nothing changed since the state's evidence was noted
	plan    bool   // it is a verdict on a plan: see there
	written []bool // by state: the plan is made there
	besides string // what is followed besides the usual: passed.ByMerge, passed.ByBirth, passed.ByOverride or nothing
	trails  *trails
}

// trails are the shortest ways to all nodes that were found. They serve one thing after the other: a table needs about
// 110 bytes for each configuration.
type trails struct {
	seen []bool
	from []place // by node: where the way to it came from
	by   []int32 // which way of that configuration it was, or which birth; edited for none of them
	open []place
}

const edited = -1

func newTrails(configurations int) *trails {
	nodes := configurations << 3
	return &trails{make([]bool, nodes), make([]place, nodes), make([]int32, nodes), nil}
}

// visit notes the first way to a place.
func (t *trails) visit(was, now place, by int) {
	if n := now.node(); !t.seen[n] {
		t.seen[n], t.from[n], t.by[n] = true, was, int32(by)
		t.open = append(t.open, now)
	}
}

// place is a configuration, with what is so there of two versions of the work: the present one, and the one that the
// evidence of the state is about.
type place struct {
	at     int32
	noted  bool // they are the same
	passed bool // the present one has passed the thing
	judged bool // the other one has passed it
	found  bool
}

func (p place) node() int {
	return int(p.at)<<3 | bit(p.noted)<<2 | bit(p.passed)<<1 | bit(p.judged)
}

// changes reports whether an agent lives that can change the work.
func (w *walk) changes(c config) bool {
	for r := range w.roles {
		if c.agent(r) == alive && !w.readers[r] {
			return true
		}
	}
	return false
}

// after is what is so of the thing after a step. Can is false where the step does not happen: its gate shows that the
// present version is the one that the evidence is about, and it is not.
func (p *passes) after(was place, one step) (now place, can bool) {
	var before config
	if was.at >= 0 {
		before = p.configs[was.at]
	}
	after := p.configs[one.to]
	state := &p.def.States[after.status]
	now = place{at: one.to, noted: was.noted, passed: was.passed, judged: was.judged, found: true}
	notes := !one.event.carried // the state's evidence is about what it finds
	switch e := one.event; {
	case one.moves || one.again || was.at < 0:
		met := was.at >= 0 && p.meets(before, e)
		if met && p.shows[e.edge] && shown(e) && !was.noted {
			return now, false
		}
		switch {
		case p.name == aPerson && e.role < 0 && e.kind == isRequest, met && p.asked(e) && !p.verdict:
			now.passed, now.judged = true, was.judged || was.noted
		case met && p.asked(e):
			now.judged, now.passed = true, was.passed || was.noted
		}
	case !p.starts(before, after, e) || state.Subject == workflow.SubjectCarried:
		notes = false
	}
	if p.plan {
		now.noted, now.passed = true, now.judged && !p.written[after.status]
		now.judged = now.passed
		return now, true
	}
	if notes || was.at < 0 {
		now.noted, now.judged = true, now.passed
	}
	return now, true
}

// edits are the places to which an agent comes that changes the work: by a version that is new, or by the one that the
// evidence is about.
func (p *passes) edits(was place) []place {
	if p.plan || !p.changes(p.configs[was.at]) {
		return nil
	}
	fresh, back := was, was
	fresh.noted, fresh.passed = false, false
	back.noted, back.passed = true, was.judged
	return []place{fresh, back}
}

// asked reports whether an event whose gate is met cannot happen without the thing.
func (p *passes) asked(e event) bool { return p.gives[e.edge] && (!p.git || shown(e)) }

// planOf says of a verdict whether it is about a plan: it asks git for nothing, and where it passes work begins that
// another verdict judges. That work is none of the plan's. written are the states in which the plan is made: those that
// hand over to this verdict, and come to another one only by it.
func (w *walk) planOf(name string) (is bool, written []bool) {
	var judges, begin []task.Status
	for i := range w.def.Transitions {
		edge := &w.def.Transitions[i]
		if verdict, gives := needs(edge.Gate)[name]; !gives || !verdict || edge.To == edge.From {
			continue
		}
		if workflow.Asks(edge.Gate, workflow.GitUnmoved) || workflow.Asks(edge.Gate, workflow.GitAsReviewed) {
			return false, nil
		}
		judges, begin = append(judges, edge.From), append(begin, edge.To)
	}
	works := func(s task.Status) bool {
		state, _ := w.def.State(s)
		return state.Role != "" && state.Role != task.RoleHuman && !w.judged(s, "") && w.comesTo(s, name, judges)
	}
	if !slices.ContainsFunc(begin, works) {
		return false, nil
	}
	written = make([]bool, len(w.def.States))
	for _, judge := range judges {
		for _, author := range w.authors(judge) {
			written[w.place(author.Name)] = !w.comesTo(author.Name, name, judges)
		}
	}
	return true, written
}

// judged reports whether a move out of a state asks for a verdict by another name.
func (w *walk) judged(s task.Status, name string) bool {
	return slices.ContainsFunc(w.leaving[w.place(s)], func(n int) bool {
		for other, verdict := range needs(w.def.Transitions[n].Gate) {
			if verdict && other != name {
				return true
			}
		}
		return false
	})
}

// comesTo reports whether a task comes from a state to another verdict than this one without passing those that judge.
func (w *walk) comesTo(from task.Status, name string, judges []task.Status) bool {
	seen, open := map[task.Status]bool{from: true}, []task.Status{from}
	for n := 0; n < len(open); n++ {
		if slices.Contains(judges, open[n]) {
			continue
		}
		if w.judged(open[n], name) {
			return true
		}
		for _, e := range w.leaving[w.place(open[n])] {
			if to := w.def.Transitions[e].To; w.place(to) >= 0 && !seen[to] {
				seen[to], open = true, append(open, to)
			}
		}
	}
	return false
}

// starts reports whether the agent of the present state is started by a step that does not move the task.
func (w *walk) starts(before, after config, e event) bool {
	r := slices.Index(w.roles, w.def.States[after.status].Role)
	return r >= 0 && after.agent(r) == alive && (before.agent(r) != alive || e.kind == isRespawn || e.kind == isRevival)
}

// follow goes all ways, and those besides. It returns the nodes in the order in which they were found, the nearest
// first, until it is called again.
func (p *passes) follow(besides string) []place {
	p.besides = besides
	clear(p.trails.seen)
	p.trails.open = p.trails.open[:0]
	try := func(was place, by int, one step) {
		if now, can := p.after(was, one); can && p.follows(was, one) {
			p.trails.visit(was, now, by)
		}
	}
	for i, one := range p.born {
		try(place{at: -1}, i, one)
	}
	for n := 0; n < len(p.trails.open); n++ {
		at := p.trails.open[n]
		for i, one := range p.ways[at.at] {
			try(at, i, one)
		}
		for _, changed := range p.edits(at) {
			p.trails.visit(at, changed, edited)
		}
	}
	return p.trails.open
}

// last is the step of the shortest way to a place that leads there.
func (p *passes) last(to place) (was place, one step) {
	was = p.trails.from[to.node()]
	by := p.trails.by[to.node()]
	switch {
	case was.at < 0:
		return was, p.born[by]
	case by == edited:
		return was, step{to: to.at, event: event{kind: isEdit, role: -1, edge: -1}}
	}
	return was, p.ways[was.at][by]
}

// follows reports whether a step is one of those that are followed now.
func (p *passes) follows(was place, one step) bool {
	switch {
	case was.at < 0:
		return p.besides == passed.ByBirth || p.def.States[p.configs[one.to].status].Name == p.def.Initial
	case one.event.override:
		return p.besides == passed.ByOverride
	}
	return p.besides == passed.ByMerge || shown(one.event)
}

// table is of what each good end has passed.
func (w *walk) table() []passed.GoodEnd {
	names, verdicts := w.things()
	var out []passed.GoodEnd
	for i := range w.def.States {
		name := w.def.States[i].Name
		if decide.Marks(w.def, name).Good {
			out = append(out, passed.GoodEnd{End: name, Always: []string{}, Around: []passed.Around{}})
		}
	}
	trails, besides := newTrails(len(w.configs)), w.besides()
	for _, name := range names {
		p := w.passesOf(name, verdicts[name])
		p.trails = trails
		p.tellEnds(out, besides)
	}
	return out
}

// besides are the kinds of ways that there are besides the usual, in the order in which they are followed.
func (w *walk) besides() []string {
	merges, births, overrides := false, len(w.born) > 1, false
	for _, ways := range w.ways {
		for _, one := range ways {
			merges, overrides = merges || !shown(one.event), overrides || one.event.override
		}
	}
	out := []string{""}
	for _, kind := range []struct {
		name  string
		there bool
	}{{passed.ByMerge, merges}, {passed.ByBirth, births}, {passed.ByOverride, overrides}} {
		if kind.there {
			out = append(out, kind.name)
		}
	}
	return out
}

// tellEnds adds the thing to the good ends: to what every way there has passed, or with what leads around it. It is
// nothing to an end to which no way has it.
func (p *passes) tellEnds(out []passed.GoodEnd, besides []string) {
	asked, around := make([]bool, len(out)), make([]string, len(out))
	told := make([]bool, len(out))
	for _, kind := range besides {
		all := p.follow(kind)
		for i := range out {
			with, without := ends(p.configs, all, p.place(out[i].End))
			byName := kind == passed.ByBirth || kind == passed.ByOverride
			asked[i] = asked[i] || !byName && (with.found || !slices.Contains(p.gives, true))
			if without.found && asked[i] && !told[i] {
				out[i].Around, told[i], around[i] = append(out[i].Around, p.around(without, kind)), true, kind
			}
		}
	}
	for i := range out {
		if asked[i] && (!told[i] || around[i] == passed.ByBirth || around[i] == passed.ByOverride) {
			out[i].Always = append(out[i].Always, p.name)
		}
	}
}

// things are the names of all that a task can pass, in the order of the file, and which of them are verdicts.
func (w *walk) things() (names []string, verdicts map[string]bool) {
	verdicts = map[string]bool{}
	for i := range w.def.Transitions {
		for _, p := range workflow.Leaves(w.def.Transitions[i].Gate) {
			if name := nameOf(&p); good(&p) && !slices.Contains(names, name) {
				names, verdicts[name] = append(names, name), p.IsVerdict()
			}
		}
	}
	return append(names, aPerson), verdicts
}

func (w *walk) passesOf(name string, verdict bool) *passes {
	p := &passes{walk: w, name: name, verdict: verdict, gives: make([]bool, len(w.def.Transitions)),
		offers: make([]bool, len(w.def.Transitions)),
		shows:  make([]bool, len(w.def.Transitions))}
	p.plan, p.written = w.planOf(name)
	for i := range w.def.Transitions {
		gate := w.def.Transitions[i].Gate
		_, p.gives[i] = needs(gate)[name]
		for _, part := range workflow.Leaves(gate) {
			if good(&part) && nameOf(&part) == name {
				p.offers[i], p.git = true, part.Git != ""
			}
		}
		p.shows[i] = slices.ContainsFunc(workflow.Certain(gate), func(part workflow.Part) bool {
			return part.Git == workflow.GitUnmoved || part.Git == workflow.GitAsReviewed
		})
	}
	return p
}

// ends are the nearest places at an end at which the thing was passed, and was not.
func ends(configs []config, all []place, end int16) (with, without place) {
	for _, p := range all {
		switch {
		case configs[p.at].status != end:
		case p.passed && !with.found:
			with = p
		case !p.passed && !without.found:
			without = p
		}
	}
	return with, without
}
