package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

// Variables are those that a person has set for the programs of tasks. A project's name is empty for every project.
type Variables interface {
	List() ([]harness.Variable, error)
	// Of has what is set for a project as NAME=VALUE.
	Of(project string) ([]string, error)
	// Tasks are the tasks that have variables of their own, For what is set for one of them, and Drop forgets those.
	Tasks() ([]string, error)
	For(project, id string) ([]string, error)
	Drop(ctx context.Context, id string) error
}

// variables checks the file of what a person has set for tasks: while it cannot be read, no agent starts.
func (d *Doctor) variables(context.Context) []finding {
	all, err := d.Variables.List()
	switch {
	case errors.Is(err, task.ErrUsage):
		return []finding{problem(checkVariables, "env.json", err.Error(), "until then no agent, check or hook starts")}
	case err != nil:
		return []finding{blind(checkVariables, "env.json", err)}
	case len(all) == 0:
		return nil // none are needed where each program has a login of its own
	}
	projects, err := d.Setup.Projects()
	if err != nil {
		return nil // another check reports it
	}
	var out []finding
	for _, one := range all {
		known := slices.ContainsFunc(projects, func(p task.Project) bool { return p.Name == one.Project })
		if one.Project != "" && !known {
			out = append(out, warning(checkVariables, one.Name, fmt.Sprintf("it is set %s, which is not registered",
				one.For()), fmt.Sprintf("orange env unset --project %q %s", one.Project, one.Name)))
		}
	}
	return orOK(out, checkVariables, "env.json", "set: %d", len(all))
}

// ownVariables checks the files of what a person has set for single tasks, and finds those of tasks that are gone.
func (d *Doctor) ownVariables(_ context.Context, v *view) []finding {
	ids, err := d.Variables.Tasks()
	if err != nil {
		return []finding{blind(checkVariables, "env", err)}
	}
	var out []finding
	for _, id := range ids {
		_, known := v.byID[id]
		back := known
		if !known {
			back, err = d.mayComeBack(id)
		}
		if err == nil && known {
			_, err = d.Variables.For("", id)
		}
		switch {
		case errors.Is(err, task.ErrUsage):
			out = append(out, problem(checkVariables, id, err.Error(), "until then no program of the task starts"))
		case err != nil:
			out = append(out, blind(checkVariables, id, err))
		case !back:
			out = append(out, warning(checkVariables, id, "the variables of a task that is gone are still kept",
				"orange doctor --fix forgets them").
				by("forgotten", func(ctx context.Context) error { return d.Variables.Drop(ctx, id) }))
		}
	}
	return out
}

// lacks tells which variables the program of a harness is known to need and would not find. A login in the program's
// own configuration serves too, and is not looked for.
func (d *Doctor) lacks(name string, h *harness.Harness) []finding {
	given, err := d.Variables.Of("")
	if err != nil {
		return nil // another check reports it
	}
	set, err := d.Variables.List()
	if err != nil {
		return nil
	}
	inEveryStart := func(name string) bool {
		return slices.ContainsFunc(set, func(v harness.Variable) bool { return v.Name == name }) ||
			harness.Value(h.Env, name) != ""
	}
	inShell := func(name string) bool { return harness.Value(d.Environ, name) != "" }
	var out []finding
	for _, one := range h.Needs {
		at := slices.IndexFunc(one, inShell)
		switch {
		case slices.ContainsFunc(one, inEveryStart):
		case at >= 0:
			out = append(out, ok(checkHarnesses, name, "%s is set in this shell; orange env set %s is for agents that "+
				"start without it, as after a reboot", one[at], one[at]))
		default:
			out = append(out, warning(checkHarnesses, name, fmt.Sprintf("%s is not set, in this shell or with "+
				"orange env", strings.Join(one, " or ")), fmt.Sprintf("orange env set %s=-, or log in with %s itself "+
				"if you have not", one[0], h.Program)))
		}
	}
	if !d.Root {
		return out
	}
	env := harness.Layer(d.Environ, given, h.Env)
	for _, pair := range h.Root {
		variable, value, _ := strings.Cut(pair, "=")
		if harness.Value(env, variable) != value {
			out = append(out, warning(checkHarnesses, name, "as root "+h.Program+" needs "+pair+", and ends at once "+
				"without it", "if this machine is a sandbox: orange env set "+pair+"; else run Orange as another user"))
		}
	}
	return out
}

// identity checks that git knows who commits, as it will in the worktrees: without that no agent can.
func (d *Doctor) identity(ctx context.Context) []finding {
	all, err := d.Setup.Projects()
	if err != nil {
		return nil // another check reports it
	}
	if len(all) == 0 {
		all = []task.Project{{Path: d.Home}} // it is in no repository
	}
	var out []finding
	for _, p := range all {
		subject := p.Name
		if subject == "" {
			subject = "identity"
		}
		if _, err := os.Stat(p.Path); err != nil {
			continue // another check reports it
		}
		given, err := d.Variables.Of(p.Name)
		if err != nil {
			continue
		}
		known, err := d.Setup.HasIdentity(ctx, p.Path, given)
		switch {
		case errors.Is(err, task.ErrNotFound): // there is no git
		case err != nil:
			out = append(out, blind(checkGit, subject, err))
		case !known:
			out = append(out, warning(checkGit, subject, "it does not know whose commits are made there: user.name or "+
				"user.email is missing, and no agent can commit", "git config --global user.name NAME, and git config "+
				"--global user.email ADDRESS"))
		}
	}
	return out
}
