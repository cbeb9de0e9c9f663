package explore

import (
	"fmt"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// tooManyEnds is after how many ends in a row at a limit, or with the machine, there is taken to be no bound.
const tooManyEnds = 100

// judgeLimits checks what becomes of a task whose agent ends again and again at a limit of its provider and leaves
// nothing new, or with its machine: it waits where it is, with nothing changed but a count, and only so often. So these
// ends lead to no configuration that the walk does not meet, and it need not follow them. It returns how often a task
// waits at most.
func (w *walk) judgeLimits() int {
	return max(
		w.judgeLimit(history.AgentLimited, "at a limit", task.Death{Ending: task.Ending{Known: true, Status: 1},
			Limit: task.Limit{Line: "usage limit reached", Provider: "any"}}),
		w.judgeLimit(history.MachineLost, "with its machine", task.Death{LostWith: "a reboot",
			Resume: record.ResumeAlways}))
}

func (w *walk) judgeLimit(kind, how string, death task.Death) int {
	most := 0
	for i, s := range w.def.States {
		if s.Role == "" || s.Terminal {
			continue
		}
		t := w.taskOf(config{status: int16(i), previous: -1, workspace: true})
		death.Task, death.Role, death.Hook = t.ID, s.Role, 1
		n := 0
		for ; n <= tooManyEnds; n++ {
			c := decide.Exit(w.def, t, decide.Evidence{}, death, anyTime())
			if c.Events[0].Type != kind || !decide.Respawns(w.def, c.Task) { // a person has to start it
				break
			}
			if !onlyWaits(t, c) {
				w.report(Bounded, flaw{at: -1, pos: s.Pos, message: fmt.Sprintf(
					"the end of the %s of %q %s changes more than a count", s.Role, s.Name, how)})
			}
			t = c.Task
		}
		if n > tooManyEnds {
			w.report(Bounded, flaw{at: -1, pos: s.Pos, message: fmt.Sprintf(
				"the %s of %q is started again without end when it ended %s", s.Role, s.Name, how)})
		}
		most = max(most, n)
	}
	return most
}

// onlyWaits reports whether a change leaves the task where it is, with nothing owed and nothing else counted.
func onlyWaits(t task.Task, c record.Change) bool {
	same := t.Counters
	for _, name := range []string{record.LimitCount, record.LossCount} {
		same = same.With(name, c.Task.Counters.Get(name))
	}
	return c.Task.Status == t.Status && c.Task.Live && len(c.Hooks) == 0 && same.Equal(c.Task.Counters)
}
