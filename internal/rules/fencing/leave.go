package fencing

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// BeginLeave is the change with which the agents of a task end that is about to leave: what they wrote is looked at
// next. It is not due where they ended for that before. Only a person may ask.
func BeginLeave(s record.Snapshot, actor task.Actor, reason string,
	now time.Time) (c record.Change, due bool, err error) {
	if err := mayLetGo(s.Task, actor); err != nil {
		return c, false, err
	}
	if s.Task.Session == "" && len(s.Owed) == 0 && s.Task.Attention == goesOn(s.Task.ID) {
		return c, false, nil
	}
	return leaving(s, actor, reason, history.Event{Time: now, Reason: "it is about to leave this home",
		Hooks: []string{action.KillSession}}), true, nil
}

// Leave is the change with which a task begins to leave: its agents end, and its workspace is given back, which keeps
// what no branch holds. All that it still owed is dropped: who has the task from now on does it. Only a person may ask.
func Leave(s record.Snapshot, actor task.Actor, reason string, now time.Time) (record.Change, error) {
	if err := mayLetGo(s.Task, actor); err != nil {
		return record.Change{}, err
	}
	return leaving(s, actor, reason, history.Event{Time: now, Reason: "it leaves this home",
		Hooks: []string{action.KillSession, action.ReleaseWorkspace}, Data: map[string]string{dataLeft: "true"}}), nil
}

func mayLetGo(t task.Task, actor task.Actor) error {
	if actor.Role == task.RoleHuman && !actor.Rule {
		return nil
	}
	return &rejection.Rejection{
		Code: rejection.ActorDenied, Task: t.ID,
		Message: fmt.Sprintf("cannot let task %s leave this home", t.ID),
		Details: []rejection.Detail{{Condition: "who lets a task leave", Want: "ask a person to",
			Found: fmt.Sprintf("the role %q", actor.Name())}},
	}
}

func goesOn(id string) string {
	return "it is about to leave this home: orange task leave " + id + " goes on with that"
}

// leaving is the change that drops what is owed, and owes the hooks of an event in place of that.
func leaving(s record.Snapshot, actor task.Actor, reason string, e history.Event) record.Change {
	t := s.Task
	var dropped []record.Settled
	for _, h := range s.Owed {
		dropped = append(dropped, record.Settled{ID: h.ID, State: task.HookSuperseded,
			Error: "the task leaves this home"})
	}
	var hooks []task.Hook
	for _, a := range e.Hooks {
		hooks = append(hooks, task.Hook{Action: a})
	}
	t.UpdatedAt, t.StalledAt, t.Attention = e.Time, time.Time{}, goesOn(t.ID)
	if reason = strings.TrimSpace(reason); reason != "" {
		e.Reason += ": " + reason
	}
	e.Type = history.Updated
	return record.Change{Task: t, Expect: s.Task.Version, Hooks: hooks, Settled: dropped,
		Events: []history.Event{history.Sign(actor, e)}}
}

const dataLeft = "left"

// WithoutBranch is the change of a task that cannot go on here, because the repository lacks its branch: it is marked
// with why. Due is false where it is marked so already, or waits for no workspace any more.
func WithoutBranch(t task.Task, why string, now time.Time) (c record.Change, due bool) {
	if !t.Displaced() || t.Attention == why {
		return c, false
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.Attention, c.Task.UpdatedAt = why, now
	return c, true
}

// LeftToEnd says what still has to end before the task can be forgotten; empty where nothing does.
func LeftToEnd(s record.Snapshot) string {
	all := owedHooks(s)
	if len(all) == 0 && s.Task.Workspace != "" {
		all = append(all, fmt.Sprintf("it has the workspace %q", s.Task.Workspace))
	}
	return strings.Join(all, "; ")
}

// WhyAgentsLive says why the agents of a task that is about to leave have not ended; empty where they have.
func WhyAgentsLive(s record.Snapshot) string { return strings.Join(owedHooks(s), "; ") }

func owedHooks(s record.Snapshot) []string {
	var all []string
	for _, h := range s.Owed {
		text := h.Action + " is not done"
		if h.Error != "" {
			text = h.Action + ": " + h.Error
		}
		all = append(all, text)
	}
	return all
}

// RescueRefs are the refs under which work of the task is kept that Orange saved, the oldest first.
func RescueRefs(events []history.Event) []string {
	var refs []string
	for _, e := range events {
		if ref := e.Data["ref"]; e.Type == history.WorkRescued && ref != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}
