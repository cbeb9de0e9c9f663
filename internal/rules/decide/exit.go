package decide

import (
	"errors"
	"fmt"
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
)

// Exit judges an agent's death by the exit rules of the workflow. It never refuses: it at least notes the death.
// Rules react to the death of the status's own role. The death of another role is noted and moves nothing.
// If the agent ended at its provider's limit and left nothing that moves the task, the death is no crash: the task
// waits until the limit is over. The death's last words, if it has any, are added to the mark that notifies people.
func Exit(def *workflow.Definition, t task.Task, ev Evidence, death task.Death, now time.Time) record.Change {
	x := exit{def: def, task: t, ev: ev, death: death, now: now}
	c := x.judge()
	if strings.Contains(c.Task.Attention, c.Events[0].Reason) { // else it tells of something else
		c.Task.Attention += death.Said()
	}
	return c
}

func (x *exit) judge() record.Change {
	def, t, ev, death := x.def, x.task, x.ev, x.death
	state, _ := def.State(t.Status)
	switch {
	case death.Ending.Unstarted != "":
		return x.failedStart()
	case state.Role == "" || state.Role != death.Role:
		return x.note("")
	}
	var missing []rejection.Detail
	for _, rule := range rulesOf(def, t.Status) {
		switch {
		case rule.HasArtifact != nil:
			found := judgeGate([]workflow.Part{*rule.HasArtifact}, ev)
			if ev.TooLarge && NeedsDocument(workflow.Leaves([]workflow.Part{*rule.HasArtifact})) {
				return x.heldBySize()
			}
			if len(found.unmet) == 0 && !x.mayGiveVerdict(rule) {
				return x.leftVerdict(rule, found.rested)
			}
			if len(found.unmet) == 0 {
				return x.advance(rule)
			}
			for _, lack := range found.unmet { // several rules may ask for the same
				if !slices.ContainsFunc(missing, func(d rejection.Detail) bool {
					return d.Condition == lack.Condition && d.Found == lack.Found
				}) {
					missing = append(missing, lack)
				}
			}
		case rule.Action == workflow.ActionCrash:
			return x.crash(rule, leftOut(missing))
		case rule.Action == workflow.ActionMarkDead:
			return x.dead()
		}
	}
	return x.dead()
}

// leftOut says what an agent has not left at its end. Where no rule looks for anything, it should have asked for a
// move.
func leftOut(missing []rejection.Detail) string {
	if len(missing) == 0 {
		return "ended without having asked for a move"
	}
	return "ended without what the status asks for: " + rejection.Reasons(missing)
}

// leftVerdict is the crash of an agent that left a verdict. The verdict is noted as one that was there before: a plain
// request cannot use it, and a person can, by name and with a reason.
func (x *exit) leftVerdict(rule *workflow.Rule, verdict []task.Evidence) record.Change {
	c := x.crash(crashRule(x.def, x.task.Status), "left "+rule.HasArtifact.Name()+
		", and a verdict counts only from an agent that ended by itself with status 0")
	if !c.Entered {
		c.Begun, c.Start = true, slices.Clone(verdict)
		for _, e := range x.ev.Start {
			c.Start = addOnce(c.Start, e)
		}
	}
	return c
}

// exit holds what the judgement of one death needs.
type exit struct {
	def   *workflow.Definition
	task  task.Task
	ev    Evidence
	death task.Death
	now   time.Time
}

// mayGiveVerdict reports whether what the dead agent left may count as its verdict. Another process can write a verdict
// that accepts the work, and then end the agent that it would come from. One that refuses the work gives no one what
// they have not: it counts however its author ended.
func (x *exit) mayGiveVerdict(rule *workflow.Rule) bool {
	if end := x.death.Ending; end.Itself() && end.Known && end.Status == 0 {
		return true
	}
	return !TakesVerdict(x.def, x.task, rule)
}

// TakesVerdict reports whether an exit rule with evidence relies on a verdict that may accept the work: one that it
// looks for itself, or one that the gate of its move asks for.
func TakesVerdict(def *workflow.Definition, t task.Task, rule *workflow.Rule) bool {
	section, file := false, false
	look := func(p *workflow.Part) {
		section = section || p.Verdict != "" && !refuses(p)
		file = file || p.Judges
	}
	rule.HasArtifact.EachLeaf(look)
	to, found := RuleTarget(def, t, rule)
	if !found {
		return section || file
	}
	for _, edge := range edges(def, t, to) {
		for i := range edge.Gate {
			edge.Gate[i].EachLeaf(look)
		}
	}
	return section || file && !comesBack(def, to, t.Status) // a file says by where it leads what it does
}

// comesBack reports whether a task can end well, or be merged, from a status by way of another one, and by no other
// way.
func comesBack(def *workflow.Definition, from, by task.Status) bool {
	seen, back := map[task.Status]bool{}, false
	for open := []task.Status{from}; len(open) > 0; open = open[1:] {
		at := open[0]
		if at == by {
			back = true
		}
		if seen[at] || at == by {
			continue
		}
		seen[at] = true
		if Marks(def, at).Well || AwaitsMerge(def, at) {
			return false
		}
		for i := range def.Transitions {
			if def.Transitions[i].From == at {
				open = append(open, def.Transitions[i].To)
			}
		}
	}
	return back
}

func rulesOf(def *workflow.Definition, status task.Status) []*workflow.Rule {
	var out []*workflow.Rule
	for i := range def.Exit.Rules {
		if def.Exit.Rules[i].Status == status {
			out = append(out, &def.Exit.Rules[i])
		}
	}
	return out
}

func (x *exit) dead() record.Change {
	switch {
	case x.isLost():
		return x.lose()
	case x.atLimit():
		return x.park()
	}
	return x.note(fmt.Sprintf("%s has ended in %q; start it again with %q", x.death.Name(), x.task.Status,
		"orange task respawn "+x.task.ID))
}

// event is the first event of every answer: the agent has stopped, how, and in which status.
func (x *exit) event(kind, reason string) history.Event {
	data := x.death.Data()
	data[history.DataStatus] = string(x.task.Status)
	return history.Event{
		Time: x.now, Type: kind, Actor: task.ActorEngine, Reason: reason, Counters: x.task.Counters,
		Workflow: x.def.Digest, Data: data,
	}
}

// note ends the agent's seat and records the death. If attention is not empty, it marks the task for a person.
func (x *exit) note(attention string) record.Change {
	t := x.task
	t.UpdatedAt, t.StalledAt = x.now, time.Time{}
	if attention != "" {
		t.Attention = attention
	}
	return record.Change{
		Task: t, Expect: x.task.Version, DeadHook: x.death.Hook,
		Events: []history.Event{x.event(history.AgentStopped, x.death.Name()+" has ended")},
	}
}

// failedStart is not a crash: every attempt would fail in the same way until a person removes the cause.
func (x *exit) failedStart() record.Change {
	return x.note(fmt.Sprintf("the %s could not be started: %s; mend that, then: orange task respawn %s",
		x.death.Role, x.death.Ending.Unstarted, x.task.ID))
}

// advance requests the rule's move under the same conditions as any other request. If the move is refused, the death
// counts as a crash.
func (x *exit) advance(rule *workflow.Rule) record.Change {
	to, found := RuleTarget(x.def, x.task, rule)
	if !found {
		return x.crash(crashRule(x.def, x.task.Status), "left evidence, but no branch of the rule holds for it")
	}
	reason := fmt.Sprintf("%s ended and left %s", x.death.Name(), rule.HasArtifact.Name())
	request := task.Request{Task: x.task.ID, To: to, Actor: task.Actor{Rule: true}, Reason: reason}
	decision, err := Transition(x.def, x.task, x.ev, request, x.now)
	var refused *rejection.Rejection
	if errors.As(err, &refused) && refused.Moved {
		// The verdict is about another commit than the present one. If the workflow has a transition for that, the
		// agent starts again.
		again := request
		again.To, again.Reason = x.task.Status, reason+", about a commit that is not the tip any more"
		if anew, no := Transition(x.def, x.task, x.ev, again, x.now); no == nil && anew.Moved {
			decision, err, to = anew, nil, again.To
		}
	}
	if errors.As(err, &refused) && refused.Owed {
		return x.heldByPromise(to, refused)
	}
	if errors.As(err, &refused) && refused.Files > 0 {
		return x.heldByFiles(refused)
	}
	if err != nil || !decision.Moved {
		return x.crash(crashRule(x.def, x.task.Status), "ended, and its evidence does not do: "+refusal(err))
	}
	c := decision.Change
	move := c.Events[len(c.Events)-1]
	move.Type = history.AutoAdvanced
	c.Events = []history.Event{x.event(history.AgentStopped, x.death.Name()+" has ended"), move}
	c.DeadHook = x.death.Hook
	if state, _ := x.def.State(to); state.Role == x.death.Role && !starts(c.Hooks) {
		c.Task.Attention = fmt.Sprintf("%s has ended, and its task moved on to %q, where no agent is at work; "+
			"start it again with %q",
			x.death.Name(), to, "orange task respawn "+x.task.ID)
	}
	return c
}

// starts reports whether hooks start an agent, or ensure that one lives.
func starts(hooks []task.Hook) bool {
	for _, h := range hooks {
		if h.Action == action.NotifyWorker || workflow.SpawnRole(h) != "" {
			return true
		}
	}
	return false
}

// RuleTarget is where an exit rule with evidence leads; false if it leads nowhere. Its branches see the counters as
// the guards of the move that they lead to see them.
func RuleTarget(def *workflow.Definition, t task.Task, rule *workflow.Rule) (task.Status, bool) {
	for _, branch := range rule.ThenWhen {
		var over *workflow.Transition
		if ways := edges(def, t, branch.Then); len(ways) > 0 {
			over = ways[0]
		}
		if guardsHold(branch.When, t, over) {
			return branch.Then, true
		}
	}
	return rule.Then, rule.Then != "" && len(rule.ThenWhen) == 0
}

func refusal(err error) string {
	var r *rejection.Rejection
	if !errors.As(err, &r) {
		return "the status would stay the same"
	}
	if len(r.Details) == 0 {
		return r.Message
	}
	return rejection.Reasons(r.Details)
}

// crashRule is what the workflow declares about crashes in a status. If it declares nothing, crashes are only
// counted.
func crashRule(def *workflow.Definition, status task.Status) *workflow.Rule {
	for _, rule := range rulesOf(def, status) {
		if rule.Action == workflow.ActionCrash {
			return rule
		}
	}
	return &workflow.Rule{Status: status, Action: workflow.ActionCrash}
}

// crash counts a crash. The crash that reaches the rule's threshold moves the task to where a person looks after it.
func (x *exit) crash(rule *workflow.Rule, why string) record.Change {
	switch {
	case x.isLost():
		return x.lose()
	case x.atLimit():
		return x.park()
	}
	t := x.task
	count := t.Counters.Get(task.CrashCount) + 1
	t.Counters = t.Counters.With(task.CrashCount, count)
	t.UpdatedAt, t.StalledAt = x.now, time.Time{}
	reason := x.death.Name() + " " + why
	if !autoRespawns(x.def, x.task) { // else it needs no person
		t.Attention = fmt.Sprintf("crash %d: %s; start it again with %q", count, reason, "orange task respawn "+t.ID)
	}
	crashed := x.event(history.AgentCrashed, reason)
	crashed.Counters = t.Counters
	crashed.In, crashed.Crash = x.task.Status, count
	delete(crashed.Data, history.DataStatus)
	c := record.Change{Task: t, Expect: x.task.Version, Events: []history.Event{crashed}, DeadHook: x.death.Hook}
	if rule.StuckAfter > 0 && count >= rule.StuckAfter {
		x.escalate(&c, tooMany(rule, t), count)
	}
	return c
}

// tooMany is where a crash that reaches the rule's threshold leads. Its branches see the counters as they are: a
// crash is not a failure.
func tooMany(rule *workflow.Rule, t task.Task) task.Status {
	for _, branch := range rule.ThenWhen {
		if guardsHold(branch.When, t, nil) {
			return branch.Then
		}
	}
	return rule.Then
}

// escalate adds the move of the rule's threshold, by force.
func (x *exit) escalate(c *record.Change, to task.Status, count int) {
	if _, exists := x.def.State(to); !exists {
		return // the task stays, with its attention mark: the workflow has no place for it
	}
	if endsWell(x.def, to) {
		c.Task.Attention = fmt.Sprintf("crash %d: %s; %s", count, c.Events[0].Reason, goodByForce(to))
		return
	}
	from := c.Task.Status
	moved := byForce(x.def, c.Task, to, x.ev, map[string]string{history.DataCrash: strconv.Itoa(count)}, x.now)
	moved.Task.Counters = moved.Task.Counters.With(task.CrashCount, count) // it tells why the task is here
	move := moved.Events[0]
	move.Reason, move.Counters = fmt.Sprintf("%d crashes in %q", count, from), moved.Task.Counters
	moved.Task.Attention = fmt.Sprintf("%s; the last: %s", move.Reason, c.Events[0].Reason)
	if count == 1 {
		move.Reason = fmt.Sprintf("a crash in %q", from)
		moved.Task.Attention = fmt.Sprintf("%s: %s", move.Reason, c.Events[0].Reason)
	}
	moved.Expect, moved.Events, moved.DeadHook = c.Expect, append(c.Events, move), c.DeadHook
	*c = moved
}

// NeedsWords reports whether a change notifies people of a death whose last words they will want to see.
func NeedsWords(c record.Change) bool {
	for i := range c.Events {
		if c.Events[i].Type == history.MachineLost {
			return false
		}
		if c.Events[i].Type == history.AgentCrashed || c.Events[i].IsMove() {
			return c.Events[i].Type == history.AgentCrashed
		}
	}
	return true
}

// RespawnDue returns when the monitor starts the dead agent of the present status again, if the workflow wants that, or
// the agent ended at its provider's limit or with its machine. Its time has come unless it is after now. The first
// restart is immediate, and so is one after a loss of the machine; each further one in the same status waits longer;
// one after a limit waits until that is over. Events are the task's whole history. A clock that was set back delays no
// restart by more than one back-off. A person has to restart an agent that could not be started at all, and one whose
// move files, or the size of its document, kept for the second time. The same holds for one whose pending start the
// next move dropped: Orange warned the actor of that move, and the death of an earlier agent has no bearing on it.
func RespawnDue(def *workflow.Definition, t task.Task, events []history.Event, now time.Time) (
	due time.Time, wanted bool) {
	state, _ := def.State(t.Status)
	if !Respawns(def, t) {
		return time.Time{}, false
	}
	respawns, held := 0, 0
	var last history.Event
	for _, e := range events {
		switch {
		case e.IsMove():
			respawns, held = 0, 0
			if owesStart(def, e, state.Role) {
				last = history.Event{}
			}
		case e.Data["role"] != state.Role:
		case e.Type == history.AgentRespawned:
			respawns, last = respawns+1, history.Event{}
		case e.Type == history.AgentSpawned || e.Type == history.ReviewStarted:
			last = history.Event{}
		case e.Data["ended"] != "": // it died; the event of one that was ended on purpose has no such key
			last = e
			if heldBack(e) {
				held++
			}
		}
	}
	if heldBack(last) && held > 1 { // it was started once to answer
		return time.Time{}, false
	}
	if last.Type == "" || last.Data[task.DataUnstarted] != "" {
		return time.Time{}, false
	}
	if end, until := history.LimitEnd(events); end != nil {
		if until.IsZero() || now.Before(end.Time) {
			return end.Time, true
		}
		return until, true
	}
	if last.Type == history.MachineLost {
		return last.Time, last.Data[dataResume] == record.ResumeAlways
	}
	if !autoRespawns(def, t) {
		return time.Time{}, false
	}
	due = last.Time
	if respawns > 0 {
		due = due.Add(backOff(respawns))
	}
	if due.After(now) && !Later(due, now) {
		due = now
	}
	return due, true
}

// owesStart reports whether the hooks of a move include the start of a role's agent.
func owesStart(def *workflow.Definition, move history.Event, role string) bool {
	into, _ := def.State(move.To)
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if edge.From != move.From || edge.To != move.To {
			continue
		}
		for _, h := range edge.Hooks {
			if workflow.SpawnRole(h.Hook) != "" && workflow.RoleIn(into, h.Hook) == role &&
				slices.Contains(move.Hooks, h.Action) {
				return true
			}
		}
	}
	return false
}

// Respawns reports whether the monitor may start a dead agent of the task's present status again once its time has
// come: the workflow wants that, or the agent has ended at a limit or with its machine.
func Respawns(def *workflow.Definition, t task.Task) bool {
	ended := t.Counters.Get(record.LimitCount) > 0 || t.Counters.Get(record.LossCount) > 0
	return autoRespawns(def, t) || ended && restartable(def, t)
}

// autoRespawns reports whether the workflow wants every dead agent of the present status started again.
func autoRespawns(def *workflow.Definition, t task.Task) bool {
	state, _ := def.State(t.Status)
	return state.Respawn == workflow.RespawnAuto && restartable(def, t)
}
