package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/task"
	"orange/internal/workflow"
)

// NeedsOfAll lists the parts that any move out of the task's status can depend on.
func NeedsOfAll(def *workflow.Definition, t task.Task) []workflow.Part {
	var parts []workflow.Part
	for _, edge := range out(def, t) {
		parts = append(parts, Needs(def, t, edge.To)...)
	}
	return parts
}

// Next finds the one move that the evidence supports, and says what it rests on.
// A move with a gate that is met comes before one that asks for nothing; where several would do, or none, the answer is a *Rejection
// that tells of each what it lacks. A move that gives the task up is never proposed.
func Next(def *workflow.Definition, t task.Task, ev Evidence, actor task.Actor, now time.Time) (to task.Status, why string, err error) {
	var supported, free []task.Status
	rested := map[task.Status]string{}
	var details []Detail
	for _, target := range Open(def, t, actor) {
		req := task.Request{Task: t.ID, To: target, Actor: actor}
		decision, err := Transition(def, t, ev, req, now)
		if err != nil {
			details = append(details, lackOf(target, err)...)
			continue
		}
		move := decision.Change.Events[0]
		state, _ := def.State(target)
		switch {
		case len(move.Evidence) > 0:
			supported = append(supported, target)
			rested[target] = "it rests on " + sources(move.Evidence)
		case !state.Terminal:
			free = append(free, target)
			rested[target] = "it asks for nothing"
		}
	}
	found := supported
	if len(found) == 0 {
		found = free
	}
	if len(found) == 1 {
		return found[0], rested[found[0]], nil
	}
	return "", "", noNext(def, t, actor, found, details)
}

func sources(evidence []task.Evidence) string {
	names := make([]string, len(evidence))
	for i, e := range evidence {
		names[i] = e.Source
	}
	return strings.Join(slices.Compact(names), ", ")
}

// lackOf says what speaks against a move, each condition under the name of its target.
func lackOf(target task.Status, err error) []Detail {
	refused, is := err.(*Rejection) //nolint:errorlint // Transition answers nothing else
	if !is {
		return nil
	}
	details := append([]Detail(nil), refused.Details...)
	for i := range details {
		details[i].Condition = fmt.Sprintf("to %q: %s", target, details[i].Condition)
	}
	return details
}

func noNext(def *workflow.Definition, t task.Task, actor task.Actor, several []task.Status, details []Detail) *Rejection {
	r := &Rejection{
		Code: NoNext, Task: t.ID, From: t.Status, Details: details, Open: Open(def, t, actor),
		Message: fmt.Sprintf("cannot tell where task %s goes from %q: no move is supported by evidence", t.ID, t.Status),
	}
	if s, _ := def.State(t.Status); s.Terminal {
		r.Message = fmt.Sprintf("cannot move task %s on: it is %q, which is final", t.ID, t.Status)
		if len(def.Redo) > 0 {
			r.Message += fmt.Sprintf("; %q begins a part of it anew", "orange task redo "+t.ID+" STATE")
		}
	}
	if len(several) > 1 {
		r.Message = fmt.Sprintf("cannot tell where task %s goes from %q: several moves are open", t.ID, t.Status)
		r.Details = nil
		for _, to := range several {
			r.Details = append(r.Details, Detail{
				Condition: "one way", Found: fmt.Sprintf("%q too", to), Want: "choose: orange task update " + t.ID + " --status " + string(to),
			})
		}
	}
	return r
}

// Overridable is the move that an override without a target means: the only one that the workflow allows to be overridden.
func Overridable(def *workflow.Definition, t task.Task, actor task.Actor) (task.Status, error) {
	var found []task.Status
	for _, edge := range out(def, t) {
		if edge.Override && Allows(edge, actor) && !slices.Contains(found, edge.To) {
			found = append(found, edge.To)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	r := &Rejection{
		Code: OverrideDenied, Task: t.ID, From: t.Status, Open: Open(def, t, actor),
		Message: fmt.Sprintf("cannot override a move of task %s out of %q: the workflow %q allows that for none", t.ID, t.Status, def.Name),
	}
	if len(found) > 1 {
		r.Message = fmt.Sprintf("cannot override a move of task %s out of %q: several may be overridden", t.ID, t.Status)
		for _, to := range found {
			r.Details = append(r.Details, Detail{Condition: "one way", Found: fmt.Sprintf("%q too", to), Want: "choose: --to " + string(to)})
		}
	}
	return "", r
}

// Redo judges taking a task back to a state that the workflow lets begin anew: one that comes before the present one in the file,
// or that one itself. It is the only way out of a terminal state. Whoever is at work is ended, and the state's own agent is started.
func Redo(def *workflow.Definition, t task.Task, to task.Status, ev Evidence, actor task.Actor, reason string, now time.Time) (task.Change, error) {
	if refused := redoRefused(def, t, to, actor); refused != nil {
		return task.Change{}, refused
	}
	state, _ := def.State(to)
	hooks := []task.Hook{{Action: task.KillSession}}
	if t.Workspace == "" {
		hooks = append(hooks, task.Hook{Action: task.AcquireWorkspace})
	}
	if state.RespawnPrompt.Name != "" {
		hooks = append(hooks, respawnHook(def, state))
	}
	expect, from := t.Version, t.Status
	t = enter(def, t, to, hooks, now)
	return task.Change{
		Task: t, Expect: expect, Hooks: hooks, Entered: true, Entry: Digests(def, to, ev), Lease: lease(t, hooks),
		Events: []task.Event{{
			Time: now, Type: task.StatusChanged, Actor: actor.Name(), From: from, To: to, Reason: reason, Counters: t.Counters,
			Workflow: def.Digest, Hooks: actions(hooks), Data: map[string]string{task.DataRedo: string(to)},
		}},
	}, nil
}

func redoRefused(def *workflow.Definition, t task.Task, to task.Status, actor task.Actor) *Rejection {
	var names []string
	for _, s := range def.Redo {
		names = append(names, s.Name)
	}
	here, there := place(def, t.Status), place(def, to)
	found, want := "", "choose one of: "+strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		found, want = fmt.Sprintf("none: the workflow %q names no states under redo", def.Name), "move the task over its transitions"
	case there < 0:
		found = fmt.Sprintf("%q, which is no state of the workflow %q", to, def.Name)
	case !slices.Contains(names, string(to)):
		found = fmt.Sprintf("%q, which is not", to)
	case there > here:
		found, want = fmt.Sprintf("%q, which comes after %q", to, t.Status), "finish what comes before it: nothing is skipped"
	case actor.Role != task.RoleHuman || actor.Rule:
		found, want = fmt.Sprintf("the role %q asking", actor.Name()), "have a person ask"
	default:
		return nil
	}
	return &Rejection{
		Code: RedoRefused, Task: t.ID, From: t.Status, To: to, Open: Open(def, t, actor),
		Message: fmt.Sprintf("cannot redo %q in task %s", to, t.ID),
		Details: []Detail{{Condition: "a state that can be done anew", Found: found, Want: want}},
	}
}

func place(def *workflow.Definition, status task.Status) int {
	return slices.IndexFunc(def.States, func(s workflow.State) bool { return s.Name == status })
}

// Migrate judges giving a task the rules of another workflow, in the status to, which that one must know.
func Migrate(def *workflow.Definition, t task.Task, owed []task.OwedHook, to task.Status, ev Evidence, actor task.Actor, now time.Time) (task.Change, error) {
	state, exists := def.State(to)
	found, want := "", ""
	switch {
	case actor.Role != task.RoleHuman:
		found, want = fmt.Sprintf("the role %q asking", actor.Role), "have a person ask"
	case !exists:
		found, want = fmt.Sprintf("no state %q in the workflow %q", to, def.Name), fmt.Sprintf("say what stands for it: --map %s=STATE", t.Status)
	case state.Terminal == t.Live:
		found, want = fmt.Sprintf("%q, which is final in only one of both workflows", to), fmt.Sprintf("choose another one: --map %s=STATE", t.Status)
	case len(owed) > 0:
		found, want = fmt.Sprintf("%d hooks owed under the present rules", len(owed)), "wait until they are done, or: orange task retry "+t.ID
	}
	if found != "" {
		return task.Change{}, &Rejection{
			Code: MigrateRefused, Task: t.ID, From: t.Status, To: to, Open: Open(def, t, actor),
			Message: fmt.Sprintf("cannot move task %s to version %d of the workflow %q", t.ID, def.Version, def.Name),
			Details: []Detail{{Condition: "a status that both have", Found: found, Want: want}},
		}
	}
	before := t
	t.Workflow = task.WorkflowRef{Name: def.Name, Version: def.Version, Digest: def.Digest}
	t.UpdatedAt = now
	t.Counters = started(def, t.Counters)
	c := task.Change{Task: t, Expect: t.Version, Events: []task.Event{{
		Time: now, Type: task.WorkflowMigrated, Actor: actor.Name(), Counters: t.Counters, Workflow: def.Digest,
		Data: map[string]string{"from": before.Workflow.Digest, "to": def.Digest, "workflow": def.Name, "version": fmt.Sprint(def.Version)},
	}}}
	if to != t.Status {
		c.Task = enter(def, t, to, nil, now)
		c.Entered, c.Entry = true, Digests(def, to, ev)
		c.Events = append(c.Events, task.Event{
			Time: now, Type: task.StatusChanged, Actor: actor.Name(), From: before.Status, To: to, Counters: c.Task.Counters, Workflow: def.Digest,
			Reason: "what stands for it in the other workflow",
		})
	}
	return c, nil
}

// started gives the workflow's own counters their first values, where they have none yet.
func started(def *workflow.Definition, counters task.Counters) task.Counters {
	for _, f := range def.Fields {
		if f.Start != 0 && !slices.ContainsFunc(counters, func(c task.Counter) bool { return c.Name == f.Name }) {
			counters = counters.With(f.Name, f.Start)
		}
	}
	return counters
}
