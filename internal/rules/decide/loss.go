package decide

import (
	"fmt"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
)

// dataResume is the key in the data of an end with the machine that has what the person wants with such agents.
const dataResume = "resume"

// mostLosses is how many ends with the machine in one status are no crash.
const mostLosses = 5

// isLost reports whether the agent ended with its terminal server or with the machine, which is no crash of its own. An
// agent that ends so again and again in one status may be the one that ends the terminal server.
func (x *exit) isLost() bool {
	return x.death.LostWith != "" && x.task.Counters.Get(record.LossCount) < mostLosses
}

// lose is the change of a task whose agent ended with its machine. The agent is started again, where the person wants
// that and there is a prompt for it; else the task needs a person.
func (x *exit) lose() record.Change {
	t := x.task
	t.UpdatedAt, t.StalledAt = x.now, time.Time{}
	reason := fmt.Sprintf("the %s ended with %s", x.death.Role, x.death.LostWith)
	switch {
	case x.death.Resume == record.ResumeAlways && restartable(x.def, t):
		t.Counters = t.Counters.With(record.LossCount, t.Counters.Get(record.LossCount)+1)
	case x.death.Resume != record.ResumeNever:
		t.Attention = fmt.Sprintf("%s; start it again with %q", reason, "orange task respawn "+t.ID)
	}
	event := x.event(history.MachineLost, reason)
	event.Counters, event.Data[dataResume] = t.Counters, x.death.Resume
	return record.Change{Task: t, Expect: x.task.Version, Events: []history.Event{event}, DeadHook: x.death.Hook}
}
