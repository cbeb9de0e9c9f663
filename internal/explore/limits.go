package explore

import (
	"fmt"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// tooManyLimits is after how many ends at a limit in a row there is taken to be no bound.
const tooManyLimits = 100

// judgeLimits checks what becomes of a task whose agent ends again and again at a limit of its provider and leaves
// nothing new: it waits where it is, with nothing changed but the count, and only so often. So these ends lead to no
// configuration that the walk does not meet, and it need not follow them. It returns how often a task waits at most.
func (w *walk) judgeLimits() int {
	most := 0
	for i, s := range w.def.States {
		if s.Role == "" || s.Terminal {
			continue
		}
		t := w.taskOf(config{status: int16(i), previous: -1, workspace: true})
		death := task.Death{Task: t.ID, Role: s.Role, Hook: 1, Ending: task.Ending{Known: true, Status: 1},
			Limit: task.Limit{Line: "usage limit reached", Provider: "any"}}
		n := 0
		for ; n <= tooManyLimits; n++ {
			c := decide.Exit(w.def, t, decide.Evidence{}, death, born())
			if c.Events[0].Type != history.AgentLimited {
				break
			}
			if !onlyWaits(t, c) {
				w.report(Bounded, flaw{at: -1, pos: s.Pos, message: fmt.Sprintf(
					"the end of the %s of %q at a limit changes more than a count", s.Role, s.Name)})
			}
			t = c.Task
		}
		if n > tooManyLimits {
			w.report(Bounded, flaw{at: -1, pos: s.Pos, message: fmt.Sprintf(
				"the %s of %q is started again after its provider's limit without end", s.Role, s.Name)})
		}
		most = max(most, n)
	}
	return most
}

// onlyWaits reports whether a change leaves the task where it is, with nothing owed and nothing else counted.
func onlyWaits(t task.Task, c record.Change) bool {
	same := t.Counters.With(record.LimitCount, c.Task.Counters.Get(record.LimitCount))
	return c.Task.Status == t.Status && c.Task.Live && len(c.Hooks) == 0 && same.Equal(c.Task.Counters)
}
