package workflow

import (
	"regexp"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// roles reads a list of names, or what there is to say of each.
func (r reader) roles(n *yaml.Node) []Role {
	var out []Role
	if !r.IsMapping(n) {
		r.List(n, "roles", func(n *yaml.Node) { out = append(out, Role{Named: r.namedOf(n, "a role")}) })
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

// fields reads the counters that the workflow has besides those of every task, each with the number that it
// starts from.
func (r reader) fields(n *yaml.Node) []Field {
	var out []Field
	r.Pairs(n, "fields", func(name, value *yaml.Node) {
		f := Field{Named: Named{Name: name.Value, Pos: yaml.PosOf(name)}}
		start := func(n *yaml.Node) { f.Start = r.Integer(n, "the start of a field", -maxGuard, maxGuard) }
		if !r.IsMapping(value) {
			start(value)
		} else {
			r.Mapping(value, "field "+name.Value, []yaml.Key{
				yaml.May("start", start),
				yaml.May("reset", func(n *yaml.Node) { f.Reset = r.OneOf(n, "reset", ResetPerson) }),
			})
		}
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
		yaml.Must("hooks", elements(r, "the hooks of plan_file", &b.Hooks, r.hook)),
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
			yaml.May("timeout", func(n *yaml.Node) {
				c.Timeout = int(r.Duration(n, "a timeout", 24*time.Hour) / time.Second)
			}),
			yaml.May("scratch", func(n *yaml.Node) { c.Scratch = r.Boolean(n, "scratch") }),
		})
		if !isFieldName(strings.ReplaceAll(c.Name, "-", "_")) {
			r.Problem(c.Pos, "value",
				"found %q as the name of a check, expected letters, digits, dashes and underscores", c.Name)
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
			r.Problem(yaml.PosOf(name), "value",
				"found %q as a command, expected one or two words such as %q or %q", c.Text, "/plan", "/review plan")
		}
		out = append(out, c)
	})
	return out
}

func (r reader) projections(n *yaml.Node) []Projection {
	var out []Projection
	r.Pairs(n, "projections", func(name, value *yaml.Node) {
		out = append(out, Projection{File: r.inside(name, "a projection"), Value: r.value(value),
			Pos: yaml.PosOf(name)})
	})
	return out
}

func (r reader) value(n *yaml.Node) Value {
	if !r.IsMapping(n) {
		return Value{Text: r.Text(n, "a value of a projection")}
	}
	v := Value{Pairs: []Pair{}}
	r.Pairs(n, "a projection", func(name, value *yaml.Node) {
		v.Pairs = append(v.Pairs, Pair{Key: name.Value, Value: r.value(value)})
	})
	return v
}
