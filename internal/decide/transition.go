// Package decide is the judge: a workflow, a task, evidence and a request go in, a change or a rejection comes out.
//
// It owns every rule by which a task moves, and it owns nothing else: it reads no file, no clock and no die,
// so the same question always has the same answer. What follows from a yes is data; engine commits it, hook performs it.
package decide

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/task"
	"orange/internal/workflow"
)

// Decision is the answer yes.
type Decision struct {
	Change task.Change
	Moved  bool // false when the task is where the request wanted it already: nothing is to be done
}

// Transition judges a request for a status, in this order: map, actor, guards, gate.
// A no is a *Rejection: its code is that of the first step that failed, its details are those of all.
func Transition(def *workflow.Definition, t task.Task, ev Evidence, req task.Request, now time.Time) (Decision, error) {
	candidates := edges(def, t.Status, req.To)
	if len(candidates) == 0 {
		if req.To == t.Status {
			return Decision{Change: task.Change{Task: t}}, nil
		}
		return Decision{}, illegal(def, t, req)
	}
	var last *Rejection
	for _, edge := range candidates {
		j := judgeGate(edge.Gate, ev)
		rejection := judge(t, edge, req, j)
		if rejection == nil {
			return Decision{Change: accept(def, t, ev, edge, req, j, now), Moved: true}, nil
		}
		last = furthest(last, rejection)
	}
	last.Open = Open(def, t.Status, req.Actor)
	return Decision{}, last
}

func edges(def *workflow.Definition, from, to task.Status) []*workflow.Transition {
	var out []*workflow.Transition
	for i := range def.Transitions {
		if t := &def.Transitions[i]; t.From == from && t.To == to {
			out = append(out, t)
		}
	}
	return out
}

// Allows says whether the actor may ask for the edge. The workflow's own rules always may.
func Allows(edge *workflow.Transition, actor task.Actor) bool {
	if actor.Rule || len(edge.By) == 0 {
		return true
	}
	for _, role := range edge.By {
		if role == actor.Speaks() {
			return true
		}
	}
	return false
}

// Open lists where the actor may ask to go from a status, whatever guards and gates say, in the order of the file.
func Open(def *workflow.Definition, from task.Status, actor task.Actor) []task.Status {
	var out []task.Status
	seen := map[task.Status]bool{}
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if edge.From == from && !seen[edge.To] && Allows(edge, actor) {
			seen[edge.To] = true
			out = append(out, edge.To)
		}
	}
	return out
}

func illegal(def *workflow.Definition, t task.Task, req task.Request) *Rejection {
	r := &Rejection{Code: IllegalTransition, Task: t.ID, From: t.Status, To: req.To, Open: Open(def, t.Status, req.Actor)}
	r.Message = fmt.Sprintf("cannot move task %s from %q to %q: the workflow %q has no such transition", t.ID, t.Status, req.To, def.Name)
	if _, exists := def.State(req.To); !exists {
		r.Message = fmt.Sprintf("cannot move task %s to %q: the workflow %q has no such state", t.ID, req.To, def.Name)
	}
	if s, _ := def.State(t.Status); s.Terminal {
		r.Message = fmt.Sprintf("cannot move task %s: it is %q, which is final", t.ID, t.Status)
	}
	return r
}

// order ranks codes by how far a request came.
func order(code string) int {
	switch code {
	case ActorDenied:
		return 1
	case GuardFailed:
		return 2
	}
	return 3
}

// furthest keeps, of several candidates for one move, the refusal that came closest to a yes.
func furthest(a, b *Rejection) *Rejection {
	if a == nil || order(b.Code) > order(a.Code) {
		return b
	}
	return a
}

// judge answers nil when the edge is open to the request.
func judge(t task.Task, edge *workflow.Transition, req task.Request, gate judgment) *Rejection {
	var code string
	var details []Detail
	first := func(c string) {
		if code == "" {
			code = c
		}
	}
	if !Allows(edge, req.Actor) {
		first(ActorDenied)
		details = append(details, Detail{
			Condition: "who may ask", Found: fmt.Sprintf("the role %q", req.Actor.Speaks()),
			Want: "have it asked for by: " + strings.Join(edge.By, ", "),
		})
	}
	for _, g := range edge.When {
		if value := t.Counters.Get(g.Field); !g.Holds(value) {
			first(GuardFailed)
			details = append(details, Detail{
				Condition: g.String(), Found: fmt.Sprintf("%s = %d", g.Field, value),
				Want: "take the move whose condition holds at this count",
			})
		}
	}
	if len(gate.unmet) > 0 {
		first(GateUnmet)
		details = append(details, gate.unmet...)
	}
	if code == "" {
		return nil
	}
	why := map[string]string{
		ActorDenied: "this role may not ask for it", GuardFailed: "a condition does not hold", GateUnmet: "evidence is missing",
	}[code]
	return &Rejection{
		Code: code, Task: t.ID, From: t.Status, To: edge.To, Details: details,
		Message: fmt.Sprintf("cannot move task %s from %q to %q: %s", t.ID, t.Status, edge.To, why),
	}
}

// accept builds the change that follows from taking an edge.
func accept(def *workflow.Definition, t task.Task, ev Evidence, edge *workflow.Transition, req task.Request, j judgment, now time.Time) task.Change {
	expect := t.Version
	from := t.Status
	hooks := hooksOf(edge.Hooks)
	t = enter(def, t, edge.To, hooks, now)
	event := task.Event{
		Time: now, Type: task.StatusChanged, Actor: req.Actor.Name(), ActingAs: req.Actor.As, From: from, To: edge.To,
		Reason: req.Reason, Counters: t.Counters, Evidence: j.rested, Workflow: def.Digest, Hooks: actions(hooks),
	}
	if len(j.notes) > 0 {
		event.Data = map[string]string{"note": strings.Join(j.notes, "; ")}
	}
	return task.Change{
		Task: t, Expect: expect, Events: []task.Event{event}, Hooks: hooks,
		Spent: j.rested, Entered: true, Entry: Digests(def, edge.To, ev.Document), Lease: lease(t, hooks),
	}
}

// enter is the task as it is right after it moved: new status, counters changed before anything is spawned.
func enter(def *workflow.Definition, t task.Task, to task.Status, hooks []task.Hook, now time.Time) task.Task {
	state, _ := def.State(to)
	t.Previous, t.Status = t.Status, to
	t.Live = !state.Terminal
	t.EnteredAt, t.UpdatedAt, t.StalledAt = now, now, time.Time{}
	t.Attention, t.QueuedFor = "", ""
	owes := false
	for _, h := range hooks {
		t.Counters = count(t.Counters, h)
		class, _ := task.ClassOf(h.Action)
		owes = owes || class != task.ClassRecord
	}
	if !owes && t.Counters.Get(task.CrashCount) != 0 {
		t.Counters = t.Counters.With(task.CrashCount, 0)
	}
	return t
}

// count applies what a hook does to the counters.
func count(c task.Counters, h task.Hook) task.Counters {
	switch {
	case h.Action == task.SetField:
		return c.With(h.Field, h.Value)
	case h.Field != "":
		return c.With(h.Field, c.Get(h.Field)+1)
	}
	return c
}

func lease(t task.Task, hooks []task.Hook) task.Lease {
	for _, h := range hooks {
		if h.Action == task.AcquireWorkspace && t.Workspace == "" {
			return task.LeaseReserve
		}
	}
	return task.LeaseKeep
}

func hooksOf(declared []workflow.Hook) []task.Hook {
	if len(declared) == 0 {
		return nil
	}
	out := make([]task.Hook, len(declared))
	for i := range declared {
		out[i] = declared[i].Hook
	}
	return out
}

func actions(hooks []task.Hook) []string {
	var out []string
	for _, h := range hooks {
		out = append(out, h.Action)
	}
	return out
}
