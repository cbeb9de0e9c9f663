package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// dryRun says what a new task needs to start, and creates none. Its status is that of a refusal where something is
// missing.
func (n *creation) dryRun(ctx context.Context, h *Services) error {
	made := n.task
	var err error
	if made.Project, err = n.projectOf(ctx, h); err != nil {
		return err
	}
	filled, missing := h.Commands.Fill(ctx, made)
	agents := rejection.Readiness{What: "agents",
		Found: "worker " + filled.Harness + ", reviewer " + filled.ReviewHarness}
	if missing != nil {
		agents.Found, agents.Want = missing.Error(), "choose programs that are there: --harness, --review-harness"
	}
	if missing == nil {
		if agents.Note, err = noLogin(ctx, h, filled); err != nil {
			return err
		}
	}
	all, err := h.Commands.DryRun(ctx, made)
	if err != nil {
		return err
	}
	all = append(all, agents)
	if n.json {
		err = n.printJSON(map[string]any{"ready": all})
	} else {
		sayReady(&n.printer, all)
	}
	for _, one := range all {
		if err == nil && one.Want != "" {
			err = &ended{status: exitRefused}
		}
	}
	return err
}

// noLogin says of the agent programs of a task what they need a login of their own for; empty where they need none.
// Whether there is one, no one but the program knows.
func noLogin(ctx context.Context, h *Services, n task.New) (string, error) {
	given, err := h.Variables.List()
	if err != nil {
		return "", err
	}
	set := func(name string) bool {
		return proc.Getenv(ctx, name) != "" || slices.ContainsFunc(given, func(v harness.Variable) bool {
			return v.Name == name && (v.Project == "" || v.Project == n.Project.Name)
		})
	}
	var notes []string
	for _, name := range slices.Compact([]string{n.Harness, n.ReviewHarness}) {
		one, err := h.Home.Harness(name)
		if err != nil {
			return "", err
		}
		for _, names := range one.Lacking(set) {
			notes = append(notes, fmt.Sprintf("%s has to be logged in by itself, as %s is not set, here or by: "+
				"orange env set %s", name, strings.Join(names, " or "), names[0]))
		}
	}
	return strings.Join(notes, "; "), nil
}

func sayReady(p *printer, all []rejection.Readiness) {
	for _, one := range all {
		word := "ok"
		if one.Want != "" {
			word = "missing"
		}
		p.say("%-8s %s", word, fmt.Sprintf("%-10s %s", one.What, one.Found))
		if one.Want != "" {
			p.say("%-8s to do: %s", "", one.Want)
		}
		if one.Note != "" {
			p.say("%-8s note: %s", "", one.Note)
		}
	}
}
