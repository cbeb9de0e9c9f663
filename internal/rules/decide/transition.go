// Package decide is the judge: a workflow, a task, evidence and a request go in, a change or a rejection comes out.
//
// It owns every rule by which a task moves, and nothing else: it reads no file, no clock and no random number,
// so the same question always has the same answer. What follows from a yes is data: engine commits it, hook
// performs it.
package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// Decision is the answer yes.
type Decision struct {
	Change record.Change
	Moved  bool // false when the task is already where the request wants it: there is nothing to do
}

// Transition judges a request for a status in this order: map, actor, guards, gate. A no is a *Rejection: its code is
// the one of the first step that failed, its details are those of all steps.
func Transition(def *workflow.Definition, t task.Task, ev Evidence, req task.Request, now time.Time) (Decision, error) {
	if req.Queued && t.QueuedFor != req.To {
		return Decision{}, illegal(def, t, req)
	}
	if req.Waited && !t.WaitsForTasks() {
		return Decision{}, illegal(def, t, req)
	}
	stays := Decision{Change: record.Change{Task: t}}
	t.Counters = resetBy(def, t.Counters, req.Actor)
	candidates := slices.DeleteFunc(edges(def, t, req.To), func(edge *workflow.Transition) bool {
		return !mayMean(edge, req, ev)
	})
	if req.Override { // an edge whose guards hold comes before one whose guards the override ignores too
		slices.SortStableFunc(candidates, func(a, b *workflow.Transition) int {
			return cmp.Compare(len(guardsUnmet(def, t, a)), len(guardsUnmet(def, t, b)))
		})
	}
	if len(candidates) == 0 && givesUp(def, t, req) {
		candidates = append(candidates, cancellation(t.Status, req.To))
	}
	if len(candidates) == 0 {
		if req.To == t.Status {
			return stays, nil
		}
		return Decision{}, illegal(def, t, req)
	}
	var last *rejection.Rejection
	for _, edge := range candidates {
		j := judgeGate(edge.Gate, ev)
		refused := judge(def, t, edge, req, ev, j)
		if refused == nil {
			return Decision{Change: accept(def, t, ev, edge, req, j, now), Moved: true}, nil
		}
		last = furthest(last, refused)
	}
	last.Details = withHints(def, t, req.Actor, last.Details)
	forThem := func(edge *workflow.Transition) bool { return len(sameEyes(def, edge, req.Actor, ev.History)) == 0 }
	last.MayAsk = slices.DeleteFunc(MayAsk(def, t, req.Actor), func(to task.Status) bool {
		return to == req.To && !slices.ContainsFunc(candidates, forThem)
	})
	last.Override = overrideOf(def, t, candidates, req, ev)
	return Decision{}, last
}

// overrideOf is the command with which a person makes the move in spite of the refusal, if the workflow allows that;
// else empty.
func overrideOf(def *workflow.Definition, t task.Task, candidates []*workflow.Transition, req task.Request,
	ev Evidence) string {
	may := func(edge *workflow.Transition) bool {
		j := judgeGate(edge.Gate, ev)
		offered := edge.Override || j.onlyEnded() ||
			def.Overridable(edge) && len(j.refusedBesides(def, t, edge, req, ev)) > 0
		return offered && Allows(edge, req.Actor) && len(sameEyes(def, edge, req.Actor, ev.History)) == 0 &&
			len(lacking(def, edge, req.Actor, true)) == 0
	}
	if req.Override || req.Actor.Rule || req.Actor.Role != task.RoleHuman || !slices.ContainsFunc(candidates, may) {
		return ""
	}
	return overrideCommand(def, t.ID, req.To)
}

// overrideCommand is how a person makes a move in spite of its conditions, if the workflow allows that. A merge has a
// command of its own.
func overrideCommand(def *workflow.Definition, id string, to task.Status) string {
	if merge, said := def.Move(workflow.MoveMerge); said && merge == to {
		return fmt.Sprintf("orange task merge %s --override REASON", id)
	}
	return fmt.Sprintf("orange task next %s --override REASON --to %s", id, to)
}

// mayMean reports whether a request can mean an edge. An edge that begins a status again because the tip moved needs
// a tip that has moved and an actor who may take it; a command never means it. Any other request for the status that
// the task has finds it there.
func mayMean(edge *workflow.Transition, req task.Request, ev Evidence) bool {
	if edge.From != edge.To {
		return true
	}
	for _, p := range workflow.Leaves(edge.Gate) {
		if p.Git == workflow.GitMoved && (req.Command || !Allows(edge, req.Actor) || !ev.Facts[p.Key()].Holds) {
			return false
		}
	}
	return true
}

// Back is the state that a request for "previous" means: the one that the workflow leads the task back to.
func Back(def *workflow.Definition, t task.Task, req task.Request) (task.Status, error) {
	for _, edge := range edges(def, t, t.Previous) {
		if slices.Contains(edge.CameFrom, edge.To) {
			return edge.To, nil
		}
	}
	return "", &rejection.Rejection{
		Code: rejection.IllegalTransition, Task: t.ID, From: t.Status, To: req.To, MayAsk: MayAsk(def, t, req.Actor),
		Message: fmt.Sprintf("cannot move task %s back: the workflow %q leads from %q to no state that the "+
			"task came from", t.ID, def.Name, t.Status),
	}
}

// outgoing lists the edges out of a task's present status, in the order of the file.
func outgoing(def *workflow.Definition, t task.Task) []*workflow.Transition {
	var found []*workflow.Transition
	for i := range def.Transitions {
		if edge := &def.Transitions[i]; Leads(edge, t) {
			found = append(found, edge)
		}
	}
	return found
}

// edges lists those of them that lead to a status.
func edges(def *workflow.Definition, t task.Task, to task.Status) []*workflow.Transition {
	var found []*workflow.Transition
	for i := range def.Transitions {
		if edge := &def.Transitions[i]; edge.To == to && Leads(edge, t) {
			found = append(found, edge)
		}
	}
	return found
}

// Leads reports whether an edge applies to a task in its present status, whatever its guards and gate say.
func Leads(edge *workflow.Transition, t task.Task) bool {
	return edge.From == t.Status && (len(edge.CameFrom) == 0 || slices.Contains(edge.CameFrom, t.Previous))
}

// Allows reports whether the actor may ask for the edge. The workflow's own rules always may.
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

// MayAsk lists where the actor may ask to go from the task's status, whatever guards and gates say, in the order of the
// file.
func MayAsk(def *workflow.Definition, t task.Task, actor task.Actor) []task.Status {
	var found []task.Status
	for _, edge := range outgoing(def, t) {
		if Allows(edge, actor) && len(lacking(def, edge, actor, false)) == 0 && !slices.Contains(found, edge.To) {
			found = append(found, edge.To)
		}
	}
	return found
}

func illegal(def *workflow.Definition, t task.Task, req task.Request) *rejection.Rejection {
	r := &rejection.Rejection{Code: rejection.IllegalTransition, Task: t.ID, From: t.Status, To: req.To,
		MayAsk: MayAsk(def, t, req.Actor)}
	r.Message = fmt.Sprintf("cannot move task %s from %q to %q: the workflow %q has no such transition", t.ID,
		t.Status, req.To, def.Name)
	if _, exists := def.State(req.To); !exists {
		var names []string
		for i := range def.States {
			names = append(names, string(def.States[i].Name))
		}
		r.Message = fmt.Sprintf("cannot move task %s to %q: the workflow %q has no such state%s", t.ID, req.To,
			def.Name, yaml.Guess(string(req.To), names))
	}
	if s, _ := def.State(t.Status); s.Terminal {
		r.Message = fmt.Sprintf("cannot move task %s: it is %q, which is final", t.ID, t.Status)
	}
	return r
}

// order ranks codes by how far a request came.
func order(code string) int {
	switch code {
	case rejection.ActorDenied:
		return 1
	case rejection.OverrideDenied, rejection.ReasonMissing:
		return 2
	case rejection.GuardFailed:
		return 3
	}
	return 4
}

// furthest keeps the refusal that came closest to a yes, of two candidates for one move.
func furthest(a, b *rejection.Rejection) *rejection.Rejection {
	if a == nil || order(b.Code) > order(a.Code) {
		return b
	}
	return a
}

// judge returns nil if the edge is open to the request.
func judge(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request, ev Evidence,
	gate judgment) *rejection.Rejection {
	var code string
	var details []rejection.Detail
	first := func(c string) {
		if code == "" {
			code = c
		}
	}
	if !Allows(edge, req.Actor) {
		first(rejection.ActorDenied)
		details = append(details, rejection.Detail{
			Condition: "who may ask", Found: fmt.Sprintf("the role %q", req.Actor.Speaks()),
			Want: "have it asked for by: " + strings.Join(edge.By, ", ") + yaml.Guess(req.Actor.Speaks(), edge.By),
		})
	}
	same := sameEyes(def, edge, req.Actor, ev.History)
	if len(same) > 0 {
		first(rejection.ActorDenied)
		details = append(details, same...)
	}
	for _, word := range lacking(def, edge, req.Actor, req.Override) {
		first(rejection.ActorDenied)
		details = append(details, notAllowed(req.Actor, word))
	}
	if code, detail := overrideRefusal(def.Overridable(edge) || gate.onlyEnded(), req); code != "" {
		first(code)
		details = append(details, detail)
	}
	if edge.Reason && document.Blank(req.Reason) && !req.Override {
		first(rejection.ReasonMissing)
		details = append(details, rejection.Detail{Condition: "a reason", Found: "none",
			Want: "say why: --reason TEXT"})
	}
	owed := gate.refusedBesides(def, t, edge, req, ev)
	if len(owed) > 0 && !req.Override {
		first(rejection.GateUnmet)
		details = append(details, owed...)
	}
	if unmet := guardsUnmet(def, t, edge); len(unmet) > 0 && !req.Override {
		first(rejection.GuardFailed)
		details = append(details, unmet...)
	}
	if len(gate.unmet) > 0 && !req.Override {
		first(rejection.GateUnmet)
		details = append(details, gate.unmet...)
	}
	if code == "" {
		return nil
	}
	why := map[string]string{
		rejection.ActorDenied: "this role may not ask for it", rejection.GuardFailed: "a condition does not hold",
		rejection.GateUnmet:     "evidence is missing",
		rejection.ReasonMissing: "it takes a reason", rejection.OverrideDenied: "it cannot be overridden so",
	}[code]
	if len(same) > 0 {
		why = "it takes another person"
	}
	no := &rejection.Rejection{
		Code: code, Task: t.ID, From: t.Status, To: edge.To, Details: details, Moved: gate.moved > 0 &&
			gate.moved == len(details),
		Message: fmt.Sprintf("cannot move task %s from %q to %q: %s", t.ID, t.Status, edge.To, why),
	}
	no.Owed = len(owed) == len(details) && !req.Override
	if gate.held == len(details) {
		no.Files = gate.files
	}
	return no
}

// overrideRefusal is what prevents the request's override of an edge that allows one or not; the code is empty if
// nothing does, or if the request has no override.
func overrideRefusal(allowed bool, req task.Request) (string, rejection.Detail) {
	switch {
	case !req.Override:
		return "", rejection.Detail{}
	case req.Actor.Role != task.RoleHuman || req.Actor.Rule:
		return rejection.ActorDenied, rejection.Detail{
			Condition: "who may override", Found: fmt.Sprintf("the role %q", req.Actor.Name()),
			Want: "have a person do it"}
	case !allowed:
		return rejection.OverrideDenied,
			rejection.Detail{Condition: "override: strict", Found: "a verdict, which no one may set aside",
				Want: "meet its conditions"}
	case document.Blank(req.Reason):
		return rejection.ReasonMissing, rejection.Detail{Condition: "a reason", Found: "none",
			Want: "say why the conditions do not matter this time"}
	}
	return "", rejection.Detail{}
}

// guardsUnmet lists the guards of an edge that do not hold for the task.
func guardsUnmet(def *workflow.Definition, t task.Task, edge *workflow.Transition) []rejection.Detail {
	var unmet []rejection.Detail
	for _, g := range edge.When {
		value := countWith(t, edge, g.Field)
		if g.Holds(value) {
			continue
		}
		found := fmt.Sprintf("%s = %d", g.Field, value)
		if toCome(edge, g.Field) {
			found = fmt.Sprintf("%s = %d, %d with this one", g.Field, value-1, value)
		}
		want := "take the move whose condition holds at this count"
		if slices.Contains(def.ResetByPerson(), g.Field) {
			want = "go on without it, or wait for a person: whatever they do to the task sets the count to 0"
		}
		unmet = append(unmet, rejection.Detail{Condition: g.String(), Found: found, Want: want})
	}
	return unmet
}

// countWith is what a guard of an edge sees of a counter. For failures, it is the failures of the task's present
// status, with the one that the edge itself counts.
func countWith(t task.Task, edge *workflow.Transition, field string) int {
	if field != workflow.CountFailures {
		return t.Counters.Get(field)
	}
	n := t.Counters.Failures(t.Status)
	if toCome(edge, field) {
		n++
	}
	return n
}

// toCome reports whether the value that a guard of an edge sees includes the failure that the edge itself would
// count.
func toCome(edge *workflow.Transition, field string) bool {
	return edge != nil && edge.Failure && field == workflow.CountFailures
}

// accept builds the change that follows from taking an edge.
func accept(def *workflow.Definition, t task.Task, ev Evidence, edge *workflow.Transition, req task.Request,
	j judgment, now time.Time) record.Change {
	expect := t.Version
	from := t.Status
	hooks := hooksOf(edge.Hooks)
	data := moveData(def, t, edge, req, ev, j)
	t.Counters = failures(t, edge)
	subject := subjectOver(def, t, edge, req, ev)
	hooks = roomFirst(def, t, edge.To, updatesPR(def, t, edge.To, subject, hooks))
	t = enter(def, t, edge.To, hooks, now)
	t.Subject, t.Counters = subject, resetBy(def, t.Counters, req.Actor)
	if without := data[guarantee.DataWithout]; without != "" {
		t.Attention = "merged elsewhere without " + strings.ReplaceAll(without, "\n", "; ")
	}
	event := history.Sign(req.Actor, history.Event{
		Time: now, Type: history.StatusChanged, From: from, To: edge.To,
		Reason: req.Reason, Counters: t.Counters, Evidence: j.rested, Workflow: def.Digest, Hooks: actions(hooks),
		Subject: t.Subject, Data: data,
	})
	return record.Change{
		Task: t, Expect: expect, Events: []history.Event{event}, Hooks: hooks,
		Spent: j.rested, Entered: true, Entry: Digests(def, edge.To, ev), Lease: lease(t, hooks),
	}
}

// moveData is the additional data of a move's event; nil if there is none.
func moveData(def *workflow.Definition, t task.Task, edge *workflow.Transition, req task.Request, ev Evidence,
	j judgment) map[string]string {
	ledger, without := j.ledger(def, t, edge, req, ev), j.without(def, t, edge, req, ev)
	refusals, unreviewed := j.refusals(t, edge, req, ev), skipsReview(def, edge)
	if ledger+refusals == "" && len(without)+len(j.notes) == 0 && !edge.Failure && !req.Override && !unreviewed {
		return nil
	}
	data := map[string]string{}
	if ledger != "" {
		data[guarantee.DataPassed] = ledger
	}
	if now, noted := versions(t, edge, ev, req.Override); now != noted {
		data[guarantee.DataSame] = guarantee.Write("", "", now, noted)
	}
	if refusals != "" {
		data[guarantee.DataRefused] = refusals
	}
	if len(without) > 0 {
		data[guarantee.DataWithout] = strings.Join(without, "\n")
	}
	if req.Override {
		j.unmet = slices.Concat(j.refusedBesides(def, t, edge, req, ev), j.unmet)
	}
	if len(j.notes) > 0 {
		data["note"] = strings.Join(j.notes, "; ")
	}
	if unreviewed {
		data[history.DataUnreviewed] = "no one compared the work with what was reviewed"
	}
	if edge.Failure {
		data[history.DataFailure] = strconv.Itoa(countWith(t, edge, workflow.CountFailures))
	}
	if req.Override {
		data[history.DataOverride] = cmp.Or(rejection.Reasons(append(guardsUnmet(def, t, edge), j.unmet...)),
			"nothing: all conditions held")
	}
	return data
}

// failures is the task's counters after the edge has counted a failure of the state that the task leaves, or has
// forgotten its earlier failures.
func failures(t task.Task, edge *workflow.Transition) task.Counters {
	n := t.Counters.Failures(t.Status)
	switch {
	case edge.Failure:
		return t.Counters.With(task.Failures(t.Status), n+1)
	case n != 0 && edge.To != t.Status:
		return t.Counters.With(task.Failures(t.Status), 0)
	}
	return t.Counters
}

// enter is the task right after it moved: with its new status, and with the counters changed before anything starts.
func enter(def *workflow.Definition, t task.Task, to task.Status, hooks []task.Hook, now time.Time) task.Task {
	state, _ := def.State(to)
	if to != t.Status { // one that begins its status again keeps where it came from
		t.Previous, t.Status = t.Status, to
	}
	t.Live = !state.Terminal
	t.EnteredAt, t.UpdatedAt, t.StalledAt = now, now, time.Time{}
	t.Attention, t.QueuedFor, t.After = "", "", nil
	t.Overdue = 0
	t.Counters = withoutEnds(t.Counters)
	for _, h := range hooks {
		t.Counters = count(t.Counters, to, h)
	}
	if !slices.ContainsFunc(hooks, HoldsUp) {
		t.Counters = withoutCrashes(t.Counters) // the event of the move says so
	}
	return t
}

// count applies what a hook does to the counters.
func count(c task.Counters, to task.Status, h task.Hook) task.Counters {
	field := h.Field
	if field == workflow.CountFailures {
		field = task.Failures(to)
	}
	switch {
	case h.Action == action.SetField:
		return c.With(field, h.Value)
	case field != "":
		return c.With(field, c.Get(field)+1)
	}
	return c
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
