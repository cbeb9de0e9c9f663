package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

func taskCheck(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "check [ID] [NAME]", Short: "Run a check of a task's workflow now, or list them all", Args: between(0, 2),
		Long: `Run a check of a task's workflow now, or list them all with their last results. A gate asks for a
result for the present commit: one of a workspace with uncommitted changes is shown and not kept.
Exit status 1 says that the check failed.`,
		Example: "  orange task check 4Fz\n  orange task check 4Fz tests",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, check, err := whichCheck(ctx, &p.finder, h, args)
			if err != nil {
				return err
			}
			if check == "" {
				all, err := h.Queries.Checks(ctx, id)
				if err != nil {
					return err
				}
				return sayChecks(&p.printer, id, all)
			}
			r, err := h.Commands.RunCheck(ctx, id, check, true)
			if err != nil {
				return err
			}
			return sayCheckResult(&p.printer, r)
		}),
	}
}

// whichCheck reads the words behind the command. A single one is a check of the task of the workspace that the
// command is in, where that has a check of this name, and else a task.
func whichCheck(ctx context.Context, p *finder, h *Services, args []string) (id, check string, err error) {
	if len(args) != 1 {
		id, err = p.find(ctx, h, args[:min(1, len(args))])
		if len(args) > 1 {
			check = args[1]
		}
		return id, check, err
	}
	here, _, err := h.Identity.Here(ctx)
	if err != nil {
		return "", "", err
	}
	if here != "" {
		all, err := h.Queries.Checks(ctx, here)
		if err != nil && !errors.Is(err, task.ErrNotFound) {
			return "", "", err
		}
		for _, c := range all {
			if c.Name == args[0] {
				return here, c.Name, nil
			}
		}
	}
	id, err = p.find(ctx, h, args)
	return id, "", err
}

func sayChecks(p *printer, id string, all []task.CheckState) error {
	if p.json {
		return p.printJSON(map[string]any{"checks": orEmpty(all)})
	}
	if len(all) == 0 {
		p.say("the workflow of task %s has no checks", id)
	}
	for _, c := range all {
		state := "never run"
		switch {
		case c.Running != "":
			state = "runs since " + c.Running
		case c.Last != nil:
			state = fmt.Sprintf("%s %s, in %s", endOf(*c.Last), c.Last.On(), c.Last.Took)
			if !c.Present {
				state += ", which does not count for the present commit"
			}
		}
		const most = 60
		p.say("%-12s %s  (%s)", c.Name, state, oneLine(strings.Join(c.Argv, " "), most))
	}
	return nil
}

func endOf(r task.CheckResult) string {
	switch {
	case r.Trouble != "":
		return "no result: " + r.Trouble
	case r.Passed():
		return "passed"
	case r.TimedOut:
		return "failed: out of time"
	case r.OutOfMemory:
		return "failed: out of memory"
	}
	return fmt.Sprintf("failed: status %d", r.Status)
}

func sayCheckResult(p *printer, r task.CheckResult) error {
	if p.json {
		if err := p.printJSON(map[string]any{"check": r}); err != nil {
			return err
		}
	} else {
		if r.Output != "" {
			p.say("%s", strings.TrimRight(r.Output, "\n"))
		}
		p.say("check %s %s %s, in %s", r.Name, endOf(r), r.On(), r.Took)
		if !r.Clean {
			p.warn("this does not count for a move: the workspace has uncommitted changes")
		}
	}
	if !r.Passed() {
		return &ended{exitFailed}
	}
	return nil
}
