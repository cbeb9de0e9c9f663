package explore

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// config is one configuration: everything about a task that can make a difference to what may happen next.
// Evidence is not part of it: an agent that asks can have written what the gate wants, and can write it again.
//
//	what the engine has                        what a configuration keeps of it
//	---------------------------------------    -------------------------------------------------------------
//	Status, Previous                           status, previous: the places of the states in the workflow
//	Workspace "coffee--3"                      workspace: whether there is one
//	Counters {review_round 2, crash_count 1}   counters: the number of this set among those that were met
//	seats: worker lives, reviewer has died     agents: 01 for the worker, 10 for the reviewer, two bits each
//	pending hooks [kill_session, spawn_agent]  owed: the number of this list among those that were met
//	history: it was in plan and in build       visited: a bit for each state that can begin again
//
// Two tasks with the same configuration have the same futures, so that the walk meets each configuration once.
type config struct {
	agents    uint64 // two bits for each role
	counters  int32  // which of the known counters
	visited   uint32 // the states in which it has been, a bit for each that a redo can lead to
	owed      int32  // which of the known lists of hooks; the first one has failed
	status    int16
	previous  int16 // -1 if no move out of the status asks for it
	workspace bool
	unsettled bool // the crashes are forgotten once the owed hooks of the last move are performed
}

// The state of a role's agent, as two bits of config.agents.
const (
	gone  = 0
	alive = 1
	died  = 2 // by itself: a state with respawn: auto starts it again
)

func (c config) agent(role int) uint64 { return c.agents >> (2 * role) & 3 }

// diedBits are those of every role whose agent has died.
const diedBits = 0xaaaa_aaaa_aaaa_aaaa

// livesAtMost reports whether no more than so many agents live.
func (c config) livesAtMost(n int) bool { return bits.OnesCount64(c.agents&^diedBits) <= n }

func (c *config) setAgent(role int, how uint64) {
	c.agents = c.agents&^(3<<(2*role)) | how<<(2*role)
}

// anyTime is the time in every configuration.
func anyTime() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// taskOf is a task in the configuration.
func (w *walk) taskOf(c config) task.Task {
	state := &w.def.States[c.status]
	t := task.Task{
		ID: "1", Status: state.Name, Counters: w.tallies[c.counters], Live: !state.Terminal, Version: 1,
		EnteredAt: anyTime(), CreatedAt: anyTime(), Subject: task.Subject{Commit: notedCommit},
	}
	if c.previous >= 0 {
		t.Previous = w.def.States[c.previous].Name
	}
	if c.workspace {
		t.Workspace = "workspace"
	}
	return t
}

// Configuration is a configuration as others see it: what it leaves out, and counts beyond what guards distinguish,
// make no difference to what may happen next.
type Configuration struct {
	Task        task.Task // its status, the one before it, its counters and its workspace
	Alive, Died []string  // the roles whose agent lives, and those whose agent has died by itself
	Been        []task.Status
	Owed        []task.Hook
	Unsettled   bool // its crashes are forgotten once the owed hooks are performed
}

// shownTo is a configuration for who asked for progress.
func (w *walk) shownTo(c config) Configuration {
	out := Configuration{Task: w.taskOf(c), Owed: w.lists[c.owed], Unsettled: c.unsettled}
	for r, name := range w.roles {
		switch c.agent(r) {
		case alive:
			out.Alive = append(out.Alive, name)
		case died:
			out.Died = append(out.Died, name)
		}
	}
	for i, again := range w.def.Redo {
		if c.visited&(1<<i) != 0 {
			out.Been = append(out.Been, task.Status(again.Name))
		}
	}
	return out
}

// configOf is the configuration of a task without living agents and owed hooks.
func (w *walk) configOf(t task.Task) config {
	c := config{status: w.place(t.Status), previous: -1, workspace: t.Workspace != ""}
	if slices.Contains(w.cameFrom[c.status], t.Previous) {
		c.previous = w.place(t.Previous)
	}
	c.counters = w.tally(w.count.cut(t.Counters, c.status))
	return c
}

func (w *walk) place(s task.Status) int16 { return int16(w.def.Index(s)) }

// tally numbers counts.
func (w *walk) tally(all counts) int32 {
	return w.tallyOf.of(all.key(), func() int32 {
		n := int32(len(w.tallies))
		w.tallies = append(w.tallies, w.count.taskCounters(all))
		w.counts, w.calm = append(w.counts, all), append(w.calm, n)
		if crashes := w.count.crashes; crashes >= 0 && all[crashes] != 0 {
			without := slices.Clone(all)
			without[crashes] = 0
			calm := w.tally(without)
			w.calm[n] = calm
		}
		return n
	})
}

// list numbers lists of owed hooks; the empty one is 0.
func (w *walk) list(hooks []task.Hook) int32 {
	if len(hooks) == 0 && len(w.lists) > 0 {
		return 0
	}
	return w.listOf.of(keyOf(hooks), func() int32 {
		w.lists = append(w.lists, hooks)
		return int32(len(w.lists) - 1)
	})
}

func keyOf(hooks []task.Hook) string {
	var key strings.Builder
	for _, h := range hooks {
		key.WriteString(strings.Join([]string{h.Action, h.Role, h.Prompt, h.Harness, h.Permissions, "\n"}, "\t"))
		if h.Action == action.SetField { // such a hook is never owed
			fmt.Fprintf(&key, "%s %d\n", h.Field, h.Value)
		}
	}
	return key.String()
}
