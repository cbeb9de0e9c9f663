package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// historian reads the history of a task from its beginning, and reports what in it breaks a promise that "orange
// workflow check" makes of the workflow (docs/properties.md). It knows the events and the workflow as read from its
// file. It shares no code with the prover, nor with the judge: so it finds an error that both share.
type historian struct {
	def   *workflow.Definition
	most  reach // how far everything goes by itself, as check prints it
	wrong []string
	// an agent acts while the program that started it has still to note that, or another one moves the task on
	concurrent bool

	status, previous task.Status
	queued           task.Status // where it is moved to as soon as there is a workspace
	waits            bool        // it is moved on as soon as the tasks are done that it waits for
	been             map[task.Status]bool
	counters         task.Counters
	spent            map[task.Evidence]int
	alive            map[string]bool
	recovered        bool     // a move was made since the last crash, and not by it
	held             bool     // it has a workspace, or one is being made ready
	gaveBack         bool     // it could not be made ready, and may be another task's until the next try
	authors          []string // whose work is judged in the present status
	last             history.Event
	gone, furthest   reach // since the last act of a person, and at most
}

// reach is how far a task goes between one act of a person and the next.
type reach struct{ moves, agents, reviews int }

func (r reach) beyond(o reach) bool {
	return r.moves > o.moves || r.agents > o.agents || r.reviews > o.reviews
}

func (r reach) atLeast(o reach) reach {
	return reach{max(r.moves, o.moves), max(r.agents, o.agents), max(r.reviews, o.reviews)}
}

func newHistorian(def *workflow.Definition, most reach) *historian {
	return &historian{def: def, most: most, been: map[task.Status]bool{}, spent: map[task.Evidence]int{},
		alive: map[string]bool{}}
}

func (h *historian) blames(e history.Event, property, format string, args ...any) {
	if slices.ContainsFunc(h.def.Allow, func(a workflow.Allowance) bool { return a.Property == property }) {
		return
	}
	h.wrong = append(h.wrong, fmt.Sprintf("[%s] event %d (%s): %s", property, e.Seq, e.Type,
		fmt.Sprintf(format, args...)))
}

// reads takes one more event.
func (h *historian) reads(e history.Event) {
	if e.Actor == task.RoleHuman && e.Type != history.MergeBegun { // it may fail, and then it is no one's act
		h.attends(e)
	}
	switch e.Type {
	case history.Created:
		h.status = task.Status(e.Data[history.DataStatus])
		h.been[h.status] = true
		h.waits = e.Data["waits_for"] != ""
	case history.StatusChanged, history.AutoAdvanced:
		h.moves(e)
	case history.QueuedForSpace:
		h.queued = task.Status(e.Data["for"])
	case history.AgentSpawned, history.ReviewStarted:
		h.starts(e)
	case history.AgentStopped:
		h.ends(e.Data["role"])
	case history.AgentCrashed:
		h.ends(e.Data["role"])
		if was, is := h.counters.Get(task.CrashCount), e.Counters.Get(task.CrashCount); is != was+1 {
			h.blames(e, "rules-legal", "crash %d follows crash %d", is, was)
		}
		h.recovered = false
	case history.CrashesForgotten:
		if !h.recovered || h.counters.Get(task.CrashCount) == 0 {
			h.blames(e, "rules-legal", "the crashes %v are forgotten, and no move came after them", h.counters)
		}
	case history.TimeoutEscalated:
		if e.Data[history.DataRefused] != "" {
			h.blames(e, "rules-legal", "the move of the timeout is refused: %s", e.Data[history.DataRefused])
		}
	}
	h.overdue(e)
	switch {
	case e.Type == history.HookFailure && e.Data["hook"] == action.AcquireWorkspace:
		h.gaveBack = true // as far as the history tells
	case e.Type == history.AgentSpawned:
		h.gaveBack = false
	}
	for _, does := range e.Hooks {
		switch does {
		case action.AcquireWorkspace:
			h.held = true
		case action.ReleaseWorkspace:
			h.held = false
		}
	}
	if len(e.Counters) > 0 {
		h.counters = e.Counters
	}
	h.last = e
	if h.furthest = h.furthest.atLeast(h.gone); h.gone.beyond(h.most) {
		h.blames(e, "bounded", "without a person it went %+v, and check says at most %+v", h.gone, h.most)
	}
}

// attends handles a person's act. It resets some counters, and the task waits for the next act from then on.
func (h *historian) attends(e history.Event) {
	for _, f := range h.def.Fields {
		if f.Reset == workflow.ResetPerson && h.counters.Get(f.Name) != 0 {
			h.counters = h.counters.With(f.Name, 0)
		}
	}
	resets := slices.ContainsFunc(h.def.Fields, func(f workflow.Field) bool { return f.Reset == workflow.ResetPerson })
	if e.IsMove() || e.Type == history.AgentRespawned || e.Type == history.Created || resets { // a retry alone is none
		h.gone = reach{}
	}
}

// overdue checks that too many crashes have led where their rule says: the move comes right after the crash.
func (h *historian) overdue(e history.Event) {
	if h.last.Type != history.AgentCrashed || e.IsMove() && e.Data[history.DataCrash] != "" {
		return
	}
	for _, rule := range h.def.Exit.Rules {
		count := h.last.Counters.Get(task.CrashCount)
		if rule.Status != h.last.In || rule.Action != workflow.ActionCrash || rule.StuckAfter == 0 ||
			count < rule.StuckAfter {
			continue
		}
		if leads := leadsTo(&rule); slices.ContainsFunc(leads, h.exists) {
			h.blames(e, "rules-legal", "%d crashes in %q lead nowhere, and the workflow says to %q", count,
				rule.Status, leads)
		}
	}
}

func (h *historian) exists(s task.Status) bool {
	_, exists := h.def.State(s)
	return exists
}

func (h *historian) starts(e history.Event) {
	role := e.Data["role"]
	if !h.held && !h.concurrent {
		h.blames(e, "workspace", "the %s is started in %q, and the task has no workspace", role, h.status)
	}
	h.alive[role] = true
	h.gone.agents++
	if h.reviews(role) {
		h.gone.reviews++
	}
}

func (h *historian) ends(role string) {
	if role == "all" {
		clear(h.alive)
	}
	delete(h.alive, role)
}

// rests looks at the task at a moment when it owes nothing.
func (h *historian) rests() {
	var work, review []string
	for _, role := range slices.Sorted(maps.Keys(h.alive)) {
		if h.reviews(role) {
			review = append(review, role)
		} else {
			work = append(work, role)
		}
	}
	if len(work) > 1 || len(review) > 1 {
		h.blames(h.last, "one-agent", "in %q there live %q, who work, and %q, who review", h.status, work, review)
	}
	if state, _ := h.def.State(h.status); state.Terminal {
		if len(h.alive) > 0 {
			h.blames(h.last, "nobody-left", "it has ended in %q, and %q live", h.status, append(work, review...))
		}
		if h.held {
			h.blames(h.last, "workspace", "it has ended in %q, and the workspace was not given back", h.status)
		}
	}
}

// reviews reports whether the agents of a role only ever read.
func (h *historian) reviews(role string) bool {
	if role == task.RoleReviewer {
		return true
	}
	for _, r := range h.def.Roles {
		if r.Name == role && r.Permissions != "" {
			return r.Permissions == task.PermissionsReduced
		}
	}
	some := false
	for _, one := range h.lists() {
		for _, hook := range one.hooks {
			if (hook.Action == action.SpawnAgent || hook.Action == action.SpawnReviewer ||
				hook.Action == action.NotifyWorker) && h.startedBy(hook.Hook, one.to) == role {
				if some = true; hook.Permissions != task.PermissionsReduced {
					return false
				}
			}
		}
	}
	return some
}

// declared is a list of hooks with the state that it is for.
type declared struct {
	to    task.Status
	hooks []workflow.Hook
}

func (h *historian) lists() []declared {
	var out []declared
	for i := range h.def.Transitions {
		out = append(out, declared{h.def.Transitions[i].To, h.def.Transitions[i].Hooks})
	}
	for _, b := range h.def.Births {
		out = append(out, declared{b.To, b.Hooks})
	}
	if h.def.PlanFile != nil {
		out = append(out, declared{h.def.PlanFile.To, h.def.PlanFile.Hooks})
	}
	return out
}

// startedBy is the role of the agent that a hook starts.
func (h *historian) startedBy(hook task.Hook, to task.Status) string {
	state, _ := h.def.State(to)
	switch {
	case hook.Action == action.NotifyWorker:
		return task.RoleWorker
	case hook.Role != "":
		return hook.Role
	case hook.Action == action.SpawnReviewer || hook.Harness == task.HarnessReview:
		return task.RoleReviewer
	case state.Role != "" && state.Role != task.RoleReviewer:
		return state.Role
	}
	return task.RoleWorker
}

func leadsTo(rule *workflow.Rule) []task.Status {
	var out []task.Status
	if rule.Then != "" {
		out = append(out, rule.Then)
	}
	for _, branch := range rule.ThenWhen {
		out = append(out, branch.Then)
	}
	return out
}

// goodEnd reports whether a state means that the task has finished, and not that it was given up.
func (h *historian) goodEnd(s task.Status) bool {
	state, _ := h.def.State(s)
	return state.Terminal && !slices.ContainsFunc(h.def.Moves, func(m workflow.Move) bool {
		return m.To == s && (m.Command == workflow.MoveCancel || m.Command == workflow.MovePRClosed)
	})
}

func holds(g workflow.Guard, n int) bool {
	switch g.Op {
	case "<":
		return n < g.Value
	case "<=":
		return n <= g.Value
	case ">":
		return n > g.Value
	case ">=":
		return n >= g.Value
	case "==":
		return n == g.Value
	case "!=":
		return n != g.Value
	}
	return false
}

func failuresOf(s task.Status) string { return task.Failures(s) }

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func headingOf(section string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimLeft(section, "# ")))
}
