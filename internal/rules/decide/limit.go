package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Keys in the data of an end at a limit: the line of the agent's last words that tells of it, the digest of the work
// that the agent left, and whose limit it is.
const (
	dataLimit    = "limit"
	dataWork     = "work"
	dataProvider = "provider"
)

// AtLimit completes what was seen of the limit of an agent's provider: which work the agent left, and whether any of
// that is new since the last limit in the same status that was waited for. Events are the task's whole history.
func (ev Evidence) AtLimit(seen task.Limit, events []history.Event) task.Limit {
	text := "commit " + ev.Subject.Commit + "\n"
	if ev.Document != nil {
		text += ev.Document.Body
	}
	seen.Work, seen.New = document.Digest(text), true
	for i := len(events) - 1; i >= 0 && !events[i].IsMove(); i-- {
		if before, noted := events[i].Data[dataWork]; noted {
			seen.New = before != seen.Work
			break
		}
	}
	return seen
}

// limits is how often in a row the agent has now been at a limit and left nothing new, with this time.
func limits(t task.Task, limit task.Limit) int {
	if limit.New {
		return 1
	}
	return t.Counters.Get(record.LimitCount) + 1
}

// atLimit reports whether the agent ended at its provider's limit, and is to be started again when that is over.
func (x *exit) atLimit() bool {
	limit := x.death.Limit
	return limit.Line != "" && limits(x.task, limit) <= record.MostLimits && restartable(x.def, x.task)
}

// park is the change of a task whose agent ended at its provider's limit: that is no crash.
func (x *exit) park() record.Change {
	t, limit := x.task, x.death.Limit
	times := limits(t, limit)
	until := limitEnd(limit, times, x.now)
	t.Counters = t.Counters.With(record.LimitCount, times)
	t.UpdatedAt, t.StalledAt = x.now, time.Time{}
	reason := fmt.Sprintf("%s ended at a limit of %s: %s", x.death.Name(), limit.Provider, limit.Line)
	t.MarkLimit(x.death.Role, task.Limit{Provider: limit.Provider, Until: until})
	event := x.event(history.AgentLimited, reason)
	event.Counters = t.Counters
	maps.Copy(event.Data, limitData(limit, until))
	return record.Change{Task: t, Expect: x.task.Version, Events: []history.Event{event}, DeadHook: x.death.Hook}
}

func limitData(limit task.Limit, until time.Time) map[string]string {
	return map[string]string{
		dataLimit: limit.Line, history.DataUntil: task.FormatTime(until), dataProvider: limit.Provider,
		dataWork: limit.Work,
	}
}

// GoOn is the change of a task whose agent lives, has rested at its provider's limit since a time, and is to go on now.
// Due is false if it is not: then again is when it will be, and zero if Orange leaves it to people. It is to go on
// as often in a row as an agent that ended at its limit starts again. The change moves nothing.
func GoOn(def *workflow.Definition, t task.Task, role string, limit task.Limit, since, now time.Time) (
	c record.Change, due bool, again time.Time) {
	state, _ := def.State(t.Status)
	times := limits(t, limit)
	persons := t.Attention != "" || def.WaitsForPerson(t.Status) // who may be about to answer the agent
	if !t.Live || persons || role == "" || state.Role != role || limit.Line == "" || times > record.MostLimits {
		return c, false, time.Time{}
	}
	until := limitEnd(limit, times, since)
	if until.After(now) {
		return c, false, until
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.Counters, c.Task.UpdatedAt = t.Counters.With(record.LimitCount, times), now
	data := limitData(limit, until)
	data["role"], data[history.DataHow] = role, history.HowTyped
	c.Events = []history.Event{{
		Time: now, Type: history.AgentNotified, Actor: task.ActorEngine, Workflow: def.Digest,
		Counters: c.Task.Counters, Data: data,
		Reason: fmt.Sprintf("the limit of %s is over: %s", limit.Provider, limit.Line),
	}}
	return c, true, time.Time{}
}

// limitEnd is until when a task waits for a limit that was hit at a time: as long as the provider says, and where that
// was too short before, no shorter than the last wait for one whose end no one told.
func limitEnd(limit task.Limit, times int, hit time.Time) time.Time {
	least := hit
	if times > 1 {
		least = hit.Add(limitBackOff(times - 1))
	}
	switch {
	case !limit.Until.After(hit):
		return hit.Add(limitBackOff(times))
	case limit.Until.Before(least):
		return least
	}
	return limit.Until
}

// limitBackOff is how long a task waits for a limit to pass whose end no one told, the n-th time in a row.
func limitBackOff(times int) time.Duration {
	waits := [...]time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}
	return waits[min(times, len(waits))-1]
}

// withoutEnds are the counters with no end at a limit and none with the machine counted.
func withoutEnds(c task.Counters) task.Counters {
	for _, name := range []string{record.LimitCount, record.LossCount} {
		if c.Get(name) != 0 {
			c = c.With(name, 0)
		}
	}
	return c
}

// longestHold is how long the agents of a provider are held up by one limit: then one of them tries, because a limit
// may be of a model that it does not use, and the time that was read may be wrong.
const longestHold = time.Hour

// Held judges whether the start of an agent has to wait for a limit of its provider, at which an agent of another task
// has ended, and returns until when that limit is. Limited is the whole history of the other task. Own is that of the
// agent's task from the event on that queued the start: a person who asks for this very start again is not held up.
func Held(provider string, limited, own []history.Event, now time.Time) (until time.Time, held bool) {
	end, until := history.LimitEnd(limited)
	if end == nil || end.Data[dataProvider] != provider || now.Before(end.Time) || !until.After(now) ||
		!end.Time.Add(longestHold).After(now) {
		return until, false
	}
	insists := slices.ContainsFunc(own, func(e history.Event) bool {
		return e.Actor == task.RoleHuman && (e.Type == history.AgentRespawned || e.Type == history.HooksRetried)
	})
	return until, !insists
}

// restartable reports whether the present status has an agent that can be started again.
func restartable(def *workflow.Definition, t task.Task) bool {
	state, _ := def.State(t.Status)
	return state.RespawnPrompt.Name != "" && t.Workspace != ""
}
