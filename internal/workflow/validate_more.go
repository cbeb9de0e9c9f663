package workflow

import (
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"orange/internal/task"
	"orange/internal/yaml"
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
			r.Problem(at, "field", "found the unknown counter %q in %s, %s; a workflow's own are declared under fields", field, what, yaml.Expected(field, names))
		}
	}
	guards := func(list []Guard) {
		for _, g := range list {
			known(g.Field, g.Pos, "a guard")
		}
	}
	for _, f := range d.Fields {
		if f.Name == CountFailures || slices.Contains(task.HeaderKeys(), f.Name) {
			r.Problem(f.Pos, "field", "found %q among the fields, expected a name of your own: every task has that one", f.Name)
		}
	}
	for _, t := range d.Transitions {
		guards(t.When)
	}
	for _, rule := range d.Exit.Rules {
		for _, b := range rule.ThenWhen {
			guards(b.When)
		}
	}
	d.eachHook(func(h Hook) { known(h.Field, h.Pos, "a hook") })
}

// checkGates: parts of gates speak of checks and files that there can be.
func (r reader) checkGates(d *Definition) {
	var names []string
	for _, c := range d.Checks {
		names = append(names, c.Name)
	}
	visit := func(parts []Part) {
		for _, p := range Leaves(parts) {
			if r.Full() {
				return
			}
			if p.Check != "" && !slices.Contains(names, p.Check) {
				r.Problem(p.Pos, "check", "found the unknown check %q in a gate, %s", p.Check, yaml.Expected(p.Check, names))
			}
			if (p.Git == GitPlanned) != (p.Plan != "") {
				r.Problem(p.Pos, "gate", "found %s, expected the file of the plan with git: planned, and only there", planOf(p))
			}
			if p.JQ != "" {
				variables := make([]string, len(p.With))
				for i, w := range p.With {
					variables[i] = w.Name
				}
				if err := CheckJQ(p.JQ, variables); err != nil {
					r.Problem(p.Pos, "jq", "%v; expected a jq program that answers true or false", err)
				}
			}
			if p.Glob != "" && !doublestar.ValidatePattern(p.Glob) {
				r.Problem(p.Pos, "gate", "found the pattern %q as glob, expected one that can be read, such as %q", p.Glob, "code/files/**")
			}
			if len(p.With) > 0 && p.JQ == "" {
				r.Problem(p.Pos, "gate", "found with without jq in a gate, expected the program that uses the files")
			}
		}
	}
	for i := range d.Transitions {
		visit(d.Transitions[i].Gate)
	}
	for _, rule := range d.Exit.Rules {
		if rule.HasArtifact != nil {
			visit([]Part{*rule.HasArtifact})
		}
	}
}

func planOf(p Part) string {
	if p.Plan == "" {
		return "git: planned without a plan"
	}
	return "a plan in a gate that does not ask git for what was planned"
}

// checkExtensions: timeouts, redo, commands, projections and the plan file's entry lead to what there is.
func (r reader) checkExtensions(d *Definition) {
	for _, role := range d.Roles {
		if role.Name == task.RoleHuman {
			r.Problem(role.Pos, "role", "found %q among the roles, expected only those that agents have", role.Name)
		}
	}
	for _, s := range d.States {
		r.stateExists(d, s.Timeout.Then, s.Timeout.then, "timeout", "then of a timeout")
		if _, exists := d.State(s.Timeout.Then); exists && !slices.ContainsFunc(d.Transitions, func(t Transition) bool { return t.From == s.Name && t.To == s.Timeout.Then }) {
			r.Problem(s.Timeout.then, "timeout", "found a timeout of %q that leads to %q, expected a state that a transition leads to from there", s.Name, s.Timeout.Then)
		}
		if s.Folder != "" && engines(s.Folder) {
			r.Problem(s.Pos, "folder", "found %q as the folder of the state %q, expected another one: it is the engine's", s.Folder, s.Name)
		}
		if s.Terminal && s.Timeout.After != 0 {
			r.Problem(s.Timeout.Pos, "timeout", "found a timeout of the terminal state %q, expected none: nothing is waited for there", s.Name)
		}
	}
	for _, again := range d.Redo {
		name := task.Status(again.Name)
		r.stateExists(d, name, again.Pos, "redo", "a state of redo")
		if s, exists := d.State(name); exists && (s.Terminal || s.Role != "" && s.RespawnPrompt.Name == "" || s.Role == "" && s.Name == d.Initial) {
			r.Problem(again.Pos, "redo", "found the state %q in redo, expected one in which something is done, with a respawn_prompt for its agent", name)
		}
	}
	for _, c := range d.Commands {
		r.stateExists(d, c.To, c.Pos, "command", "the state of command "+c.Text)
	}
	r.checkProjections(d)
	if d.PlanFile != nil {
		r.stateExists(d, d.PlanFile.To, d.PlanFile.Pos, "create", "the state of plan_file")
		if s, _ := d.State(d.PlanFile.To); s.Terminal {
			r.Problem(d.PlanFile.Pos, "create", "found the terminal state %q in plan_file, expected one that a task can leave", d.PlanFile.To)
		}
	}
}
