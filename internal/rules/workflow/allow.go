package workflow

import (
	"slices"

	"orange/internal/rules/yaml"
)

// Allowance says that a property of workflows need not hold in this one, and why.
type Allowance struct {
	Property string
	Reason   string
	Pos      yaml.Pos
}

// Properties are the names of what is proved of a workflow, in the order in which it is reported.
func Properties() []string {
	return []string{
		"no-dead-end", "reachable", "terminating", "bounded", "disjoint", "rules-legal",
		"one-agent", "nobody-left", "workspace", "prompts-legal", "roles-act", "own-work", "merges",
	}
}

// retired is a property that there was once: to allow it means nothing now.
const retired = "crash-forward"

func (r reader) allow(n *yaml.Node) []Allowance {
	var out []Allowance
	r.Pairs(n, "allow", func(name, value *yaml.Node) {
		a := Allowance{Property: name.Value, Reason: r.Name(value, "the reason for "+name.Value), Pos: yaml.PosOf(name)}
		if a.Property == retired {
			return // a task may have been created under such a text
		}
		if !slices.Contains(Properties(), a.Property) {
			r.Problem(a.Pos, "allow", "found the unknown property %q, %s", a.Property,
				yaml.Expected(a.Property, Properties()))
		}
		out = append(out, a)
	})
	return out
}
