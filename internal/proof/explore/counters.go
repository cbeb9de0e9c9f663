package explore

import (
	"encoding/binary"
	"maps"
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// counting is how far the exploration follows each counter, and in which states the counter still matters.
// A counter only ever grows by one or is set, so all values above the largest number that a guard compares it with
// are alike.
type counting struct {
	// the value above which no guard distinguishes values; no guard asks for a counter that is missing here
	most  map[string]int
	live  map[string]map[int]bool // the states in which a guard may still ask for the counter before it is set
	names []string                // of the counters that are followed, sorted: the others have no number
	keeps [][]bool                // by state and counter: whether it may matter there
	// by state, the one before it, and counter: whether it makes a difference to what follows from an event there; all
	// others are carried along as they are, or set
	asked   [][][]bool
	crashes int // the number of the counter of crashes; negative where it is not followed
}

func newCounting(def *workflow.Definition) *counting {
	c := &counting{most: map[string]int{}, live: map[string]map[int]bool{}}
	read := func(at task.Status, g workflow.Guard) {
		name := counterOf(g.Field, at)
		most := g.Value + 1
		if g.Op == "<" || g.Op == ">=" {
			most = g.Value
		}
		c.follow(def, name, at, most)
	}
	for i := range def.Transitions {
		for _, g := range def.Transitions[i].When {
			read(def.Transitions[i].From, g)
		}
	}
	for _, s := range def.States {
		for _, rule := range s.SendBack {
			for _, g := range rule.When {
				read(s.Name, g)
			}
		}
	}
	for _, rule := range def.Exit.Rules {
		for _, arm := range rule.ThenWhen {
			for _, g := range arm.When {
				read(rule.Status, g)
			}
		}
		if rule.StuckAfter > 0 {
			c.follow(def, task.CrashCount, rule.Status, rule.StuckAfter)
		}
	}
	for changed := true; changed; {
		changed = false
		for name := range c.most { // all of them, in any order
			changed = c.carry(def, name) || changed
		}
	}
	c.number(def)
	return c
}

// number gives each counter that is followed a number, and says for each state what matters there.
func (c *counting) number(def *workflow.Definition) {
	c.names = slices.Sorted(maps.Keys(c.most))
	c.crashes = slices.Index(c.names, task.CrashCount)
	for i, s := range def.States {
		keeps := make([]bool, len(c.names))
		for n, name := range c.names {
			keeps[n] = c.live[name][i]
		}
		asked := slices.Repeat([][]bool{c.askedFrom(def, s, "")}, 1+len(def.States))
		for n := range def.Transitions {
			if edge := &def.Transitions[n]; edge.From == s.Name {
				for _, before := range edge.CameFrom {
					asked[1+def.Index(before)] = c.askedFrom(def, s, before)
				}
			}
		}
		c.keeps, c.asked = append(c.keeps, keeps), append(c.asked, asked)
	}
}

// counts are the values of the counters that are followed, by their numbers.
type counts []int

// key is a text that other counts do not have.
func (v counts) key() string {
	var key []byte
	for _, one := range v {
		key = binary.AppendVarint(key, int64(one))
	}
	return string(key)
}

// counterOf is the counter that a field of a guard or hook means.
func counterOf(field string, at task.Status) string {
	if field == workflow.CountFailures {
		return task.Failures(at)
	}
	return field
}

func (c *counting) follow(def *workflow.Definition, name string, at task.Status, most int) {
	if before, known := c.most[name]; !known || most > before {
		c.most[name] = most
	}
	if c.live[name] == nil {
		c.live[name] = map[int]bool{}
	}
	c.live[name][def.Index(at)] = true
}

// eachWay visits every way between two states, by their places: each transition, and without one each crash and redo.
func eachWay(def *workflow.Definition, visit func(from, to int, edge *workflow.Transition)) {
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		visit(def.Index(edge.From), def.Index(edge.To), edge)
	}
	for _, rule := range def.Exit.Rules {
		if rule.Action != workflow.ActionCrash {
			continue // its move is one of those above
		}
		for _, to := range rule.LeadsTo() {
			visit(def.Index(rule.Status), def.Index(to), nil)
		}
	}
	for _, again := range def.Redo {
		for from := range def.States {
			visit(from, def.Index(task.Status(again.Name)), nil)
		}
	}
}

// carry makes a counter matter in every state from which a task can come, with the counter's value unchanged, to a
// state where it matters.
func (c *counting) carry(def *workflow.Definition, name string) bool {
	live, changed := c.live[name], false
	eachWay(def, func(from, to int, edge *workflow.Transition) {
		if (edge == nil || !sets(edge, name)) && !live[from] && live[to] {
			live[from], changed = true, true
		}
	})
	return changed
}

// sets reports whether a move gives the counter a value that does not depend on the one before.
func sets(edge *workflow.Transition, name string) bool {
	if !edge.Failure && edge.From != edge.To && name == task.Failures(edge.From) {
		return true
	}
	return slices.ContainsFunc(edge.Hooks, func(h workflow.Hook) bool { return setsField(h.Hook, name, edge.To) })
}

// setsField reports whether a hook on the way to a state sets a counter.
func setsField(h task.Hook, name string, to task.Status) bool {
	return h.Action == action.SetField && counterOf(h.Field, to) == name
}

// cut keeps the counters that can make a difference in a state.
func (c *counting) cut(all task.Counters, state int16) counts {
	out := make(counts, len(c.names))
	for _, one := range all {
		if n, followed := slices.BinarySearch(c.names, one.Name); followed && c.keeps[state][n] {
			out[n] = min(one.Value, c.most[one.Name])
		}
	}
	return out
}

// taskCounters are counts as a task has them.
func (c *counting) taskCounters(all counts) task.Counters {
	var out task.Counters
	for n, value := range all {
		if value != 0 {
			out = append(out, task.Counter{Name: c.names[n], Value: value})
		}
	}
	return out
}

// forgottenIn returns for each state the bits of those roles of whose agent it cannot matter that it has died.
func forgottenIn(deathMatters [][]bool) []uint64 {
	out := make([]uint64, len(deathMatters))
	for state, roles := range deathMatters {
		for r, matters := range roles {
			if !matters {
				out[state] |= 3 << (2 * r)
			}
		}
	}
	return out
}

// deathMattersIn reports in which states it can make a difference that the agent of a role has died by itself: where
// the workflow starts it again, and where a task can come there from without the start of another one.
func deathMattersIn(def *workflow.Definition, roles []string) [][]bool {
	out := make([][]bool, len(def.States))
	for i, s := range def.States {
		out[i] = make([]bool, len(roles))
		for r, name := range roles {
			out[i][r] = s.Role == name && s.Respawn == workflow.RespawnAuto
		}
	}
	for changed := true; changed; {
		changed = false
		eachWay(def, func(a, b int, edge *workflow.Transition) {
			for r, name := range roles {
				if a < 0 || b < 0 || out[a][r] || !out[b][r] {
					continue
				}
				starts := func(h workflow.Hook) bool {
					return workflow.SpawnRole(h.Hook) != "" && workflow.RoleIn(def.States[b], h.Hook) == name
				}
				if edge == nil || !slices.ContainsFunc(edge.Hooks, starts) {
					out[a][r], changed = true, true
				}
			}
		})
	}
	return out
}
