package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Create judges the creation of a task in a status. The given task has everything but its status.
func Create(def *workflow.Definition, t task.Task, status task.Status, actor task.Actor, now time.Time) (
	record.Change, error) {
	birth, allowed := def.Birth(status)
	if !allowed {
		open := make([]task.Status, len(def.Births))
		for i := range def.Births {
			open[i] = def.Births[i].To
		}
		return record.Change{}, &rejection.Rejection{
			Code: rejection.IllegalTransition, Task: t.ID, To: status, MayAsk: open,
			Message: fmt.Sprintf("cannot create a task in %q: the workflow %q does not let one begin there",
				status, def.Name),
		}
	}
	return createdIn(def, t, birth, actor, now)
}

// CreateFromPlan judges the creation of a task from a plan file.
func CreateFromPlan(def *workflow.Definition, t task.Task, actor task.Actor, now time.Time) (record.Change, error) {
	if def.PlanFile == nil {
		return record.Change{}, &rejection.Rejection{
			Code: rejection.NoMove, Task: t.ID,
			Message: fmt.Sprintf("cannot create a task from a plan file: the workflow %q does not say where "+
				"one begins (it has no plan_file); give the text as its context instead", def.Name),
		}
	}
	return createdIn(def, t, *def.PlanFile, actor, now)
}

func createdIn(def *workflow.Definition, t task.Task, birth workflow.Birth, actor task.Actor, now time.Time) (
	record.Change, error) {
	status := birth.To
	if status != def.Initial && !isPerson(actor) {
		return record.Change{}, &rejection.Rejection{Code: rejection.ActorDenied, To: status,
			Message: fmt.Sprintf("cannot create a task in %q", status),
			Details: []rejection.Detail{{Condition: "who has a task begin there", Found: asker(actor),
				Want: fmt.Sprintf("leave the status out, so that it begins in %q; or have a person create it",
					def.Initial)}}}
	}
	if birth.Spawns() && actor.Role != task.RoleHuman {
		return record.Change{}, startDenied(status, actor, "ask a person to create it")
	}
	if actor.Role != task.RoleHuman && slices.ContainsFunc(birth.Hooks, acquires) {
		return record.Change{}, &rejection.Rejection{Code: rejection.ActorDenied, To: status,
			Message: fmt.Sprintf("cannot create a task that has a workspace at once, in %q", status),
			Details: []rejection.Detail{{Condition: "who takes a workspace", Found: asker(actor),
				Want: "ask a person to create it"}}}
	}
	if t.PRURL != "" && actor.Role != task.RoleHuman {
		return record.Change{}, &rejection.Rejection{Code: rejection.ActorDenied, To: status,
			Message: "cannot create a task from a pull request",
			Details: []rejection.Detail{{Condition: "who may ask", Found: fmt.Sprintf("the role %q", actor.Name()),
				Want: "have a person ask: what others wrote would be laid out here"}}}
	}
	hooks := hooksOf(birth.Hooks)
	t.Counters = withStarts(def, t.Counters)
	t.Workflow = def.Ref()
	after := t.After
	t = enter(def, t, status, hooks, now)
	t.Previous, t.CreatedAt, t.After = "", now, after
	event := history.Sign(actor, history.Event{
		Time: now, Type: history.Created, Counters: t.Counters, Workflow: def.Digest, Hooks: actions(hooks),
		Data: map[string]string{"status": string(status), "branch": t.Branch, "summary": t.Summary,
			"workflow": def.Name},
	})
	if t.WaitsForTasks() {
		event.Data["waits_for"] = strings.Join(t.After, ",")
	}
	if t.PRURL != "" {
		event.Data["url"] = t.PRURL
	}
	t.Subject = subjectAtEntry(def, status, actor, Evidence{Subject: t.Subject})
	event.Subject = t.Subject
	return record.Change{Task: t, Hooks: hooks, Entered: true, Lease: lease(t, hooks), Events: []history.Event{
		event}}, nil
}

func acquires(h workflow.Hook) bool { return h.Action == action.AcquireWorkspace }

// mostMadeByAgents is how many tasks of a project agents may have made that no one has begun.
const mostMadeByAgents = 20

// AnotherByAgent judges whether an agent may make one more task. Made are those of the project that agents made and no
// one has begun.
func AnotherByAgent(actor task.Actor, made []string) error {
	if actor.Role == task.RoleHuman || len(made) < mostMadeByAgents {
		return nil
	}
	return &rejection.Rejection{Code: rejection.ActorDenied, Message: "cannot create another task",
		Details: []rejection.Detail{{Condition: fmt.Sprintf("at most %d tasks that agents made and no one has started",
			mostMadeByAgents), Found: fmt.Sprintf("%d: %s", len(made), strings.Join(made, ", ")),
			Want: "do it within your own task, or have a person start these or cancel them"}}}
}

// Start judges whether the creator of a task may have it started at once. Orange asks before it creates the task: if
// it created one and then refused to start it, the creator would create another. An agent that could start other
// agents could do so without end.
func Start(def *workflow.Definition, t task.Task, actor task.Actor, reason string) error {
	to, err := SpawnTarget(def, t)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(outgoing(def, t), func(edge *workflow.Transition) bool { return edge.To == to }) {
		return &rejection.Rejection{
			Code: rejection.IllegalTransition, From: t.Status, To: to, MayAsk: MayAsk(def, t, actor),
			Message: fmt.Sprintf("cannot create a task that is started at once: the workflow %q has no "+
				"transition from %q to %q; create it with --no-spawn", def.Name, t.Status, to),
		}
	}
	if actor.Role != task.RoleHuman {
		return startDenied(to, actor, "create it with --no-spawn; a person starts it (orange task spawn)")
	}
	if !slices.Contains(MayAsk(def, t, actor), to) {
		return startDenied(to, actor, "create it with --no-spawn; have someone start it who may (orange task spawn)")
	}
	takesReason := func(edge *workflow.Transition) bool { return edge.Reason }
	if ways := edges(def, t, to); document.Blank(reason) && slices.ContainsFunc(ways, takesReason) &&
		!t.WaitsForTasks() { // else that is the reason
		return &rejection.Rejection{Code: rejection.ReasonMissing, From: t.Status, To: to,
			Message: fmt.Sprintf("cannot create a task that is started at once: the workflow %q asks why it starts",
				def.Name),
			Details: []rejection.Detail{{Condition: "a reason", Found: "none",
				Want: "say why: --reason TEXT; or create it with --no-spawn"}}}
	}
	return nil
}

// Delete judges who may delete a task. An agent may not: it would erase its own history.
func Delete(t task.Task, actor task.Actor) error {
	if actor.Role == task.RoleHuman {
		return nil
	}
	return &rejection.Rejection{
		Code: rejection.ActorDenied, Task: t.ID, Message: fmt.Sprintf("cannot delete task %s", t.ID),
		Details: []rejection.Detail{{Condition: "who deletes a task", Found: fmt.Sprintf("the role %q", actor.Name()),
			Want: "ask a person to"}},
	}
}

// MayAllow refuses an actor who may not allow a task to change what its project protects: only a person does, and says
// why.
func MayAllow(t task.Task, actor task.Actor, reason string) error {
	no := &rejection.Rejection{Code: rejection.ActorDenied, Task: t.ID,
		Message: fmt.Sprintf("cannot allow task %s to change what its project protects", t.ID)}
	switch {
	case !isPerson(actor):
		no.Details = []rejection.Detail{{Condition: "who allows it", Found: asker(actor), Want: "ask a person to"}}
	case document.Blank(reason):
		no.Code = rejection.ReasonMissing
		no.Details = []rejection.Detail{{Condition: "a reason", Found: "none", Want: "say why: --reason TEXT"}}
	default:
		return nil
	}
	return no
}

// asker describes who asks, for an answer to someone who is not a person.
func asker(actor task.Actor) string {
	if actor.Via != "" {
		return fmt.Sprintf("a program that asks for a person (%s)", actor.Via)
	}
	return fmt.Sprintf("the role %q", actor.Name())
}

func startDenied(to task.Status, actor task.Actor, want string) *rejection.Rejection {
	return &rejection.Rejection{
		Code: rejection.ActorDenied, To: to,
		Message: fmt.Sprintf("cannot create a task that is started at once, in %q", to),
		Details: []rejection.Detail{{Condition: "who starts a task", Found: fmt.Sprintf("the role %q", actor.Name()),
			Want: want}},
	}
}

// SpawnTarget is where starting a task leads: the move that the workflow declares for it, or else the first edge out
// of the initial state that starts an agent and whose guards hold.
func SpawnTarget(def *workflow.Definition, t task.Task) (task.Status, error) {
	if to, said := def.Move(workflow.MoveSpawn); said {
		return to, nil
	}
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if edge.From == def.Initial && edge.Spawns() && Passes(edge, t) {
			return edge.To, nil
		}
	}
	return "", noMove(def, t, workflow.MoveSpawn)
}

// Passes reports whether the guards of an edge out of the task's status hold.
func Passes(edge *workflow.Transition, t task.Task) bool { return guardsHold(edge.When, t, edge) }

// guardsHold reports whether guards hold for the counters as a guard of the edge sees them; the edge may be nil.
func guardsHold(guards []workflow.Guard, t task.Task, edge *workflow.Transition) bool {
	for _, g := range guards {
		if !g.Holds(countWith(t, edge, g.Field)) {
			return false
		}
	}
	return true
}

// MoveTarget is where a command leads. A task that is to be started may have begun: then it stays in its status, and
// what starts there is Respawn's. If the workflow has no move for the command, the error is a *Rejection.
func MoveTarget(def *workflow.Definition, t task.Task, command string) (to task.Status, begun bool, err error) {
	if command == workflow.MoveSpawn {
		to, err = SpawnTarget(def, t)
		if hasBegun(def, t, to) {
			return t.Status, true, nil
		}
		return to, false, err
	}
	if to, said := def.Move(command); said {
		return to, false, nil
	}
	return "", false, noMove(def, t, command)
}

// hasBegun reports whether a task is past the move that starts it, which leads to a status: an agent of its own status
// can be at work, or that move does not leave from there.
func hasBegun(def *workflow.Definition, t task.Task, first task.Status) bool {
	state, _ := def.State(t.Status)
	switch {
	case state.Terminal:
		return false
	case t.Status == def.Initial:
		return t.Status == first && t.Workspace != ""
	}
	return state.Role != "" || len(edges(def, t, first)) == 0
}

func noMove(def *workflow.Definition, t task.Task, command string) *rejection.Rejection {
	return &rejection.Rejection{
		Code: rejection.NoMove, Task: t.ID, From: t.Status, MayAsk: MayAsk(def, t, task.Actor{Role: task.RoleHuman}),
		Message: fmt.Sprintf(
			"cannot %s task %s: the workflow %q does not say where that leads (its moves have no %q)", command,
			t.ID, def.Name, command),
	}
}

// AtWork refuses a request for changes of a task whose agent is already at work in the status that the request leads
// to: that agent would not read the request.
func AtWork(def *workflow.Definition, t task.Task, actor task.Actor) *rejection.Rejection {
	return &rejection.Rejection{
		Code: rejection.IllegalTransition, Task: t.ID, From: t.Status, To: t.Status, MayAsk: MayAsk(def, t, actor),
		Message: fmt.Sprintf("cannot request changes of task %s: it is %q already, and its agent is at work",
			t.ID, t.Status),
		Details: []rejection.Detail{{
			Condition: "a task that waits for a person", Found: fmt.Sprintf("one that is %q", t.Status),
			Want: fmt.Sprintf("tell the agent itself: %q, or write it into the task's document",
				"orange task attach "+t.ID),
		}},
	}
}

// NoWorkspace says why a move cannot be made now.
const NoWorkspace = "no workspace is free"

// Queue is the change of a task that waits for a workspace: it stays in its status and notes the status that it will
// move to. Of those that wait for other tasks it waits for none any more.
func Queue(def *workflow.Definition, t task.Task, to task.Status, actor task.Actor, now time.Time) record.Change {
	before := t
	t.QueuedFor, t.After, t.UpdatedAt = to, nil, now
	if t.Displaced() && strings.HasPrefix(t.Attention, record.HookMark) {
		t.Attention = "" // its turn makes the workspace ready instead of the hook
	}
	return Note(def, before, t, actor, history.Event{
		Time: now, Type: history.QueuedForSpace, Reason: NoWorkspace, Data: map[string]string{"for": string(to)},
	})
}

// Respawn judges having a task go on in its present status: it gets a workspace if it has none, and the agent of the
// status starts. It is no transition: the status stays. Alive reports whether the window of the state's role still has
// a living program, and missing that the task's worktree or its branch is gone: the step makes them again, whether the
// agent lives or not. It is open in every status in which an agent works but the first one of a task that has no
// workspace yet, in any in which the task waits for one, and in any where something is missing.
func Respawn(def *workflow.Definition, t task.Task, alive, missing bool, actor task.Actor,
	now time.Time) (record.Change, error) {
	state, _ := def.State(t.Status)
	refuse := func(why, want string) (record.Change, error) {
		return record.Change{}, &rejection.Rejection{
			Code: rejection.RespawnRefused, Task: t.ID, From: t.Status, To: t.Status, MayAsk: MayAsk(def, t, actor),
			Message: fmt.Sprintf("cannot respawn task %s in %q", t.ID, t.Status),
			Details: []rejection.Detail{{Condition: "respawn", Found: why, Want: want}},
		}
	}
	start, starts := def.StartIn(state)
	switch {
	case actor.Role != task.RoleHuman && !actor.Rule:
		return refuse(fmt.Sprintf("the role %q asking", actor.Role), "have a person ask")
	case state.Terminal:
		return refuse("a task that has ended", "create another one")
	case t.Workspace == "" && t.Status == def.Initial && !t.Displaced():
		return refuse("a task that has not begun", "start it: orange task spawn "+t.ID)
	case !starts && !missing && (t.Workspace != "" || !givesBack(def, t)) && !t.Displaced():
		return refuse("no agent that works in this status", "move the task on instead")
	case alive && !missing:
		return refuse("the agent still alive", "attach to it, or end it first")
	}
	event := history.Event{Time: now, Type: history.AgentRespawned, Workflow: def.Digest,
		Data: map[string]string{"status": string(t.Status), "role": state.Role}}
	var hooks []task.Hook
	expect, reserve := t.Version, record.LeaseKeep
	if missing || t.Workspace == "" {
		hooks = []task.Hook{{Action: action.AcquireWorkspace}}
	}
	if t.Workspace == "" {
		reserve = record.LeaseReserve
		event.Data[history.DataQueued], t.QueuedFor = "", ""
	}
	if starts {
		hooks = append(hooks, start)
	} else {
		event.Type, event.Reason = history.Updated, "its worktree is made again"
		if event.Data = nil; t.Workspace == "" {
			event.Reason, event.Data = "it gets a workspace again", map[string]string{history.DataQueued: ""}
		}
	}
	t.UpdatedAt, t.StalledAt = now, time.Time{}
	if !actor.Rule || !t.RefusedOften() { // else no one has looked at why its agent was refused
		t.Attention = ""
	}
	t.Counters = resetBy(def, t.Counters, actor)
	if !actor.Rule {
		t.Counters = withoutEnds(t.Counters)
	}
	event.Counters, event.Hooks = t.Counters, actions(hooks)
	return record.Change{Task: t, Expect: expect, Hooks: hooks, Lease: reserve,
		Events: []history.Event{history.Sign(actor, event)}}, nil
}

// givesBack reports whether each move to an end out of a task's status gives a workspace back, and there is one: then a
// task that has none may get one.
func givesBack(def *workflow.Definition, t task.Task) bool {
	ends := 0
	for _, edge := range outgoing(def, t) {
		if into, _ := def.State(edge.To); !into.Terminal {
			continue
		}
		ends++
		releases := func(h workflow.Hook) bool { return h.Action == action.ReleaseWorkspace }
		if !slices.ContainsFunc(edge.Hooks, releases) {
			return false
		}
	}
	return ends > 0
}

// Blocks reports whether a caller of the role has to wait while the task is in a status, because another agent is at
// work there. A person waits only where agents continue without a person.
func Blocks(def *workflow.Definition, status task.Status, role string) bool {
	state, exists := def.State(status)
	if !exists || state.Role == "" || state.Role == role {
		return false
	}
	return role != task.RoleHuman || !def.Attended(status)
}

// Overtaken lists the pending hooks that a new step drops: those that would still start something. Hooks that end an
// agent or give a workspace back stay pending. So do hooks that make the workspace ready, as long as the task keeps
// it and the step does not make it ready itself: no agent may start in a workspace that is still as another task left
// it, and a task that is over may be redone. A step that has the task wait in line for a workspace drops them. A step
// that ends the task drops what would still push its branch or open a pull request, too.
func Overtaken(owed []task.OwedHook, next record.Change) []int64 {
	keeps := (next.Task.Live || next.Task.Workspace != "") && !next.Task.Displaced() && !makesReadyFirst(next.Hooks)
	for _, h := range next.Hooks {
		keeps = keeps && h.Action != action.ReleaseWorkspace
	}
	var out []int64
	for _, h := range owed {
		if keeps && h.Action == action.AcquireWorkspace {
			continue
		}
		leaves := h.Action == action.PushBranch || h.Action == action.CreatePR || h.Action == action.UpdatePR
		if class, known := action.ClassOf(h.Action); known && class == action.ClassStart {
			out = append(out, h.ID)
		} else if leaves && !next.Task.Live {
			out = append(out, h.ID)
		}
	}
	return out
}

// makesReadyFirst reports whether a step makes the workspace ready before it starts anything.
func makesReadyFirst(hooks []task.Hook) bool {
	at := slices.IndexFunc(hooks, func(h task.Hook) bool {
		class, _ := action.ClassOf(h.Action)
		return class == action.ClassStart
	})
	return at >= 0 && hooks[at].Action == action.AcquireWorkspace
}

// LeftAlone describes, for a person, a step that drops the start of the very agent that its status needs and starts
// none itself; empty if the step does not.
func LeftAlone(def *workflow.Definition, owed []task.OwedHook, next record.Change) string {
	state, _ := def.State(next.Task.Status)
	if state.Role == "" || !next.Task.Live || starts(next.Hooks) {
		return ""
	}
	dropped := Overtaken(owed, next)
	for _, h := range owed {
		role := workflow.RoleIn(state, h.Hook)
		for _, id := range dropped {
			if id == h.ID && role == state.Role {
				return fmt.Sprintf(
					"the %s had not been started yet, and this step does not start one; start it with %q", role,
					"orange task respawn "+next.Task.ID)
			}
		}
	}
	return ""
}

// Waits reports whether a pending hook must wait because an earlier one has failed.
func Waits(failed []task.OwedHook, h task.OwedHook) bool {
	class, known := action.ClassOf(h.Action)
	if known && class == action.ClassApart {
		return false
	}
	for _, f := range failed {
		if c, ok := action.ClassOf(f.Action); !ok || c != action.ClassApart {
			return true
		}
	}
	return false
}

// Back-off of failed hooks: the first wait doubles with each attempt, up to the longest.
const (
	firstBackOff   = 5 * time.Second
	longestBackOff = 5 * time.Minute
)

// Later reports whether a time that a back-off set is still to come. A time further away than the longest back-off
// comes from before someone changed the clock: it counts as past.
func Later(at, now time.Time) bool {
	return at.After(now) && !at.After(now.Add(longestBackOff))
}

// backOff is how long a hook waits after its n-th failed attempt, counted from 1.
func backOff(attempts int) time.Duration {
	wait := firstBackOff
	for range attempts - 1 {
		if wait *= 2; wait >= longestBackOff {
			return longestBackOff
		}
	}
	return wait
}
