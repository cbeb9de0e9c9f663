package decide

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// NeedsOfAll lists the parts that any move out of the task's status can depend on.
func NeedsOfAll(def *workflow.Definition, t task.Task) []workflow.Part {
	var parts []workflow.Part
	for _, edge := range outgoing(def, t) {
		parts = append(parts, Needs(def, t, edge.To)...)
	}
	return parts
}

// Next finds the one move that the evidence supports, and says what it relies on. The reason is the one that the
// actor gives. If no move out of the status asks for evidence, the only one that leads on counts as supported. If
// several moves are possible, or none, the answer is a *Rejection that lists what each of them lacks.
func Next(def *workflow.Definition, t task.Task, ev Evidence, actor task.Actor, reason string, now time.Time) (
	to task.Status, why string, err error) {
	var supported, free []task.Status
	rested := map[task.Status]string{}
	var details []rejection.Detail
	asker := actor
	actor.May = strings.Join(workflow.Permissions(), ",") // what the move is does not depend on who may make it
	for _, target := range MayAsk(def, t, actor) {
		decision, err := Transition(def, t, ev, task.Request{Task: t.ID, To: target, Actor: actor, Reason: reason}, now)
		if err != nil {
			details = append(details, lackOf(target, err)...)
			continue
		}
		if !decision.Moved || target == t.Status && restartsOnly(def, t) {
			continue
		}
		move := decision.Change.Events[0]
		marks := Marks(def, target)
		switch {
		case len(move.Evidence) > 0:
			supported = append(supported, target)
			rested[target] = "it rests on " + sources(move.Evidence)
		// else it gives the task up, or leaves the workflow's path
		case !marks.Escalation && (!marks.Terminal || marks.Well):
			free = append(free, target)
			rested[target] = "no move out of here asks for evidence"
		}
	}
	found := supported
	if len(found) == 0 && !asksForEvidence(def, t, actor) {
		found = free
	}
	if len(found) == 1 {
		return found[0], rested[found[0]], nil
	}
	return "", "", noNext(def, t, asker, found, details)
}

// restartsOnly reports whether all edges from the task's status to itself begin it again because the tip moved.
func restartsOnly(def *workflow.Definition, t task.Task) bool {
	return !slices.ContainsFunc(edges(def, t, t.Status), func(edge *workflow.Transition) bool {
		return !restarts(edge)
	})
}

// restarts reports whether an edge from a status to itself begins it again because the tip moved.
func restarts(edge *workflow.Transition) bool { return workflow.Asks(edge.Gate, workflow.GitMoved) }

// CanRestart reports whether the actor may have the task's present status begin again by asking for it: over an edge
// to itself that asks for nothing, or for a branch that has moved. An edge that counts a failure does not qualify: an
// actor that means a failure gives evidence for it.
func CanRestart(def *workflow.Definition, t task.Task, actor task.Actor) bool {
	t.Counters = resetBy(def, t.Counters, actor)
	return slices.ContainsFunc(edges(def, t, t.Status), func(edge *workflow.Transition) bool {
		return !edge.Failure && Allows(edge, actor) && Passes(edge, t) && (len(edge.Gate) == 0 || restarts(edge))
	})
}

// asksForEvidence reports whether a move that the actor may ask for has a gate.
func asksForEvidence(def *workflow.Definition, t task.Task, actor task.Actor) bool {
	return slices.ContainsFunc(outgoing(def, t), func(edge *workflow.Transition) bool {
		return len(edge.Gate) > 0 && Allows(edge, actor)
	})
}

func sources(evidence []task.Evidence) string {
	names := make([]string, len(evidence))
	for i, e := range evidence {
		names[i] = e.Source
	}
	return strings.Join(slices.Compact(names), ", ")
}

// lackOf returns the reasons against a move, each condition under the name of its target.
func lackOf(target task.Status, err error) []rejection.Detail {
	var refused *rejection.Rejection
	if !errors.As(err, &refused) {
		return nil
	}
	details := append([]rejection.Detail(nil), refused.Details...)
	for i := range details {
		details[i].Condition = fmt.Sprintf("to %q: %s", target, details[i].Condition)
	}
	return details
}

func noNext(def *workflow.Definition, t task.Task, actor task.Actor, several []task.Status,
	details []rejection.Detail) *rejection.Rejection {
	r := &rejection.Rejection{
		Code: rejection.NoNext, Task: t.ID, From: t.Status, Details: details, MayAsk: MayAsk(def, t, actor),
		Message: fmt.Sprintf("cannot tell where task %s goes from %q: no move is supported by evidence", t.ID,
			t.Status),
	}
	if s, _ := def.State(t.Status); s.Terminal {
		r.Message = fmt.Sprintf("cannot move task %s on: it is %q, which is final", t.ID, t.Status)
		if len(def.Redo) > 0 {
			r.Message += fmt.Sprintf("; %q begins a part of it again", "orange task redo "+t.ID+" STATE")
		}
	}
	if len(several) > 1 {
		r.Message = fmt.Sprintf("cannot tell where task %s goes from %q: several moves are open", t.ID, t.Status)
		for _, to := range several {
			ways := slices.DeleteFunc(edges(def, t, to), func(edge *workflow.Transition) bool {
				return !Allows(edge, actor)
			})
			r.Details = append(r.Details, rejection.Detail{Condition: "open", Found: fmt.Sprintf("%q", to),
				Want: "choose: " + ways[0].Command(t.ID, to) + asRole(actor)})
		}
	}
	return r
}

// Overridable is the move that an override without a target means: the only one that the workflow lets a person
// override.
func Overridable(def *workflow.Definition, t task.Task, actor task.Actor) (task.Status, error) {
	var found []task.Status
	for _, edge := range outgoing(def, t) {
		if edge.Override && Allows(edge, actor) && !slices.Contains(found, edge.To) {
			found = append(found, edge.To)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	r := &rejection.Rejection{
		Code: rejection.OverrideDenied, Task: t.ID, From: t.Status, MayAsk: MayAsk(def, t, actor),
		Message: fmt.Sprintf("cannot override a move of task %s out of %q: the workflow %q allows no override there",
			t.ID, t.Status, def.Name),
	}
	if len(found) > 1 {
		r.Message = fmt.Sprintf("cannot override a move of task %s out of %q: several may be overridden", t.ID,
			t.Status)
		for _, to := range found {
			r.Details = append(r.Details, rejection.Detail{Condition: "open to an override",
				Found: fmt.Sprintf("%q", to), Want: "choose: --to " + string(to)})
		}
	}
	return "", r
}

// Redo judges taking a task back to a state that the workflow allows to begin again: one that the task has been in,
// and that does not come after the present one in the file. It is the only way out of a terminal state. Events are
// the task's whole history. Redo ends the agents at work, sets the files of the state's folder aside, and starts the
// state's agent.
func Redo(def *workflow.Definition, t task.Task, to task.Status, ev Evidence, events []history.Event,
	actor task.Actor, reason string, now time.Time) (record.Change, error) {
	if refused := redoRefused(def, t, to, events, actor); refused != nil {
		return record.Change{}, refused
	}
	state, _ := def.State(to)
	hooks := []task.Hook{{Action: action.KillSession}}
	if state.Folder != "" {
		hooks = append(hooks, task.Hook{Action: action.SetAside, Folder: state.Folder})
	}
	if t.Workspace == "" {
		hooks = append(hooks, task.Hook{Action: action.AcquireWorkspace})
	}
	if start, starts := def.StartIn(state); starts {
		hooks = append(hooks, start)
	}
	expect, from := t.Version, t.Status
	if t.Counters.Failures(to) != 0 {
		t.Counters = t.Counters.With(task.Failures(to), 0)
	}
	t = enter(def, t, to, hooks, now)
	t.Subject, t.Counters = subjectAtEntry(def, to, actor, ev), resetBy(def, t.Counters, actor)
	return record.Change{
		Task: t, Expect: expect, Hooks: hooks, Entered: true, Entry: Digests(def, to, ev), Lease: lease(t, hooks),
		Events: []history.Event{history.Sign(actor, history.Event{
			Time: now, Type: history.StatusChanged, From: from, To: to, Reason: reason, Counters: t.Counters,
			Workflow: def.Digest, Hooks: actions(hooks), Subject: t.Subject, Data: map[string]string{
				history.DataRedo: string(to)},
		})},
	}, nil
}

func redoRefused(def *workflow.Definition, t task.Task, to task.Status, events []history.Event,
	actor task.Actor) *rejection.Rejection {
	var names []string
	for _, s := range def.Redo {
		names = append(names, s.Name)
	}
	found, want := "", "choose one of: "+strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		found, want = fmt.Sprintf("none: the workflow %q names no states under redo", def.Name),
			"move the task over its transitions"
	case def.Index(to) < 0:
		found = fmt.Sprintf("%q, which is no state of the workflow %q", to, def.Name)
		want += yaml.Guess(string(to), names)
	case !slices.Contains(names, string(to)):
		found = fmt.Sprintf("%q, which is none", to)
	case def.Index(to) > def.Index(t.Status):
		found, want = fmt.Sprintf("%q, which comes after %q", to, t.Status),
			"finish what comes before it: nothing is skipped"
	case !wasIn(events, to):
		found, want = fmt.Sprintf("%q, in which the task has never been", to),
			"finish what comes before it: nothing is skipped"
	case actor.Role != task.RoleHuman || actor.Rule:
		found, want = fmt.Sprintf("the role %q asking", actor.Name()), "have a person ask"
	default:
		return nil
	}
	return &rejection.Rejection{
		Code: rejection.RedoRefused, Task: t.ID, From: t.Status, To: to, MayAsk: MayAsk(def, t, actor),
		Message: fmt.Sprintf("cannot redo %q in task %s", to, t.ID),
		Details: []rejection.Detail{{Condition: "a state that can be redone", Found: found, Want: want}},
	}
}

// wasIn reports whether a history leads through a status.
func wasIn(events []history.Event, status task.Status) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.IsMove() && e.To == status || e.Type == history.Created && e.Data["status"] == string(status)
	})
}

// Migrate judges giving a task the rules of another workflow. For a state of the present workflow, the map has the
// state of the new one that replaces it. A state that is not in the map keeps its name.
func Migrate(def *workflow.Definition, t task.Task, owed []task.OwedHook, stands map[task.Status]task.Status,
	ev Evidence, actor task.Actor, now time.Time) (record.Change, error) {
	to := standsFor(stands, t.Status)
	if refused := migrateRefused(def, t, owed, stands, actor); refused != nil {
		return record.Change{}, refused
	}
	before := t
	t.Workflow = def.Ref()
	t.UpdatedAt = now
	t.Counters = resetBy(def, withStarts(def, renameFailures(t.Counters, stands)), actor)
	data := map[string]string{"from": before.Workflow.Digest, "from_workflow": before.Workflow.Name,
		"from_version": strconv.Itoa(before.Workflow.Version), "to": def.Digest, "workflow": def.Name,
		"version": strconv.Itoa(def.Version)}
	if t.QueuedFor != "" {
		t.QueuedFor = standsFor(stands, t.QueuedFor)
	}
	previous := standsFor(stands, t.Previous)
	if def.Index(previous) < 0 {
		previous = "" // no move asks for it
	}
	t.Previous = previous
	names := map[string]string{}
	if previous != before.Previous || to != before.Status {
		names[history.DataPrevious] = string(previous)
	}
	if t.QueuedFor != before.QueuedFor || to != before.Status && t.QueuedFor != "" {
		names[history.DataQueued] = string(t.QueuedFor)
	}
	if to != before.Status && t.WaitsForTasks() {
		names["waits_for"] = strings.Join(t.After, ",")
	}
	if to == before.Status {
		maps.Copy(data, names)
	}
	if AwaitsMerge(def, to) && !t.Subject.Reviewed && t.Subject.By == "" { // for these rules it is put up now
		t.Subject = subjectAtEntry(def, to, actor, Evidence{Subject: t.Subject})
	}
	c := record.Change{Task: t, Expect: t.Version, Events: []history.Event{history.Sign(actor, history.Event{
		Time: now, Type: history.WorkflowMigrated, Counters: t.Counters, Workflow: def.Digest, Data: data,
	})}}
	if t.Subject != before.Subject {
		c.Events[0].Subject = t.Subject
	}
	if to != before.Status {
		queued, after := t.QueuedFor, t.After
		c.Task = enter(def, t, to, nil, now)
		// the task has not moved: its status has another name
		c.Task.Previous, c.Task.QueuedFor, c.Task.After = previous, queued, after
		c.Entered, c.Entry = true, Digests(def, to, ev)
		c.Events = append(c.Events, history.Sign(actor, history.Event{
			Time: now, Type: history.StatusChanged, From: before.Status, To: to, Counters: c.Task.Counters,
			Workflow: def.Digest,
			Reason:   "what stands for it in the other workflow", Subject: c.Task.Subject, Data: names,
		}))
	}
	return c, nil
}

func migrateRefused(def *workflow.Definition, t task.Task, owed []task.OwedHook,
	stands map[task.Status]task.Status, actor task.Actor) *rejection.Rejection {
	to := standsFor(stands, t.Status)
	state, _ := def.State(to)
	var details []rejection.Detail
	tell := func(condition, found, want string) {
		details = append(details, rejection.Detail{Condition: condition, Found: found, Want: want})
	}
	if actor.Role != task.RoleHuman {
		tell("who may ask", fmt.Sprintf("the role %q", actor.Role), "have a person ask")
	}
	needed := []task.Status{t.Status, t.QueuedFor}
	if asksWhereFrom(def) {
		needed = append(needed, t.Previous)
	}
	for _, s := range needed {
		if s != "" && def.Index(standsFor(stands, s)) < 0 {
			tell("a state that both have", fmt.Sprintf("no state %q in the workflow %q", standsFor(stands, s),
				def.Name), fmt.Sprintf("say what stands for it: --map %s=STATE", s))
		}
	}
	if len(details) == 0 && state.Terminal == t.Live {
		tell("a state that both have", fmt.Sprintf("%q, which is final in only one of both workflows", to),
			fmt.Sprintf("choose another one: --map %s=STATE", t.Status))
	}
	if len(owed) > 0 {
		tell("no hook that still runs", fmt.Sprintf("%d under the present rules", len(owed)),
			"wait until they are done, or: orange task retry "+t.ID)
	}
	if len(details) == 0 {
		return nil
	}
	return &rejection.Rejection{
		Code: rejection.MigrateRefused, Task: t.ID, From: t.Status, To: to, MayAsk: MayAsk(def, t, actor),
		Details: details,
		Message: fmt.Sprintf("cannot move task %s from the rules %s to %s", t.ID, t.Workflow, def.Ref()),
	}
}

// asksWhereFrom reports whether a move of the workflow depends on where a task came from.
func asksWhereFrom(def *workflow.Definition) bool {
	return slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool { return len(edge.CameFrom) > 0 })
}

func standsFor(stands map[task.Status]task.Status, s task.Status) task.Status {
	if to, named := stands[s]; named {
		return to
	}
	return s
}

// renameFailures are counters in which the failures of a state belong to the state that replaces it.
func renameFailures(counters task.Counters, stands map[task.Status]task.Status) task.Counters {
	states := slices.Sorted(maps.Keys(stands))
	out := counters
	for _, from := range states {
		if counters.Failures(from) != 0 {
			out = out.With(task.Failures(from), 0)
		}
	}
	for _, from := range states {
		if n := counters.Failures(from); n != 0 {
			out = out.With(task.Failures(stands[from]), n)
		}
	}
	return out
}

// withStarts gives the workflow's own counters their first values, if they have none yet.
func withStarts(def *workflow.Definition, counters task.Counters) task.Counters {
	for _, f := range def.Fields {
		if f.Start != 0 && !slices.ContainsFunc(counters, func(c task.Counter) bool { return c.Name == f.Name }) {
			counters = counters.With(f.Name, f.Start)
		}
	}
	return counters
}
