package workflow

import (
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// RefusedAfter is how many requests of a task's agents may be refused in one stay in a state before a person is asked
// to look.
type RefusedAfter struct {
	Most int         // 0 means that the file says none: Orange asks a person where it thinks best
	Then task.Status // where that leads; empty means nowhere
	Pos  yaml.Pos
	then yaml.Pos
}

// mostRefusals is the greatest number of refusals that a workflow may speak of.
const mostRefusals = 1000

// refusals reads a number of refusals, or one with where it leads.
func (r reader) refusals(n *yaml.Node) RefusedAfter {
	out := RefusedAfter{Pos: yaml.PosOf(n)}
	times := func(n *yaml.Node) { out.Most = r.Integer(n, "refused_after", 1, mostRefusals) }
	r.withThen(n, "refused_after", "times", times, &out.Then, &out.then)
	return out
}
