package workflow

import (
	"slices"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// counterNames are the counters that guards and hooks may speak of.
func (d *Definition) counterNames() []string {
	names := []string{task.ReviewRound, task.CrashCount, CountFailures}
	for _, f := range d.Fields {
		names = append(names, f.Name)
	}
	return names
}

// checkCounters: guards and hooks speak of counters that there are.
func (r reader) checkCounters(d *Definition) {
	names := d.counterNames()
	known := func(field string, at yaml.Pos, what string) {
		if field != "" && !r.Full() && !slices.Contains(names, field) {
			r.Problem(at, "field",
				"found the unknown counter %q in %s, %s; a workflow's own are declared under fields", field, what,
				yaml.Expected(field, names))
		}
	}
	for _, f := range d.Fields {
		if f.Name == CountFailures || f.Name == countLimits || slices.Contains(task.HeaderKeys(), f.Name) {
			r.Problem(f.Pos, "field",
				"found %q among the fields, expected a name of your own: every task has that one", f.Name)
		}
	}
	d.eachWhen(func(guards []Guard) {
		for _, g := range guards {
			known(g.Field, g.Pos, "a guard")
		}
	})
	d.eachHook(func(h Hook) { known(h.Field, h.Pos, "a hook") })
}
