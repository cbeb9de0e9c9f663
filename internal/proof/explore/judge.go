package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// report notes a flaw; of those at one line it keeps the first, which was found by the shortest way.
func (w *walk) report(property string, f flaw) {
	if w.hasFlaw(property, f.pos) {
		return
	}
	w.flaws[property] = append(w.flaws[property], f)
}

func (w *walk) hasFlaw(property string, at yaml.Pos) bool {
	return slices.ContainsFunc(w.flaws[property], func(have flaw) bool { return have.pos.Line == at.Line })
}

// checkEntry reports what is wrong with a configuration on entry, or with the way there.
func (w *walk) checkEntry(at int32, one step, p performed) {
	c := p.config
	left := w.living(c, func(int) bool { return w.def.States[c.status].Terminal })
	for _, m := range p.unfit {
		if m.hook.Action == action.ReleaseWorkspace && slices.Contains(left, m.role) {
			continue // it lives on, which is reported by that name
		}
		pos, state := hookPlace(w.hooksInFile(one.event), m.hook, w.placeOfWay(at, one)), w.def.States[c.status].Name
		f := flaw{at: at, last: one.copy(), pos: pos}
		f.message = fmt.Sprintf("the %s would be started in %q, and the task has no workspace there", m.role, state)
		f.suggestion = fmt.Sprintf("put %q before %q", action.AcquireWorkspace, m.hook.Action)
		if m.hook.Action == action.ReleaseWorkspace {
			f.message = fmt.Sprintf("the workspace is given back on the way to %q while the %s lives in it",
				state, m.role)
			f.suggestion = fmt.Sprintf("put %q before %q", action.KillSession, m.hook.Action)
		}
		w.report(Workspace, f)
	}
	if c.owed != 0 {
		return
	}
	w.checkTwoAgents(at, one, c)
	w.checkLingering(at, one, c)
	if state := &w.def.States[c.status]; state.Terminal {
		if len(left) > 0 {
			w.report(NobodyLeft, flaw{
				at: at, last: one.copy(), pos: w.placeOfWay(at, one),
				suggestion: fmt.Sprintf("add the hook %q", action.KillSession),
				message: fmt.Sprintf("the task has ended in %q, and the %s still lives", state.Name,
					strings.Join(left, " and the ")),
			})
		}
		if c.workspace {
			w.report(Workspace, flaw{
				at: at, last: one.copy(), pos: w.placeOfWay(at, one),
				suggestion: fmt.Sprintf("add the hook %q", action.ReleaseWorkspace),
				message: fmt.Sprintf("the task has ended in %q with its workspace, which no other task can get then",
					state.Name),
			})
		}
	}
}

// checkLingering warns of an agent that lives on in a state that has another role, or none. A worker may: it waits
// there for its turn.
func (w *walk) checkLingering(at int32, one step, c config) {
	if at < 0 || !one.moves || one.event.kind == isDeath || c.livesAtMost(0) {
		return
	}
	before, state := &w.def.States[w.configs[at].status], &w.def.States[c.status]
	r := w.roleOf[w.configs[at].status]
	own := before.Role != task.RoleWorker && before.Role != task.RoleHuman && r >= 0
	if !own || state.Terminal || state.Role == before.Role || c.agent(r) != alive {
		return
	}
	ends := action.KillReviewer
	if before.Role != task.RoleReviewer {
		ends = action.KillAgent + " with role: " + before.Role
	}
	w.report(NobodyLeft, flaw{
		at: at, last: one.copy(), pos: w.placeOfWay(at, one), mild: true,
		suggestion: fmt.Sprintf("add the hook %s", ends),
		message:    fmt.Sprintf("the %s lives on in %q, where it has nothing to do", before.Role, state.Name),
	})
}

// judgeMixed warns of states to which a task comes with a workspace and without one. It skips a state out of which a
// move prepares a workspace: the workflow expects both there. Of several such states in a row it names the first.
func (w *walk) judgeMixed() {
	with, without := map[int16]bool{}, map[int16]bool{}
	for _, c := range w.configs {
		if c.owed == 0 {
			with[c.status], without[c.status] = with[c.status] || c.workspace, without[c.status] || !c.workspace
		}
	}
	mixed := func(s int16) bool { return with[s] && without[s] }
	for i, s := range w.def.States {
		at := int16(i)
		if !mixed(at) || s.Terminal || slices.ContainsFunc(w.leaving[i], func(n int) bool {
			return w.def.Transitions[n].Has(action.AcquireWorkspace)
		}) {
			continue
		}
		begins := slices.ContainsFunc(w.def.Births, func(b workflow.Birth) bool { return b.To == s.Name }) ||
			slices.ContainsFunc(w.def.Transitions, func(e workflow.Transition) bool {
				return e.To == s.Name && e.From != s.Name && !mixed(w.place(e.From))
			})
		if begins {
			w.report(Workspace, flaw{
				at: -1, pos: s.Pos, mild: true, suggestion: "put acquire_workspace on all ways into it",
				message: fmt.Sprintf("a task can come to %q with a workspace and without one", s.Name),
			})
		}
	}
}

// checkTwoAgents reports two agents where only one may be.
func (w *walk) checkTwoAgents(at int32, one step, c config) {
	if c.livesAtMost(1) {
		return
	}
	var lives [2]int
	for r := range w.roles {
		if c.agent(r) == alive {
			lives[bit(w.readers[r])]++
		}
	}
	for _, reads := range []bool{false, true} {
		if lives[bit(reads)] < 2 {
			continue
		}
		pos := w.placeOfWay(at, one)
		if w.hasFlaw(OneAgent, pos) {
			continue
		}
		who := w.living(c, func(r int) bool { return w.readers[r] == reads })
		work := "change the work"
		if reads {
			work = "review it"
		}
		w.report(OneAgent, flaw{
			at: at, last: one.copy(), pos: pos,
			message: fmt.Sprintf("the %s live in %q together, and both %s", strings.Join(who, " and the "),
				w.def.States[c.status].Name, work),
			suggestion: fmt.Sprintf("end the one before the other is started: {action: %s, role: %s}",
				action.KillAgent, who[0]),
		})
	}
}

func (w *walk) living(c config, which func(role int) bool) []string {
	var out []string
	for r, name := range w.roles {
		if c.agent(r) == alive && which(r) {
			out = append(out, name)
		}
	}
	return out
}

// hooksInFile are the hooks of an event as the file has them, for their places. Where one has failed it is none of the
// others.
func (w *walk) hooksInFile(e event) []workflow.Hook {
	switch {
	case e.failing >= 0:
	case e.edge >= 0:
		return w.def.Transitions[e.edge].Hooks
	case e.kind == isBorn && e.to >= 0:
		return w.def.Births[e.to].Hooks
	case e.kind == isBorn:
		return w.def.PlanFile.Hooks
	}
	return nil
}

func hookPlace(declared []workflow.Hook, h task.Hook, instead yaml.Pos) yaml.Pos {
	for _, d := range declared {
		if d.Action == h.Action && d.Role == h.Role && d.Prompt == h.Prompt && d.Pos.Line > 0 {
			return d.Pos
		}
	}
	return instead
}

// placeOfWay is the place in the file that causes what happens on a way.
func (w *walk) placeOfWay(at int32, one step) yaml.Pos {
	e := one.event
	if at < 0 {
		if e.to < 0 {
			return w.def.PlanFile.Pos
		}
		birth := w.def.Births[e.to]
		if birth.Pos.Line == 0 {
			return w.def.States[w.place(birth.To)].Pos
		}
		return birth.Pos
	}
	before, after := w.configs[at], w.configs[one.to]
	pos := w.def.States[before.status].Pos
	switch e.kind {
	case isPull, isRequest, isTimer, isRefused, isSetback:
		if e.edge >= 0 {
			return w.def.Transitions[e.edge].Pos
		}
	case isDeath:
		for _, r := range w.rules[before.status] {
			rule := &w.def.Exit.Rules[r]
			if !one.moves || !slices.Contains(rule.LeadsTo(), w.def.States[after.status].Name) {
				continue
			}
			if byForce := rule.Action == workflow.ActionCrash; byForce != e.met {
				return rule.Pos
			}
			if pos == w.def.States[before.status].Pos {
				pos = rule.Pos
			}
		}
	case isSettle:
		return w.placeOfWay(w.parent[at], step{to: at, event: w.by[at], moves: true})
	}
	return pos
}

// judge looks at the configurations and the ways between them as a whole.
func (w *walk) judge() Bound {
	w.judgeReachable()
	w.judgeEnds()
	bound := w.judgeBound()
	w.judgeGuards()
	w.judgeOutcomes()
	w.judgeRules()
	w.judgePrompts()
	w.judgeRoles()
	w.judgeAuthors()
	w.judgeShut()
	w.judgeMixed()
	w.judgeMerges()
	if limits := w.judgeLimits(); bound != (Bound{}) {
		bound.Limits = limits
	}
	return bound
}

func (w *walk) judgeReachable() {
	come := make([]bool, len(w.def.States))
	for _, c := range w.configs {
		come[c.status] = true
	}
	for i, s := range w.def.States {
		if !come[i] {
			w.report(Reachable, flaw{
				at: -1, pos: s.Pos, message: fmt.Sprintf("no task can ever come to %q", s.Name),
				suggestion: "give it a transition that can be taken, or name it under create, or take it out",
			})
		}
	}
	type origin struct {
		pos  yaml.Pos
		from task.Status
	}
	taken := map[origin]bool{}
	for n := range w.def.Transitions {
		t := &w.def.Transitions[n]
		taken[origin{t.Pos, t.From}] = taken[origin{t.Pos, t.From}] || w.taken[n]
	}
	for n := range w.def.Transitions {
		t := &w.def.Transitions[n]
		if from := w.place(t.From); from >= 0 && come[from] && !taken[origin{t.Pos, t.From}] {
			w.report(Reachable, flaw{
				at: -1, pos: t.Pos, message: fmt.Sprintf("no one can ever take the transition from %q to %q: %s",
					t.From, t.To, w.whyNeverTaken(n)),
				suggestion: "change what it asks for, or take it out",
			})
		}
	}
}

func (w *walk) whyNeverTaken(n int) string {
	edge := &w.def.Transitions[n]
	from, i := w.place(edge.From), slices.Index(w.leaving[w.place(edge.From)], n)
	holds, came := false, len(edge.CameFrom) == 0
	for _, c := range w.configs {
		if c.status == from {
			t := w.taskOf(c)
			holds = holds || decide.Passes(edge, t)
			came = came || slices.Contains(edge.CameFrom, t.Previous)
		}
	}
	answered := slices.ContainsFunc(w.forge.looks[from][1], func(l combination) bool { return l.gates[i] })
	switch {
	case !came:
		return "no task comes there from where it asks for"
	case !holds:
		guards := make([]string, len(edge.When))
		for i, g := range edge.When {
			guards[i] = g.String()
		}
		return fmt.Sprintf("its guards (%s) never hold in that state", strings.Join(guards, ", "))
	case !answered:
		return "no evidence meets all parts of its gate"
	}
	return "no one who may ask for it is ever there together with what it asks for"
}

// judgeEnds looks for where a task cannot go on, and for where it can go on and never comes to an end.
func (w *walk) judgeEnds() {
	good := make([]bool, len(w.configs))
	for i, c := range w.configs {
		s := &w.def.States[c.status]
		good[i] = s.Terminal && !w.gives[c.status]
		if s.Terminal || w.leadsOn(i) {
			continue
		}
		good[i] = true // it is reported only here
		w.report(NoDeadEnd, flaw{
			at: int32(i), pos: s.Pos, message: fmt.Sprintf("nothing leads on from %q", s.Name) + w.standing(c),
			suggestion: "give it a transition that someone may ask for there, or make it terminal",
		})
	}
	first, from := w.comings()
	var open []int32
	for i := range good {
		if good[i] {
			open = append(open, int32(i))
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, before := range from[first[at]:first[at+1]] {
			if !good[before] {
				good[before] = true
				open = append(open, before)
			}
		}
	}
	for i, c := range w.configs {
		if s := &w.def.States[c.status]; !good[i] && !s.Terminal {
			w.report(Terminating, flaw{
				at: int32(i), pos: s.Pos, message: fmt.Sprintf("from %q no way leads to an end any more",
					s.Name) + w.standing(c),
				suggestion: "let someone lead it to a terminal state from there",
			})
		}
	}
}

// comings are the configurations from which ways lead to each one, in one list, and where those of each begin in it.
func (w *walk) comings() (first, from []int32) {
	first = make([]int32, len(w.configs)+1)
	for i := range w.ways {
		for n := range w.ways[i] {
			first[w.ways[i][n].to]++
		}
	}
	end := int32(0)
	for at, many := range first {
		end += many
		first[at] = end
	}
	from = make([]int32, end)
	for i := range w.ways {
		for n := range w.ways[i] {
			to := w.ways[i][n].to
			first[to]--
			from[first[to]] = int32(i)
		}
	}
	return first, from
}

// leadsOn reports whether the task can leave its status without being given up, if not at once then after something
// else has happened there.
func (w *walk) leadsOn(at int) bool {
	var seen map[int32]bool
	open := []int32{int32(at)}
	for len(open) > 0 {
		now := open[0]
		open = open[1:]
		for _, o := range w.ways[now] {
			if o.moves && !o.gives {
				return true
			}
			if !o.moves && !seen[o.to] {
				if seen == nil { // nearly always the first way leads on
					seen = map[int32]bool{int32(at): true}
				}
				seen[o.to] = true
				open = append(open, o.to)
			}
		}
	}
	return false
}

// standing describes a configuration, except for its status.
func (w *walk) standing(c config) string {
	var known []string
	for _, one := range w.tallies[c.counters] {
		known = append(known, fmt.Sprintf("%s = %d", one.Name, one.Value))
	}
	if c.previous >= 0 {
		known = append(known, fmt.Sprintf("it came from %q", w.def.States[c.previous].Name))
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + strings.Join(known, ", ") + ")"
}
