package engine_test

import (
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// moves checks that the workflow has a move, for its actor, and with the evidence that it asks for.
func (h *historian) moves(e history.Event) {
	if e.From != h.status {
		h.blames(e, "reachable", "it moves from %q, and the task was in %q", e.From, h.status)
	}
	if state, _ := h.def.State(h.status); state.Terminal && e.Data[history.DataRedo] == "" {
		h.blames(e, "terminating", "it moves out of %q, which is an end", h.status)
	}
	var edge *workflow.Transition
	switch {
	case e.Data[history.DataRedo] != "":
		h.redone(e)
	case e.Data[history.DataCrash] != "":
		edge = h.crashed(e)
	default:
		edge = h.taken(e)
	}
	h.counts(e, edge)
	h.judges(e, edge)
	for _, one := range e.Evidence {
		h.spent[one] = e.Seq
	}
	if e.Actor != task.RoleHuman {
		h.gone.moves++
	}
	if e.To != e.From {
		h.previous = e.From
	}
	h.status, h.queued, h.waits, h.recovered = e.To, "", false, e.Data[history.DataCrash] == ""
	h.been[e.To] = true
}

func (h *historian) place(s task.Status) int {
	return slices.IndexFunc(h.def.States, func(one workflow.State) bool { return one.Name == s })
}

// redone checks a redo by a person.
func (h *historian) redone(e history.Event) {
	named := slices.ContainsFunc(h.def.Redo, func(n workflow.Named) bool { return n.Name == string(e.To) })
	if e.Actor != task.RoleHuman || !named || !h.been[e.To] || h.place(e.To) > h.place(e.From) {
		h.blames(e, "reachable", "%s has %q done anew, from %q; the task has been in %v", e.Actor, e.To, e.From, h.been)
	}
}

// crashed is a move by too many crashes. The edge is the declared one whose hooks it has, if it has those of one.
func (h *historian) crashed(e history.Event) *workflow.Transition {
	state, _ := h.def.State(e.From)
	count := atoi(e.Data[history.DataCrash])
	fits := func(r workflow.Rule) bool {
		return r.Status == e.From && r.Action == workflow.ActionCrash && r.StuckAfter > 0 &&
			count >= r.StuckAfter && slices.Contains(leadsTo(&r), e.To)
	}
	if e.Actor != task.ActorEngine || h.last.Type != history.AgentCrashed || h.last.Data["role"] != state.Role ||
		!slices.ContainsFunc(h.def.Exit.Rules, fits) {
		h.blames(e, "rules-legal", "%d crashes of the %s lead from %q to %q, and no rule says so", count,
			h.last.Data["role"], e.From, e.To)
	}
	var declared *workflow.Transition
	for i := range h.def.Transitions {
		edge := &h.def.Transitions[i]
		if edge.From != e.From || edge.To != e.To {
			continue
		}
		if slices.Equal(actionsOf(edge.Hooks), e.Hooks) && h.leads(edge) {
			declared = edge
		}
	}
	return declared
}

func actionsOf(hooks []workflow.Hook) []string {
	var out []string
	for _, one := range hooks {
		out = append(out, one.Action)
	}
	return out
}

// taken finds the transition over which a move was made.
func (h *historian) taken(e history.Event) *workflow.Transition {
	var open, fit []*workflow.Transition
	override := e.Data[history.DataOverride] != ""
	for i := range h.def.Transitions {
		edge := &h.def.Transitions[i]
		if edge.From != e.From || edge.To != e.To || !h.leads(edge) || !override && !h.guarded(edge) {
			continue
		}
		open = append(open, edge)
		if h.allowed(e, edge) && (override && h.def.Overridable(edge) || !override && h.named(e, edge.Gate)) &&
			h.hooked(e, edge) {
			fit = append(fit, edge)
		}
	}
	if override && (e.Actor != task.RoleHuman || strings.TrimSpace(e.Reason) == "") {
		h.blames(e, "reachable", "the %s overrides the move to %q for the reason %q", e.Actor, e.To, e.Reason)
	}
	if e.Actor == task.ActorEngine {
		h.ruled(e)
	}
	for i, one := range open {
		for _, other := range open[:i] {
			if !override && !apart(one.Gate, other.Gate) {
				h.blames(e, "disjoint", "two transitions from %q to %q are open at %v", e.From, e.To, h.counters)
			}
		}
	}
	if len(fit) == 0 {
		h.blames(e, "reachable", "from %q to %q there is no transition for the %s (as %q) at %v that rests on "+
			"%v and sets going %v",
			e.From, e.To, e.Actor, e.ActingAs, h.counters, e.Evidence, e.Hooks)
		return nil
	}
	return fit[0]
}

// hooked reports whether a move sets going what its edge says; one that starts an agent in a task without a workspace
// gets it one first.
func (h *historian) hooked(e history.Event, edge *workflow.Transition) bool {
	want := actionsOf(edge.Hooks)
	starts := func(name string) bool {
		row, _ := action.Of(name)
		return row.Means == action.StartsAgent || row.Means == action.NotifiesWorker
	}
	if (!h.held || h.gaveBack) && e.From != h.def.Initial && slices.ContainsFunc(want, starts) &&
		!slices.Contains(want, action.AcquireWorkspace) {
		room := append([]string{action.AcquireWorkspace}, want...)
		return slices.Equal(room, e.Hooks) || h.held && slices.Equal(want, e.Hooks)
	}
	return slices.Equal(want, e.Hooks)
}

func (h *historian) leads(edge *workflow.Transition) bool {
	return len(edge.CameFrom) == 0 || slices.Contains(edge.CameFrom, h.previous)
}

func (h *historian) guarded(edge *workflow.Transition) bool {
	for _, g := range edge.When {
		n := h.counters.Get(g.Field)
		if g.Field == workflow.CountFailures {
			if n = h.counters.Get(failuresOf(edge.From)); edge.Failure {
				n++
			}
		}
		if !holds(g, n) {
			return false
		}
	}
	return true
}

// allowed reports whether the actor of a move may make it, and is there: an agent lives, or a person asks.
func (h *historian) allowed(e history.Event, edge *workflow.Transition) bool {
	speaks := e.Actor
	if e.ActingAs != "" {
		speaks = e.ActingAs
	}
	switch e.Actor {
	case task.ActorEngine:
		return true
	case task.RoleHuman:
	default:
		if !h.alive[e.Actor] && !h.concurrent || e.ActingAs != "" {
			return false
		}
	}
	return len(edge.By) == 0 || slices.Contains(edge.By, speaks)
}

// named reports whether evidence is named for all parts of a gate, none of which asks for something new was there
// before.
func (h *historian) named(e history.Event, parts []workflow.Part) bool {
	for _, p := range parts {
		switch {
		case len(p.All) > 0:
			if !h.named(e, p.All) {
				return false
			}
		case len(p.Any) > 0:
			if !slices.ContainsFunc(p.Any, func(one workflow.Part) bool { return h.named(e, []workflow.Part{one}) }) {
				return false
			}
		default:
			found := slices.ContainsFunc(e.Evidence, func(one task.Evidence) bool {
				return sourceIs(one.Source, p) && (!p.Fresh || h.spent[one] == 0)
			})
			if !found {
				return false
			}
		}
	}
	return true
}

// sourceIs reports whether evidence has the name of what a part looks at.
func sourceIs(source string, p workflow.Part) bool {
	if p.Section != "" {
		return strings.HasPrefix(source, "## ") && headingOf(source) == headingOf(p.Section)
	}
	switch {
	case p.Check != "":
		return source == "check "+p.Check
	case p.Git != "":
		return source == "git "+p.Git
	}
	return source == p.File+p.Glob
}

// apart reports whether two gates cannot be met at once: one asks for what the other excludes.
func apart(a, b []workflow.Part) bool {
	for _, p := range sure(a) {
		for _, q := range sure(b) {
			switch {
			case p.Section != "" && headingOf(p.Section) == headingOf(q.Section) && p.Verdict != "" &&
				q.Verdict != "" && p.Verdict != q.Verdict,
				p.Check != "" && p.Check == q.Check && p.Result != q.Result,
				p.Git == workflow.GitMoved && q.Git == workflow.GitUnmoved, p.Git == workflow.GitUnmoved &&
					q.Git == workflow.GitMoved:
				return true
			}
		}
	}
	return false
}

// sure are the parts of a gate that it always asks for.
func sure(parts []workflow.Part) []workflow.Part {
	var out []workflow.Part
	for _, p := range parts {
		if out = append(out, sure(p.All)...); len(p.All) == 0 && len(p.Any) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// ruled checks that a move without a request follows from an exit rule or from the time.
func (h *historian) ruled(e history.Event) {
	state, _ := h.def.State(e.From)
	if h.queued == e.To || h.waits || h.sentBack(e, state) {
		return
	}
	switch h.last.Type {
	case history.TimeoutEscalated:
		if state.Timeout.Then != e.To {
			h.blames(e, "rules-legal", "the time of %q leads to %q, and the workflow says to %q", e.From, e.To,
				state.Timeout.Then)
		}
		return
	case history.AgentStopped:
		well := h.last.Data["exit_status"] == "0" && h.last.Data["signal"] == ""
		for i := range h.def.Exit.Rules {
			rule := &h.def.Exit.Rules[i]
			anew := e.From == e.To && slices.ContainsFunc(h.def.Transitions, func(t workflow.Transition) bool {
				return t.From == e.From && t.To == e.To && judgesMove(t.Gate)
			})
			if rule.Status != e.From || rule.HasArtifact == nil || !slices.Contains(leadsTo(rule), e.To) && !anew {
				continue
			}
			refuses := workflow.Leaves([]workflow.Part{*rule.HasArtifact})[0].Verdict == "FAIL" ||
				h.place(e.To) < h.place(e.From)
			if verdictIn([]workflow.Part{*rule.HasArtifact}) && !well && !refuses {
				continue
			}
			if h.last.Data["ended"] != "" && h.last.Data["role"] == state.Role {
				return
			}
		}
	}
	h.blames(e, "rules-legal", "no one has asked for the move from %q to %q, and after %s no rule says so",
		e.From, e.To, h.last.Type)
}

// sentBack reports whether a rule of a state says that a move follows from what happened to the work.
func (h *historian) sentBack(e history.Event, state workflow.State) bool {
	return slices.ContainsFunc(state.SendBack, func(rule workflow.SendBack) bool {
		return rule.Then == e.To && slices.ContainsFunc(rule.On, func(on string) bool {
			_, told := e.Data[on]
			return told
		}) && !slices.ContainsFunc(rule.When, func(g workflow.Guard) bool { return !holds(g, h.counters.Get(g.Field)) })
	})
}

// judgesMove reports whether a gate asks for a tip that has moved.
func judgesMove(gate []workflow.Part) bool {
	return slices.ContainsFunc(sure(gate), func(p workflow.Part) bool { return p.Git == workflow.GitMoved })
}

func verdictIn(parts []workflow.Part) bool {
	return slices.ContainsFunc(parts, func(p workflow.Part) bool {
		return p.Verdict != "" || p.Judges || verdictIn(p.All) || verdictIn(p.Any)
	})
}

// judges checks that no actor has passed a verdict on its own work, and notes whose work is judged in the task's
// present status.
func (h *historian) judges(e history.Event, edge *workflow.Transition) {
	state, _ := h.def.State(e.From)
	switch {
	case edge == nil || e.Data[history.DataCrash] != "" || len(edge.Gate) == 0:
		h.authors = nil
	case verdictIn(edge.Gate):
		judge := e.Actor
		if e.Actor == task.ActorEngine {
			judge = state.Role // it has left the verdict, and ended
		}
		if slices.Contains(h.authors, judge) && e.Data[history.DataOverride] == "" {
			h.blames(e, "own-work", "the %s passes a verdict on its own work", judge)
		}
	case e.From == e.To:
	case state.Role == "" || state.Role == task.RoleHuman:
		h.authors = nil
	default:
		h.authors = []string{state.Role}
	}
}

// counts checks that a move leaves the counters as its transition says.
func (h *historian) counts(e history.Event, edge *workflow.Transition) {
	want := h.counters
	var hooks []workflow.Hook
	switch {
	case e.Data[history.DataRedo] != "":
		want = want.With(failuresOf(e.To), 0)
	case edge != nil:
		hooks = edge.Hooks
	}
	switch {
	case edge == nil || e.Data[history.DataCrash] != "":
	case edge.Failure:
		want = want.With(failuresOf(e.From), want.Get(failuresOf(e.From))+1)
	case e.From != e.To:
		want = want.With(failuresOf(e.From), 0)
	}
	for _, one := range hooks {
		field := one.Field
		if field == workflow.CountFailures {
			field = failuresOf(e.To)
		}
		switch {
		case one.Action == action.SetField:
			want = want.With(field, one.Value)
		case field != "": // an agent's start may count a round too
			want = want.With(field, want.Get(field)+1)
		}
	}
	owes := slices.ContainsFunc(e.Hooks, func(does string) bool {
		return !slices.Contains([]string{action.SetField, action.Increment, action.IncrementReviewRound}, does)
	})
	if count := e.Data[history.DataCrash]; count != "" {
		want = want.With(task.CrashCount, atoi(count))
	} else if !owes {
		want = want.With(task.CrashCount, 0)
	}
	if e.Actor == task.RoleHuman {
		for _, f := range h.def.Fields {
			if f.Reset == workflow.ResetPerson {
				want = want.With(f.Name, 0)
			}
		}
	}
	for _, one := range slices.Concat(want, e.Counters) {
		if want.Get(one.Name) != e.Counters.Get(one.Name) {
			h.blames(e, "bounded", "%s is %d after the move, and the workflow makes it %d", one.Name,
				e.Counters.Get(one.Name), want.Get(one.Name))
		}
	}
}
