package simulate

import (
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// far is further than any state is from the end.
const far = 1 << 20

// failedCheckCost is the cost of a check that has to fail, in a state that has a move for the same check passed:
// no other path costs as much.
const failedCheckCost = 1 << 10

// Path is the straight path through a workflow: agents and people take it if nothing goes wrong.
type Path struct {
	States       []task.Status `json:"states"`     // from the initial one to a good end; none if no path leads to one
	Named        []task.Status `json:"named"`      // those of them that the caller named; the rest is the shortest path
	FailedChecks []FailedCheck `json:"red_checks"` // the checks that have to fail on it
}

// FailedCheck is a move that wants a check to have failed.
type FailedCheck struct {
	From  task.Status `json:"from"`
	To    task.Status `json:"to"`
	Check string      `json:"check"`
}

// pathMap has the distance of each state to a good end, and the straight path.
type pathMap struct {
	def  *workflow.Definition
	cost map[task.Status]int
	next map[task.Status]task.Status // on the path that the caller named
	path Path

	start    task.Status // where a person has to start the task; empty if the command that starts it does
	straight []bool      // by the index of the transition: it is on the straight path
	fails    []bool      // by the index of the transition: it is for failures
}

// newPathMap measures a workflow. The straight path goes through no detour and over no failure; it is the shortest
// one, or goes through the named states.
func newPathMap(def *workflow.Definition, named []task.Status) (*pathMap, error) {
	c := &pathMap{def: def, next: map[task.Status]task.Status{}}
	c.cost = c.measure(c.goodEnds(), nil)
	states := c.fromStart(c.cost)
	if len(named) > 0 {
		var err error
		if states, err = c.complete(named); err != nil {
			return nil, err
		}
		c.keepTo(states)
		if len(states) > 1 && states[1] != c.first() {
			c.start = states[1]
		}
	}
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		straight := c.isStraight(edge)
		c.straight = append(c.straight, straight)
		c.fails = append(c.fails, !straight && (isFailure(edge) || len(failedChecks(edge)) > 0))
	}
	c.path = Path{States: states, Named: named}
	for i := 1; i < len(states); i++ {
		if edge := c.transition(states[i-1], states[i]); edge != nil {
			for _, check := range failedChecks(edge) {
				c.path.FailedChecks = append(c.path.FailedChecks, FailedCheck{states[i-1], states[i], check})
			}
		}
	}
	return c, nil
}

// goodEnds are the states in which a task has ended well, with their distance: 0.
func (c *pathMap) goodEnds() map[task.Status]int {
	out := map[task.Status]int{}
	for _, s := range c.def.States {
		if decide.Marks(c.def, s.Name).Good {
			out[s.Name] = 0
		}
	}
	return out
}

// measure gives the distance of each state from those with a known distance. It avoids some states.
func (c *pathMap) measure(known map[task.Status]int, around []task.Status) map[task.Status]int {
	out := map[task.Status]int{}
	for _, s := range c.def.States {
		out[s.Name] = far
	}
	maps.Copy(out, known)
	for range c.def.States {
		for i := range c.def.Transitions {
			edge := &c.def.Transitions[i]
			if _, fixed := known[edge.From]; fixed || !c.leads(edge) || slices.Contains(around, edge.From) ||
				out[edge.To] >= far {
				continue
			}
			out[edge.From] = min(out[edge.From], out[edge.To]+c.costOf(edge))
		}
	}
	return out
}

// leads reports whether a transition may be on the straight path.
func (c *pathMap) leads(edge *workflow.Transition) bool {
	return edge.To != workflow.Previous && !isDetour(c.def, edge.To) && !isFailure(edge)
}

// costOf is the cost of a move. A check that has to fail is what the workflow means, as in a flow with tests first,
// unless the same state has a move for the check passed: then only a task without another path takes it.
func (c *pathMap) costOf(edge *workflow.Transition) int {
	for _, check := range failedChecks(edge) {
		for i := range c.def.Transitions {
			other := &c.def.Transitions[i]
			if other.From == edge.From && c.leads(other) &&
				slices.ContainsFunc(workflow.Leaves(other.Gate), func(p workflow.Part) bool {
					return p.Check == check && p.Result == workflow.CheckPassed
				}) {
				return failedCheckCost
			}
		}
	}
	return 1
}

// isDetour reports whether a state is for tasks that are stuck or have questions.
func isDetour(def *workflow.Definition, name task.Status) bool {
	marks := decide.Marks(def, name)
	for _, command := range []string{workflow.MoveStuck, workflow.MoveClarify} {
		if to, said := def.Move(command); said && to == name {
			return true
		}
	}
	return marks.Escalation
}

// isFailure reports whether a transition is for failures in every workflow.
func isFailure(edge *workflow.Transition) bool {
	return edge.Failure || slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool {
		return p.Verdict == "FAIL"
	})
}

// failedChecks are the checks that have to fail for a transition.
func failedChecks(edge *workflow.Transition) []string {
	var out []string
	for _, p := range workflow.Leaves(edge.Gate) {
		if p.Result == workflow.CheckFailed && !slices.Contains(out, p.Check) {
			out = append(out, p.Check)
		}
	}
	return out
}

// isStraight reports whether a transition is on the straight path.
func (c *pathMap) isStraight(edge *workflow.Transition) bool {
	if to, kept := c.next[edge.From]; kept {
		return edge.To == to && (!isFailure(edge) || isFailure(c.transition(edge.From, edge.To)))
	}
	return c.leads(edge) && c.cost[edge.To] < far && c.cost[edge.From] == c.cost[edge.To]+c.costOf(edge)
}

// offPath reports whether a state is a detour, or no path without a failure leads from it to a good end.
func (c *pathMap) offPath(name task.Status) bool {
	_, kept := c.next[name]
	return !kept && (c.cost[name] >= far || isDetour(c.def, name))
}

// transition is the one between two states for the best result; nil if there is none.
func (c *pathMap) transition(from, to task.Status) *workflow.Transition {
	var best *workflow.Transition
	rank := func(edge *workflow.Transition) int {
		if isFailure(edge) {
			return far
		}
		return c.costOf(edge)
	}
	for i := range c.def.Transitions {
		edge := &c.def.Transitions[i]
		if edge.From == from && edge.To == to && (best == nil || rank(edge) < rank(best)) {
			best = edge
		}
	}
	return best
}

// walk gives the states from one to a state with distance 0, the first path of the file if several are as short; nil
// if there is none.
func (c *pathMap) walk(from task.Status, cost map[task.Status]int) []task.Status {
	if cost[from] >= far {
		return nil
	}
	out := []task.Status{from}
	for at := from; cost[at] > 0; {
		next := slices.IndexFunc(c.def.Transitions, func(edge workflow.Transition) bool {
			return edge.From == at && c.leads(&edge) && cost[at] == cost[edge.To]+c.costOf(&edge)
		})
		if next < 0 {
			return nil // cannot happen: the distance came over a transition
		}
		at = c.def.Transitions[next].To
		out = append(out, at)
	}
	return out
}

// first is the state into which the command starts a task; empty if there is none.
func (c *pathMap) first() task.Status {
	to, err := decide.SpawnTarget(c.def, task.Task{Status: c.def.Initial})
	if err != nil {
		return ""
	}
	return to
}

// fromStart is the path of a task from its start to a state with distance 0.
func (c *pathMap) fromStart(cost map[task.Status]int) []task.Status {
	first := c.first()
	if first == "" || first == c.def.Initial {
		return c.walk(c.def.Initial, cost)
	}
	if on := c.walk(first, cost); on != nil && !slices.Contains(on, c.def.Initial) {
		return append([]task.Status{c.def.Initial}, on...)
	}
	return nil
}

// complete is the path from the initial state to a good end through the named states: what is missing before and
// after them is the shortest.
func (c *pathMap) complete(named []task.Status) ([]task.Status, error) {
	if err := c.check(named); err != nil {
		return nil, err
	}
	from, last := named[0], named[len(named)-1]
	end := c.walk(last, c.measure(c.goodEnds(), named[:len(named)-1]))
	if end == nil {
		return nil, task.Notef(task.ErrUsage,
			"found %q as --way, and no straight way leads on from %q to a good end; name more of it, up to one of: %s",
			wordsOf(named, ","), last, c.goodEndNames())
	}
	if from == c.def.Initial {
		return append(slices.Clone(named), end[1:]...), nil
	}
	to := c.measure(map[task.Status]int{from: 0}, named[1:])
	start := c.fromStart(to)
	if start == nil {
		start = c.walk(c.def.Initial, to)
	}
	if start == nil {
		return nil, task.Notef(task.ErrUsage,
			"found %q as --way, and no straight way leads from %q to %q; begin with %q, and name what is between",
			wordsOf(named, ","), c.def.Initial, from, c.def.Initial)
	}
	return slices.Concat(start[:len(start)-1], named, end[1:]), nil
}

// check checks whether the workflow has the named states and moves.
func (c *pathMap) check(named []task.Status) error {
	all := make([]string, len(c.def.States))
	for i, s := range c.def.States {
		all[i] = string(s.Name)
	}
	for i, name := range named {
		if _, there := c.def.State(name); !there {
			return task.Notef(task.ErrUsage, "found the state %q in --way, %s", name, yaml.Expected(string(name), all))
		}
		if slices.Contains(named[:i], name) {
			return task.Notef(task.ErrUsage,
				"found the state %q twice in --way, expected each state once: a straight way does not come back", name)
		}
		if i > 0 && c.transition(named[i-1], name) == nil {
			return task.Notef(task.ErrUsage,
				"found the move from %q to %q in --way, which the workflow does not have; from %q, %s",
				named[i-1], name, named[i-1], yaml.Expected(string(name), c.targets(named[i-1])))
		}
	}
	return nil
}

// targets are the states to which a transition leads from another one.
func (c *pathMap) targets(from task.Status) []string {
	var out []string
	for i := range c.def.Transitions {
		edge := &c.def.Transitions[i]
		if edge.From == from && edge.To != workflow.Previous && edge.To != from &&
			!slices.Contains(out, string(edge.To)) {
			out = append(out, string(edge.To))
		}
	}
	return out
}

func (c *pathMap) goodEndNames() string {
	var out []task.Status
	for _, s := range c.def.States {
		if decide.Marks(c.def, s.Name).Well {
			out = append(out, s.Name)
		}
	}
	return wordsOf(out, ", ")
}

// keepTo makes a path the straight one; from every other state the shortest path leads back to it.
func (c *pathMap) keepTo(states []task.Status) {
	known := map[task.Status]int{}
	for i, name := range states {
		known[name] = len(states) - 1 - i
		if i+1 < len(states) {
			c.next[name] = states[i+1]
		}
	}
	back := c.measure(known, nil)
	for name, n := range c.cost { // if no path leads back, the shortest one to a good end
		if back[name] >= far && n < far {
			back[name] = far/2 + n
		}
	}
	c.cost = back
}

func wordsOf(states []task.Status, by string) string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return strings.Join(out, by)
}
