package workflow

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"orange/internal/task"
	"orange/internal/yaml"
)

// roles reads a list of names, or what there is to say of each.
func (r reader) roles(n *yaml.Node) []Role {
	var out []Role
	if n.Kind != yaml.MappingNode {
		r.List(n, "roles", func(n *yaml.Node) { out = append(out, Role{Named: r.named(n, "a role")}) })
		return out
	}
	r.Pairs(n, "roles", func(name, value *yaml.Node) {
		role := Role{Named: Named{Name: name.Value, Pos: yaml.PosOf(name)}}
		r.Mapping(value, "role "+name.Value, []yaml.Key{
			yaml.May("about", func(n *yaml.Node) { role.About = r.Text(n, "about") }),
			yaml.May("harness", func(n *yaml.Node) { role.Harness = r.Name(n, "a harness") }),
			yaml.May("permissions", func(n *yaml.Node) {
				role.Permissions = r.OneOf(n, "permissions", task.PermissionsFull, task.PermissionsReduced)
			}),
		})
		out = append(out, role)
	})
	return out
}

// fields reads the counters that the workflow has beside those of every task, each with the number that it starts from.
func (r reader) fields(n *yaml.Node) []Field {
	var out []Field
	r.Pairs(n, "fields", func(name, value *yaml.Node) {
		f := Field{Named: Named{Name: name.Value, Pos: yaml.PosOf(name)}, Start: r.Integer(value, "the start of a field", -maxGuard, maxGuard)}
		if !isFieldName(f.Name) {
			r.Problem(f.Pos, "field", "found %q as a field, expected letters, digits and underscores", f.Name)
		}
		out = append(out, f)
	})
	return out
}

func (r reader) planFile(n *yaml.Node) *Birth {
	b := Birth{Pos: yaml.PosOf(n)}
	r.Mapping(n, "plan_file", []yaml.Key{
		yaml.Must("state", func(n *yaml.Node) { b.To, b.Pos = task.Status(r.Name(n, "state")), yaml.PosOf(n) }),
		yaml.Must("hooks", func(n *yaml.Node) {
			r.List(n, "the hooks of plan_file", func(n *yaml.Node) { b.Hooks = append(b.Hooks, r.hook(n)) })
		}),
	})
	return &b
}

// usualCheckTime is how long a check may take where the file does not say, in seconds.
const usualCheckTime = 600

func (r reader) checks(n *yaml.Node) []Check {
	var out []Check
	r.Pairs(n, "checks", func(name, value *yaml.Node) {
		c := Check{Named: Named{Name: name.Value, Pos: yaml.PosOf(name)}, Timeout: usualCheckTime}
		r.Mapping(value, "check "+name.Value, []yaml.Key{
			yaml.Must("run", func(n *yaml.Node) { c.Run = r.words(n) }),
			yaml.May("timeout", func(n *yaml.Node) { c.Timeout = int(r.Duration(n, "a timeout", 24*time.Hour) / time.Second) }),
		})
		if !isFieldName(strings.ReplaceAll(c.Name, "-", "_")) {
			r.Problem(c.Pos, "value", "found %q as the name of a check, expected letters, digits, dashes and underscores", c.Name)
		}
		out = append(out, c)
	})
	return out
}

// slash is what a command of the shell looks like.
var slash = regexp.MustCompile(`^/[a-z][a-z0-9_-]*( [a-z0-9_-]+)?$`)

func (r reader) commands(n *yaml.Node) []Command {
	var out []Command
	r.Pairs(n, "commands", func(name, value *yaml.Node) {
		c := Command{Text: name.Value, To: task.Status(r.Name(value, "the state of a command")), Pos: yaml.PosOf(value)}
		if !slash.MatchString(c.Text) {
			r.Problem(yaml.PosOf(name), "value", "found %q as a command, expected one or two words such as %q or %q", c.Text, "/plan", "/review plan")
		}
		out = append(out, c)
	})
	return out
}

func (r reader) projections(n *yaml.Node) []Projection {
	var out []Projection
	r.Pairs(n, "projections", func(name, value *yaml.Node) {
		out = append(out, Projection{File: r.inside(name, "a projection"), Value: r.value(value), Pos: yaml.PosOf(name)})
	})
	return out
}

func (r reader) value(n *yaml.Node) Value {
	if n.Kind != yaml.MappingNode {
		return Value{Text: r.Text(n, "a value of a projection")}
	}
	v := Value{Pairs: []Pair{}}
	r.Pairs(n, "a projection", func(name, value *yaml.Node) {
		v.Pairs = append(v.Pairs, Pair{Key: name.Value, Value: r.value(value)})
	})
	return v
}

// spread makes the edges that "*" and previous stand for.
func (r reader) spread(d *Definition) {
	var all, back []Transition
	sort := func(t Transition) {
		if t.To == Previous {
			back = append(back, t)
			return
		}
		all = append(all, t)
	}
	for _, t := range d.Transitions {
		if t.From != everywhere {
			sort(t)
			continue
		}
		t.everywhere = true
		for _, s := range d.States {
			if !s.Terminal && s.Name != t.To {
				t.From = s.Name
				sort(t)
			}
		}
	}
	d.Transitions = d.leadBack(all, back)
	slices.SortStableFunc(d.Transitions, func(a, b Transition) int { // as the file has them
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	for _, t := range back {
		for i, s := range t.CameFrom {
			r.stateExists(d, s, t.cameFrom[i], "from-state", "came_from")
		}
		if !t.everywhere && len(d.sources(d.Transitions, t.From, t.CameFrom)) == 0 {
			r.Problem(t.to, "previous", "found previous as the target of a transition out of %q, expected a state that something leads to", t.From)
		}
	}
}

// leadBack makes the edges that lead back to where a task came from. One of them may be the way by which another one's state is entered,
// so it is gone over them until nothing is added.
func (d *Definition) leadBack(all, back []Transition) []Transition {
	made := make([][]task.Status, len(back))
	for grown := true; grown; {
		grown = false
		for i, t := range back {
			for _, s := range d.sources(all, t.From, t.CameFrom) {
				if slices.Contains(made[i], s) {
					continue
				}
				made[i], grown = append(made[i], s), true
				one := t
				one.To, one.CameFrom, one.cameFrom = s, []task.Status{s}, nil
				all = append(all, one)
			}
		}
	}
	return all
}

// leadsTo says whether the state is one that the rule may lead to.
func (r Rule) leadsTo(to task.Status) bool {
	return r.Then == to || slices.ContainsFunc(r.ThenWhen, func(b Branch) bool { return b.Then == to })
}

// sources are the states from which a task can have come to a state: all of them, or those that only names.
func (d *Definition) sources(all []Transition, to task.Status, only []task.Status) []task.Status {
	var out []task.Status
	for _, s := range d.States {
		leads := false
		for _, t := range all {
			leads = leads || t.From == s.Name && t.To == to && s.Name != to
		}
		for _, rule := range d.Exit.Rules {
			leads = leads || rule.Status == s.Name && rule.Action == ActionCrash && rule.leadsTo(to) && s.Name != to
		}
		if leads && (len(only) == 0 || slices.Contains(only, s.Name)) {
			out = append(out, s.Name)
		}
	}
	return out
}
