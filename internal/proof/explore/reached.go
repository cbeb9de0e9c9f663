package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Observed is a task as an observer outside the exploration sees it.
type Observed struct {
	Task      task.Task     // its status, the one before it, its counters and its workspace
	Alive     []string      // the roles whose agent lives
	Died      []string      // those whose agent has died by itself, and has not started since
	Been      []task.Status // every status that it has had
	Owed      []task.Hook
	Unsettled bool // its crashes are forgotten once the owed hooks are performed
}

// Reach is every configuration that a workflow lets a task come to.
type Reach struct {
	walk *walk
}

// Explore follows a task everywhere, as Check does, and judges nothing. It gives up after so many configurations:
// whole is false then.
func Explore(def *workflow.Definition, most int) (r *Reach, whole bool) {
	w := newWalk(def, most)
	w.explore()
	return &Reach{walk: w}, !w.tooMany
}

// Len is the number of configurations.
func (r *Reach) Len() int { return len(r.walk.configs) }

// Find returns the number of the configuration that a task is in, and its description; negative if it was never met.
func (r *Reach) Find(o Observed) (number int, reads string) {
	w := r.walk
	c := config{status: w.place(o.Task.Status), previous: -1, workspace: o.Task.Workspace != ""}
	if c.status < 0 {
		return -1, fmt.Sprintf("a status that the workflow does not have: %q", o.Task.Status)
	}
	if slices.Contains(w.cameFrom[c.status], o.Task.Previous) {
		c.previous = w.place(o.Task.Previous)
	}
	for i, role := range w.roles {
		switch {
		case slices.Contains(o.Alive, role):
			c.setAgent(i, alive)
		case slices.Contains(o.Died, role) && r.DeathMatters(o.Task.Status, role):
			c.setAgent(i, died)
		}
	}
	for _, s := range o.Been {
		if at := w.place(s); at >= 0 {
			c.visited |= w.bitOf(at)
		}
	}
	cut := w.count.cut(o.Task.Counters, c.status)
	counters := w.count.named(cut)
	owed := owedAs(o.Owed, len(o.Alive) == 0)
	c.unsettled = o.Unsettled && len(owed) > 0 && counters.Get(task.CrashCount) != 0
	reads = fmt.Sprintf("%s, from %d, workspace %v, agents %b, counters %v, owes %s, unsettled %v",
		o.Task.Status, c.previous, c.workspace, c.agents, counters, strings.ReplaceAll(keyOf(owed), "\n", "; "),
		c.unsettled)
	var counted, listed bool
	c.counters, counted = w.tallyOf[string(cut.key(nil))]
	c.owed, listed = w.listOf[keyOf(owed)]
	if !counted || !listed {
		return -1, reads
	}
	return int(w.known.find(w.configs, c)), reads
}

// DeathMatters reports whether it can make a difference in a status, or later, that the agent of a role has died by
// itself before. If it cannot, the exploration forgets the death.
func (r *Reach) DeathMatters(status task.Status, role string) bool {
	at, i := r.walk.place(status), slices.Index(r.walk.roles, role)
	return at >= 0 && i >= 0 && r.walk.deathMatters[at][i]
}

// owedAs are owed hooks as a configuration has them. A hook for which nothing waits is not part of it. Nor is, where no
// agent lives, the preparation of a workspace: its failure holds up only the start of an agent, which fails then, and
// there is none to end before that.
func owedAs(hooks []task.Hook, nobody bool) []task.Hook {
	var out []task.Hook
	for _, h := range hooks {
		if decide.HoldsUp(h) {
			out = append(out, h)
		}
	}
	for nobody && len(out) > 0 && meaningOf(out[0]) == action.MakesWorkspace {
		out = out[1:]
		for len(out) > 0 && (meaningOf(out[0]) == action.EndsAgent || meaningOf(out[0]) == action.EndsAll) {
			out = out[1:]
		}
	}
	return out
}
