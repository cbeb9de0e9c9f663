package cli

import (
	"context"
	"fmt"

	"orange/internal/rejection"
	"orange/internal/task"
)

// dryRun says what a new task needs to start, and creates none. Its status is that of a refusal where something is
// missing.
func (p *Program) dryRun(ctx context.Context, h *Services, n task.New) error {
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return err
	}
	n.Project = project
	filled, missing := h.Commands.Fill(ctx, n)
	agents := rejection.Readiness{What: "agents",
		Found: "worker " + filled.Harness + ", reviewer " + filled.ReviewHarness}
	if missing != nil {
		agents.Found, agents.Want = missing.Error(), "choose programs that are there: --harness, --review-harness"
	}
	all, err := h.Commands.DryRun(ctx, n)
	if err != nil {
		return err
	}
	all = append(all, agents)
	if p.json {
		err = p.printJSON(map[string]any{"ready": all})
	} else {
		p.sayReady(all)
	}
	for _, one := range all {
		if err == nil && one.Want != "" {
			err = &ended{status: exitRefused}
		}
	}
	return err
}

func (p *Program) sayReady(all []rejection.Readiness) {
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
