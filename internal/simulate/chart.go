package simulate

import (
	"slices"
	"strings"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/internal/yaml"
)

// far is further than any state is from the end.
const far = 1 << 20

// redCost is what a red check counts on the straight way where its state has a move for the green one too:
// as many moves that no other way is longer.
const redCost = 1 << 10

// Way is the straight way of a workflow: the one that agents and people take where nothing goes wrong.
type Way struct {
	States []task.Status // from the initial one to a good end; none where no way leads to one
	Named  []task.Status // those of them that somebody named; the rest of it is the shortest
	Red    []RedCheck    // the checks that have to fail on it
}

// RedCheck is a move that wants a check to have failed.
type RedCheck struct {
	From, To task.Status
	Check    string
}

// chart tells for each state how far it is to a good end, and where the straight way leads on.
type chart struct {
	def  *workflow.Definition
	cost map[task.Status]int
	next map[task.Status]task.Status // of a way that somebody named
	way  Way

	start    task.Status // where a person has the task begin, where that is not where the command leads that starts it
	straight []bool      // by the number of the transition: it is on the straight way
	fails    []bool      // it is for what did not go well
}

// chartOf measures a workflow. The straight way goes through no state that is for tasks which got nowhere, and
// over no failure; it is the shortest, or goes through the states that are named.
func chartOf(def *workflow.Definition, named []task.Status) (*chart, error) {
	c := &chart{def: def, next: map[task.Status]task.Status{}}
	c.cost = c.measure(c.ends(), nil)
	states := c.shortest()
	if len(named) > 0 {
		var err error
		if states, err = c.completed(named); err != nil {
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
		c.fails = append(c.fails, !straight && (bad(edge) || len(red(edge)) > 0))
	}
	c.way = Way{States: states, Named: named}
	for i := 1; i < len(states); i++ {
		if edge := c.leg(states[i-1], states[i]); edge != nil {
			for _, check := range red(edge) {
				c.way.Red = append(c.way.Red, RedCheck{states[i-1], states[i], check})
			}
		}
	}
	return c, nil
}

// ends are the states in which a task has ended well: no move is left to them.
func (c *chart) ends() map[task.Status]int {
	out := map[task.Status]int{}
	for _, s := range c.def.States {
		if decide.Marks(c.def, s.Name).Well {
			out[s.Name] = 0
		}
	}
	return out
}

// measure tells how far each state is from where a count is known already. It goes around some states.
func (c *chart) measure(known map[task.Status]int, around []task.Status) map[task.Status]int {
	out := map[task.Status]int{}
	for _, s := range c.def.States {
		out[s.Name] = far
	}
	for name, n := range known {
		out[name] = n
	}
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

// leads says whether a transition may be on the straight way at all.
func (c *chart) leads(edge *workflow.Transition) bool {
	return edge.To != workflow.Previous && !aside(c.def, edge.To) && !bad(edge)
}

// costOf is what a move counts. A red check is what the workflow means, as in a flow that has tests first, unless
// the same state has a move for the green one: then it is gone over only where no other way leads to a good end.
func (c *chart) costOf(edge *workflow.Transition) int {
	for _, check := range red(edge) {
		for i := range c.def.Transitions {
			other := &c.def.Transitions[i]
			if other.From == edge.From && c.leads(other) &&
				slices.ContainsFunc(workflow.Leaves(other.Gate), func(p workflow.Part) bool {
					return p.Check == check && p.Result == workflow.CheckPassed
				}) {
				return redCost
			}
		}
	}
	return 1
}

// aside says whether a state is beside the straight way: it stands for a task that got nowhere, or that has questions.
func aside(def *workflow.Definition, name task.Status) bool {
	marks := decide.Marks(def, name)
	for _, command := range []string{workflow.MoveStuck, workflow.MoveClarify} {
		if to, said := def.Move(command); said && to == name {
			return true
		}
	}
	return marks.Escalation
}

// bad says whether a transition says that something did not go well, whatever the workflow is like.
func bad(edge *workflow.Transition) bool {
	return edge.Failure || slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool {
		return p.Verdict == "FAIL"
	})
}

// red are the checks that a transition wants to have failed.
func red(edge *workflow.Transition) []string {
	var out []string
	for _, p := range workflow.Leaves(edge.Gate) {
		if p.Result == workflow.CheckFailed && !slices.Contains(out, p.Check) {
			out = append(out, p.Check)
		}
	}
	return out
}

// isStraight says whether a transition is on the straight way.
func (c *chart) isStraight(edge *workflow.Transition) bool {
	if to, kept := c.next[edge.From]; kept {
		return edge.To == to && (!bad(edge) || bad(c.leg(edge.From, edge.To)))
	}
	return c.leads(edge) && c.cost[edge.To] < far && c.cost[edge.From] == c.cost[edge.To]+c.costOf(edge)
}

// astray says whether a task in a state is off every way that leads to a good end without a failure, or beside it.
func (c *chart) astray(name task.Status) bool {
	_, kept := c.next[name]
	return !kept && (c.cost[name] >= far || aside(c.def, name))
}

// leg is the transition between two states that says best that all went well; nil where there is none.
func (c *chart) leg(from, to task.Status) *workflow.Transition {
	var best *workflow.Transition
	rank := func(edge *workflow.Transition) int {
		if bad(edge) {
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

// walk goes from a state to where a count says 0, the first way of the file where several are equal; nil where no
// way leads there.
func (c *chart) walk(from task.Status, cost map[task.Status]int) []task.Status {
	if cost[from] >= far {
		return nil
	}
	out := []task.Status{from}
	for at := from; cost[at] > 0; {
		next := slices.IndexFunc(c.def.Transitions, func(edge workflow.Transition) bool {
			return edge.From == at && c.leads(&edge) && cost[at] == cost[edge.To]+c.costOf(&edge)
		})
		if next < 0 {
			return nil // never: the count came over a transition
		}
		at = c.def.Transitions[next].To
		out = append(out, at)
	}
	return out
}

// first is where a task is started into; empty where it is not started by a command.
func (c *chart) first() task.Status {
	to, err := decide.SpawnTarget(c.def, task.Task{Status: c.def.Initial})
	if err != nil {
		return ""
	}
	return to
}

// shortest is the way that nobody named: the start of a task, and from there as few moves as can be.
func (c *chart) shortest() []task.Status { return c.started(c.cost) }

// started is the way of a task from its start to where a count says 0.
func (c *chart) started(cost map[task.Status]int) []task.Status {
	first := c.first()
	if first == "" || first == c.def.Initial {
		return c.walk(c.def.Initial, cost)
	}
	if on := c.walk(first, cost); on != nil && !slices.Contains(on, c.def.Initial) {
		return append([]task.Status{c.def.Initial}, on...)
	}
	return nil
}

// completed is a way that somebody named, from the initial state to a good end: what is missing before and behind
// it is the shortest.
func (c *chart) completed(named []task.Status) ([]task.Status, error) {
	if err := c.possible(named); err != nil {
		return nil, err
	}
	from, last := named[0], named[len(named)-1]
	end := c.walk(last, c.measure(c.ends(), named[:len(named)-1]))
	if end == nil {
		return nil, task.Notef(task.ErrUsage,
			"found %q as --way, and no straight way leads on from %q to a good end; name more of it, up to one of: %s",
			joined(named, ","), last, c.goodEnds())
	}
	if from == c.def.Initial {
		return append(slices.Clone(named), end[1:]...), nil
	}
	to := c.measure(map[task.Status]int{from: 0}, named[1:])
	start := c.started(to)
	if start == nil {
		start = c.walk(c.def.Initial, to)
	}
	if start == nil {
		return nil, task.Notef(task.ErrUsage,
			"found %q as --way, and no straight way leads from %q to %q; begin with %q, and name what is between",
			joined(named, ","), c.def.Initial, from, c.def.Initial)
	}
	return slices.Concat(start[:len(start)-1], named, end[1:]), nil
}

// possible looks whether the workflow has what is named.
func (c *chart) possible(named []task.Status) error {
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
		if i > 0 && c.leg(named[i-1], name) == nil {
			return task.Notef(task.ErrUsage,
				"found the move from %q to %q in --way, which the workflow does not have; from %q, %s",
				named[i-1], name, named[i-1], yaml.Expected(string(name), c.targets(named[i-1])))
		}
	}
	return nil
}

// targets are the states to which a transition leads from another one.
func (c *chart) targets(from task.Status) []string {
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

func (c *chart) goodEnds() string {
	var out []task.Status
	for _, s := range c.def.States {
		if decide.Marks(c.def, s.Name).Well {
			out = append(out, s.Name)
		}
	}
	return joined(out, ", ")
}

// keepTo makes a way the straight one, and that of every state beside it the shortest one back to it.
func (c *chart) keepTo(states []task.Status) {
	known := map[task.Status]int{}
	for i, name := range states {
		known[name] = len(states) - 1 - i
		if i+1 < len(states) {
			c.next[name] = states[i+1]
		}
	}
	back := c.measure(known, nil)
	for name, n := range c.cost { // from where none leads back, on to any good end
		if back[name] >= far && n < far {
			back[name] = far/2 + n
		}
	}
	c.cost = back
}

func joined(states []task.Status, by string) string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return strings.Join(out, by)
}
