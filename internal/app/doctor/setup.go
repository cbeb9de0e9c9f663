package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

// files checks what a person has written: configuration, harnesses and workflows.
func (d *Doctor) files(_ context.Context, r report, _ *view) error {
	all, err := d.Setup.Files()
	if err != nil {
		return err
	}
	checks := map[string]string{"config": checkConfig, "harness": checkHarnesses, "workflow": checkWorkflows}
	var installed []string
	good := map[string]int{}
	for _, f := range all {
		if f.Problem != nil {
			r.of(checks[f.Kind]).problem(f.Source, f.Problem.Error(), "correct the file")
			continue
		}
		good[f.Kind]++
		if f.Kind != "harness" {
			continue
		}
		if _, err := d.Machine.FindProgram(f.Harness.Program, harness.Value(d.Environ, "PATH")); err == nil {
			installed = append(installed, f.Name)
			d.lacks(r.of(checkHarnesses), f.Name, f.Harness)
		}
	}
	switch {
	case len(installed) > 0:
		r.of(checkHarnesses).ok("programs", "installed: %s", strings.Join(installed, ", "))
	case good["harness"] > 0:
		r.of(checkHarnesses).warn("programs", "no agent program that a harness names is installed",
			"install one, such as claude or codex, or describe yours in harnesses/NAME.yml")
	}
	if good["config"] > 0 {
		r.ok("config.yml", "it can be read")
	}
	r.of(checkWorkflows).ok("files", "can be read: %d", good["workflow"])
	return nil
}

func (d *Doctor) projects(ctx context.Context, r report, _ *view) error {
	all, err := d.Setup.Projects()
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := d.project(ctx, r, p); err != nil {
			r.blind(p.Name, err)
		}
	}
	r.orOK("projects.json", "registered: %d, and their repositories are there", len(all))
	return nil
}

func (d *Doctor) project(ctx context.Context, r report, p task.Project) error {
	again := fmt.Sprintf("bring it back, or register it again: orange project remove %q, then orange project "+
		"add PATH --name %q", p.Name, p.Name)
	if _, err := os.Stat(p.Path); errors.Is(err, os.ErrNotExist) {
		r.problem(p.Name, fmt.Sprintf("its repository %q is gone", p.Path), fmt.Sprintf(
			"if it was moved: orange project update %q --path PATH; else %s", p.Name, again))
		return nil
	} else if err != nil {
		return err
	}
	there, err := d.Setup.DefaultBranch(ctx, p)
	if err != nil {
		return err
	}
	if !there {
		r.problem(p.Name, fmt.Sprintf("its default branch %q is gone from %q", p.DefaultBranch, p.Path),
			fmt.Sprintf("if it was renamed: orange project update %q --default-branch BRANCH; else %s", p.Name, again))
		return nil
	}
	// What no task of the project could do without. Other checks look at what else a task needs to start.
	all, err := d.Setup.Usable(ctx, p, "")
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Want != "" {
			r.problem(p.Name, "its "+one.What+": "+one.Found, one.Want)
			return nil
		}
	}
	for _, one := range all {
		if one.Note != "" {
			found, advice, _ := strings.Cut(one.Note, "; ")
			r.warn(p.Name, found, advice)
			return nil
		}
	}
	return nil
}

// strangers finds live tasks of projects that are not registered: none of them can move.
func (d *Doctor) strangers(_ context.Context, r report, v *view) error {
	live := map[string]int{}
	for _, t := range v.tasks {
		if _, known := v.project[t.Project]; v.project != nil && !known && t.Live {
			live[t.Project]++
		}
	}
	for name, n := range live { // sorted with the others in the end
		r.warn(name, fmt.Sprintf("%d live tasks belong to it, and it is not registered", n),
			fmt.Sprintf("orange project add PATH --name %q", name))
	}
	return nil
}
