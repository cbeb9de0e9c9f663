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

// variables checks the file of what a person has set for tasks: while it cannot be read, no agent starts.
func (d *Doctor) variables(_ context.Context, r report, _ *view) error {
	all, err := d.Variables.List()
	if errors.Is(err, task.ErrUsage) {
		r.problem("env.json", err.Error(), "until then no agent, check or hook starts")
		return nil
	}
	if err != nil || len(all) == 0 { // none are needed where each program has a login of its own
		return err
	}
	projects, err := d.Setup.Projects()
	if err != nil {
		return nil // another check reports it
	}
	for _, one := range all {
		known := slices.ContainsFunc(projects, func(p task.Project) bool { return p.Name == one.Project })
		if one.Project != "" && !known {
			r.warn(one.Name, fmt.Sprintf("it is set %s, which is not registered", one.For()),
				fmt.Sprintf("orange env unset --project %q %s", one.Project, one.Name))
		}
	}
	r.orOK("env.json", "set: %d", len(all))
	return nil
}

// ownVariables checks the files of what a person has set for single tasks, and finds those of tasks that are gone.
func (d *Doctor) ownVariables(_ context.Context, r report, v *view) error {
	ids, err := d.Variables.Tasks()
	for _, id := range ids {
		_, back := v.byID[id]
		var err error
		if back {
			_, err = d.Variables.For("", id)
		} else {
			back, err = d.mayComeBack(id)
		}
		switch {
		case errors.Is(err, task.ErrUsage):
			r.problem(id, err.Error(), "until then no program of the task starts")
		case err != nil:
			r.blind(id, err)
		case !back:
			r.warn(id, "the variables of a task that is gone are still kept", "orange doctor --fix forgets them").
				by("forgotten", func(ctx context.Context) error { return d.Variables.Drop(ctx, id) })
		}
	}
	return err
}

// lacks tells which variables the program of a harness is known to need and would not find. A login in the program's
// own configuration serves too, and is not looked for.
func (d *Doctor) lacks(r report, name string, h *harness.Harness) {
	given, err := d.Variables.Of("")
	if err != nil {
		return // another check reports it
	}
	set, err := d.Variables.List()
	if err != nil {
		return
	}
	inEveryStart := func(name string) bool {
		return slices.ContainsFunc(set, func(v harness.Variable) bool { return v.Name == name }) ||
			harness.Value(h.Env, name) != ""
	}
	inShell := func(name string) bool { return harness.Value(d.Environ, name) != "" }
	for _, one := range h.Needs {
		at := slices.IndexFunc(one, inShell)
		switch {
		case slices.ContainsFunc(one, inEveryStart):
		case at >= 0:
			r.ok(name, "%s is set in this shell; orange env set %s is for agents that start without it, as after a "+
				"reboot", one[at], one[at])
		default:
			r.warn(name, strings.Join(one, " or ")+" is not set, in this shell or with orange env", fmt.Sprintf(
				"orange env set %s=-, or log in with %s itself if you have not", one[0], h.Program))
		}
	}
	if !d.Root {
		return
	}
	env := harness.Layer(d.Environ, given, h.Env)
	for _, pair := range h.Root {
		variable, value, _ := strings.Cut(pair, "=")
		if harness.Value(env, variable) != value {
			r.warn(name, "as root "+h.Program+" needs "+pair+", and ends at once without it",
				"if this machine is a sandbox: orange env set "+pair+"; else run Orange as another user")
		}
	}
}

// identity checks that git knows who commits, as it will in the worktrees: without that no agent can.
func (d *Doctor) identity(ctx context.Context, r report, _ *view) error {
	all, err := d.Setup.Projects()
	if err != nil {
		return nil // another check reports it
	}
	if len(all) == 0 {
		all = []task.Project{{Path: d.Home}} // it is in no repository
	}
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
			r.blind(subject, err)
		case !known:
			r.warn(subject, "it does not know whose commits are made there: user.name or user.email is missing, and "+
				"no agent can commit", "git config --global user.name NAME, and git config --global user.email ADDRESS")
		}
	}
	return nil
}
