package decide

import (
	"fmt"
	"strconv"
	"time"

	"orange/internal/document"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// AtLimit completes what was seen of the limit at which an agent ended: which work the agent left, and whether any of
// that is new since the agent's last such end in the same status. Events are the task's whole history.
func AtLimit(seen task.Limit, ev Evidence, events []history.Event) task.Limit {
	text := "commit " + ev.Subject.Commit + "\n"
	if ev.Document != nil {
		text += ev.Document.Body
	}
	seen.Work, seen.New = document.Digest(text), true
	for i := len(events) - 1; i >= 0 && !events[i].IsMove(); i-- {
		if events[i].Type == history.AgentLimited {
			seen.New = events[i].Data[history.DataWork] != seen.Work
			break
		}
	}
	return seen
}

// limits is how often in a row the agent has now ended at a limit and left nothing new, with this end.
func (x *exit) limits() int {
	if x.death.Limit.New {
		return 1
	}
	return x.task.Counters.Get(record.LimitCount) + 1
}

// atLimit reports whether the agent ended at its provider's limit, and is to be started again when that is over.
func (x *exit) atLimit() bool {
	return x.death.Limit.Line != "" && x.limits() <= record.MostLimits && restartable(x.def, x.task)
}

// park is the change of a task whose agent ended at its provider's limit: that is no crash.
func (x *exit) park() record.Change {
	t, limit, times := x.task, x.death.Limit, x.limits()
	until := limit.Until
	if !until.After(x.now) {
		until = x.now.Add(limitBackOff(times))
	}
	t.Counters = t.Counters.With(record.LimitCount, times)
	t.UpdatedAt, t.StalledAt = x.now, time.Time{}
	reason := fmt.Sprintf("%s ended at a limit of %s: %s", x.death.Name(), limit.Provider, limit.Line)
	t.Attention = record.LimitMark(x.death.Role, limit.Provider, until)
	event := x.event(history.AgentLimited, reason)
	event.Counters = t.Counters
	event.Data[history.DataLimit], event.Data[history.DataUntil] = limit.Line, task.FormatTime(until)
	event.Data[history.DataProvider], event.Data[history.DataWork] = limit.Provider, limit.Work
	event.Data[history.DataTimes] = strconv.Itoa(times)
	return record.Change{Task: t, Expect: x.task.Version, Events: []history.Event{event}, DeadHook: x.death.Hook}
}

// limitBackOff is how long a task waits for a limit to pass whose end no one told, the n-th time in a row.
func limitBackOff(times int) time.Duration {
	waits := [...]time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}
	return waits[min(times, len(waits))-1]
}

// withoutLimits are the counters with no end at a limit counted.
func withoutLimits(c task.Counters) task.Counters {
	if c.Get(record.LimitCount) == 0 {
		return c
	}
	return c.With(record.LimitCount, 0)
}

// restartable reports whether the present status has an agent that can be started again.
func restartable(def *workflow.Definition, t task.Task) bool {
	state, _ := def.State(t.Status)
	return state.RespawnPrompt.Name != "" && t.Workspace != ""
}
