package decide

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"time"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// levels are the marks of a timeout in per cent, each with the event that reports it.
func levels() []struct {
	level int
	event string
} {
	return []struct {
		level int
		event string
	}{{task.LateWarning, history.TimeoutWarning}, {task.LateAlert, history.TimeoutAlert},
		{task.LateEscalated, history.TimeoutEscalated}}
}

// Limit is how long a task should be in its present status: as its project sets it, or else as the workflow does. 0
// is no limit.
func Limit(def *workflow.Definition, own task.Timeouts, t task.Task) time.Duration {
	state, exists := def.State(t.Status)
	if !exists || state.Terminal || !t.Live {
		return 0
	}
	if after, said := own[t.Status]; said {
		return after
	}
	return time.Duration(state.Timeout.After) * time.Second
}

// threshold is when a level is reached, counted from the entry. Dividing by 100 first avoids an overflow: a year in
// nanoseconds is a large number.
func threshold(after time.Duration, level int) time.Duration {
	return after / 100 * time.Duration(level)
}

// overdueLevel is the level of lateness that a task has reached, and how long it should be in its status.
func overdueLevel(def *workflow.Definition, own task.Timeouts, t task.Task, now time.Time) (
	level int, after time.Duration) {
	after = Limit(def, own, t)
	if after == 0 {
		return 0, 0
	}
	for _, l := range levels() {
		if now.Sub(t.EnteredAt) >= threshold(after, l.level) {
			level = l.level
		}
	}
	return level, after
}

// clockSetBack reports whether the clock was set back so far that the status seems to begin in the future and its
// marks would come much too late. A smaller step back delays the marks by less than the timeout itself.
func clockSetBack(after time.Duration, t task.Task, now time.Time) bool {
	return after > 0 && t.EnteredAt.Sub(now) > after
}

// NextDeadline is when to call Timer next; wanted is false if the present status has no mark left to report. A time
// that is not after now is already due.
func NextDeadline(def *workflow.Definition, own task.Timeouts, t task.Task, now time.Time) (at time.Time, wanted bool) {
	after := Limit(def, own, t)
	if after == 0 {
		return time.Time{}, false
	}
	for _, l := range levels() {
		if l.level > t.Overdue {
			if clockSetBack(after, t, now) {
				return now, true
			}
			return t.EnteredAt.Add(threshold(after, l.level)), true
		}
	}
	return time.Time{}, false
}

// Timer is the change that follows from the time that a task has been in its status: an event for every level that is
// reached and not reported yet. Due is false if nothing follows. After a clock that was set back, the status may
// begin again without an event.
func Timer(def *workflow.Definition, own task.Timeouts, t task.Task, now time.Time) (c record.Change, due bool) {
	reached, after := overdueLevel(def, own, t, now)
	c = record.Change{Task: t, Expect: t.Version}
	if clockSetBack(after, t, now) && t.Overdue < task.LateEscalated {
		c.Task.EnteredAt = now
		return c, true
	}
	if reached <= t.Overdue {
		return c, false
	}
	in := now.Sub(t.EnteredAt)
	for _, l := range levels() {
		if l.level <= t.Overdue || l.level > reached {
			continue
		}
		c.Events = append(c.Events, history.Event{
			Time: now, Type: l.event, Actor: task.ActorEngine, Workflow: def.Digest,
			Reason: lateText(t, l.level, in, after),
			Data: map[string]string{
				history.DataStatus: string(t.Status), history.DataAfter: after.String(),
				history.DataInState: roundOff(in).String(), history.DataLevel: strconv.Itoa(l.level),
			},
		})
	}
	c.Task.Overdue = reached
	if !t.Queued() { // this time orders the tasks that wait for a workspace
		c.Task.UpdatedAt = now
	}
	return c, true
}

// roundOff leaves out digits that do not matter to people.
func roundOff(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// lateText describes one level for people.
func lateText(t task.Task, level int, in, after time.Duration) string {
	switch level {
	case task.LateWarning:
		return fmt.Sprintf("it has been %q for %s and should be no longer than %s", t.Status, roundOff(in), after)
	case task.LateAlert:
		return fmt.Sprintf("its time is over: it has been %q for %s and should have been no longer than %s",
			t.Status, roundOff(in), after)
	}
	return fmt.Sprintf("its time is long over: it has been %q for %s and should have been no longer than %s",
		t.Status, roundOff(in), after)
}

// Escalation is the move that the workflow wants of a task that reaches its last level of lateness with this change
// of Timer's, or whose agent was refused too often with one of RefusedOften.
func Escalation(def *workflow.Definition, c record.Change) (to task.Status, wanted bool) {
	if len(c.Events) == 0 {
		return "", false
	}
	state, _ := def.State(c.Task.Status)
	switch c.Events[len(c.Events)-1].Type {
	case history.TimeoutEscalated:
		to = state.Timeout.Then
	case history.AgentRefused:
		to = state.Refused.Then
	}
	return to, to != ""
}

// Escalate adds the move of Escalation to the change of the task t, under the same conditions as any other
// request. If those refuse it, the task is moved by force to where a person decides, unless that led past something
// which has to be passed. Else it stays, with a mark for a person, and Orange does not try again.
func Escalate(def *workflow.Definition, c record.Change, t task.Task, ev Evidence, now time.Time) record.Change {
	to, wanted := Escalation(def, c)
	if !wanted {
		return c
	}
	if ev.NoRoom {
		return withoutEscalation(def, c, NoWorkspace)
	}
	why := c.Events[len(c.Events)-1].Reason
	decision, err := Transition(def, t, ev, task.Request{Task: t.ID, To: to, Actor: task.Actor{Rule: true},
		Reason: why}, now)
	moved := decision.Change
	switch {
	case err == nil && decision.Moved:
		if c.Events[0].Type == history.AgentRefused { // a person who finds the task there has to know
			moved.Task.Attention = why
		}
	case mayForce(def, t, to):
		moved = byForce(def, t, to, ev, map[string]string{guarantee.DataForced: refusal(err)}, now)
		moved.Events[0].Reason = why
		moved.Task.Attention = why
	default:
		return withoutEscalation(def, c, refusal(err))
	}
	move := moved.Events[len(moved.Events)-1]
	move.Type = history.AutoAdvanced
	moved.Events = append(append([]history.Event(nil), c.Events...), move)
	return moved
}

// withoutEscalation is the change of a task that could not be moved, with the reason in its last event and in its mark.
func withoutEscalation(def *workflow.Definition, c record.Change, why string) record.Change {
	to, _ := Escalation(def, c)
	c.Events = append([]history.Event(nil), c.Events...)
	last := &c.Events[len(c.Events)-1]
	data := map[string]string{history.DataRefused: why}
	maps.Copy(data, last.Data)
	last.Data = data
	last.Reason += fmt.Sprintf("; it could not be moved to %q: %s", to, why)
	if c.Task.RefusedOften() {
		c.Task.Attention = last.Reason
	}
	c.Task.Attention = cmp.Or(c.Task.Attention, last.Reason) // what needs a person already goes before it
	return c
}

// TimingOf is how long a task has been in its status and in all, and how late it is.
func TimingOf(def *workflow.Definition, own task.Timeouts, t task.Task, now time.Time) task.Timing {
	state, _ := def.State(t.Status)
	s := task.Timing{InState: now.Sub(t.EnteredAt), Total: now.Sub(t.CreatedAt), Escalated: state.Escalation,
		Role: state.Role}
	if !t.Live {
		s.Total = t.EnteredAt.Sub(t.CreatedAt)
	}
	s.InState, s.Total = max(s.InState, 0), max(s.Total, 0) // a clock may have been set back
	s.Overdue, s.Timeout = overdueLevel(def, own, t, now)
	return s
}
