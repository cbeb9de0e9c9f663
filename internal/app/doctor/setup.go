package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// files checks what a person has written: configuration, harnesses and workflows.
func (d *Doctor) files(context.Context) []finding {
	all, err := d.Setup.Files()
	if err != nil {
		return []finding{blind(checkConfig, d.Home, err)}
	}
	checks := map[string]string{"config": checkConfig, "harness": checkHarnesses, "workflow": checkWorkflows}
	var out []finding
	var installed []string
	good := map[string]int{}
	for _, f := range all {
		if f.Problem != nil {
			out = append(out, problem(checks[f.Kind], f.Source, f.Problem.Error(), "correct the file"))
			continue
		}
		good[f.Kind]++
		if f.Kind != "harness" {
			continue
		}
		if _, err := d.Machine.FindProgram(f.Harness.Program, harness.Value(d.Environ, "PATH")); err == nil {
			installed = append(installed, f.Name)
			out = append(out, d.lacks(f.Name, f.Harness)...)
		}
	}
	switch {
	case len(installed) > 0:
		out = append(out, ok(checkHarnesses, "programs", "installed: %s", strings.Join(installed, ", ")))
	case good["harness"] > 0:
		out = append(out, warning(checkHarnesses, "programs",
			"no agent program that a harness names is installed",
			"install one, such as claude or codex, or describe yours in harnesses/NAME.yml"))
	}
	if good["config"] > 0 {
		out = append(out, ok(checkConfig, "config.yml", "it can be read"))
	}
	return append(out, ok(checkWorkflows, "files", "can be read: %d", good["workflow"]))
}

func (d *Doctor) projects(ctx context.Context) []finding {
	all, err := d.Setup.Projects()
	if err != nil {
		return []finding{blind(checkProjects, "projects.json", err)}
	}
	var out []finding
	for _, p := range all {
		if f := d.project(ctx, p); f.Level != record.LevelOK {
			out = append(out, f)
		}
	}
	return orOK(out, checkProjects, "projects.json", "registered: %d, and their repositories are there", len(all))
}

func (d *Doctor) project(ctx context.Context, p task.Project) finding {
	again := fmt.Sprintf("bring it back, or register it again: orange project remove %q, then orange project "+
		"add PATH --name %q", p.Name, p.Name)
	if _, err := os.Stat(p.Path); errors.Is(err, os.ErrNotExist) {
		return problem(checkProjects, p.Name, fmt.Sprintf("its repository %q is gone", p.Path), fmt.Sprintf(
			"if it was moved: orange project update %q --path PATH; else %s", p.Name, again))
	} else if err != nil {
		return blind(checkProjects, p.Name, err)
	}
	there, err := d.Setup.DefaultBranch(ctx, p)
	switch {
	case err != nil:
		return blind(checkProjects, p.Name, err)
	case !there:
		return problem(checkProjects, p.Name, fmt.Sprintf("its default branch %q is gone from %q",
			p.DefaultBranch, p.Path), fmt.Sprintf("if it was renamed: orange project update %q --default-branch "+
			"BRANCH; else %s", p.Name, again))
	}
	return d.usable(ctx, p)
}

// usable reports what no task of the project could do without. Other checks look at what else a task needs to start.
func (d *Doctor) usable(ctx context.Context, p task.Project) finding {
	all, err := d.Setup.Usable(ctx, p, "")
	if err != nil {
		return blind(checkProjects, p.Name, err)
	}
	for _, one := range all {
		if one.Want != "" {
			return problem(checkProjects, p.Name, "its "+one.What+": "+one.Found, one.Want)
		}
	}
	for _, one := range all {
		if one.Note != "" {
			found, advice, _ := strings.Cut(one.Note, "; ")
			return warning(checkProjects, p.Name, found, advice)
		}
	}
	return ok(checkProjects, p.Name, "%s", p.Path)
}

// strangers finds live tasks of projects that are not registered: none of them can move.
func (d *Doctor) strangers(_ context.Context, v *view) []finding {
	if v.project == nil {
		return nil
	}
	live := map[string]int{}
	for _, t := range v.tasks {
		if _, known := v.project[t.Project]; !known && t.Live {
			live[t.Project]++
		}
	}
	var out []finding
	for name, n := range live { // sorted with the others in the end
		out = append(out, warning(checkProjects, name,
			fmt.Sprintf("%d live tasks belong to it, and it is not registered", n),
			fmt.Sprintf("orange project add PATH --name %q", name)))
	}
	return out
}
