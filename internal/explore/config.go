package explore

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"orange/internal/action"
	"orange/internal/task"
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
//
// The fields are in the order in which none leaves room for another: so a map hashes them all at once.
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

// born is the time in every configuration.
func born() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// taskOf is a task in the configuration.
func (w *walk) taskOf(c config) task.Task {
	state := &w.def.States[c.status]
	t := task.Task{
		ID: "1", Status: state.Name, Counters: w.tallies[c.counters], Live: !state.Terminal, Version: 1,
		EnteredAt: born(), CreatedAt: born(), Subject: task.Subject{Commit: notedCommit},
	}
	if c.previous >= 0 {
		t.Previous = w.def.States[c.previous].Name
	}
	if c.workspace {
		t.Workspace = "workspace"
	}
	return t
}

// configOf is the configuration of a task without living agents and owed hooks.
func (w *walk) configOf(t task.Task) config {
	c := config{status: w.place(t.Status), previous: -1, workspace: t.Workspace != ""}
	if slices.Contains(w.cameFrom[c.status], t.Previous) {
		c.previous = w.place(t.Previous)
	}
	c.counters = w.tally(w.count.cut(t.Counters, int(c.status)))
	return c
}

func (w *walk) place(s task.Status) int16 { return int16(w.def.Index(s)) }

// tally numbers lists of counters.
func (w *walk) tally(c task.Counters) int32 {
	w.key = w.key[:0]
	for _, one := range c {
		w.key = append(w.key, one.Name...)
		for v := uint64(one.Value) + 1<<40; v > 0; v >>= 8 {
			w.key = append(w.key, byte(v))
		}
		w.key = append(w.key, 0)
	}
	if n, known := w.tallyOf[string(w.key)]; known {
		return n
	}
	n := int32(len(w.tallies))
	w.tallyOf[string(w.key)], w.tallies = n, append(w.tallies, c)
	return n
}

// list numbers lists of owed hooks; the empty one is 0.
func (w *walk) list(hooks []task.Hook) int32 {
	if len(hooks) == 0 && len(w.lists) > 0 {
		return 0
	}
	key := keyOf(hooks)
	if n, known := w.listOf[key]; known {
		return n
	}
	n := int32(len(w.lists))
	w.listOf[key], w.lists = n, append(w.lists, hooks)
	return n
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
