package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

func harnessCommands(p *Program) *cobra.Command {
	return p.group("harness", "Show and test harnesses, the files that say how to run an agent program",
		"  orange harness list\n  orange harness test codex", harnessList, harnessShow, harnessTest)
}

func harnessList(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the harnesses, and which of their programs are installed", Args: between(0, 0),
		Example: "  orange harness list",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			all, err := h.Home.ListHarnesses(proc.Getenv(ctx, "PATH"))
			if err != nil {
				return err
			}
			if p.json {
				for i := range all {
					all[i].Text = ""
				}
				return p.printJSON(map[string]any{"harnesses": orEmpty(all)})
			}
			rows := [][]string{{"NAME", "PROGRAM", "WRITTEN FOR", "LAST RUN", "FROM"}}
			for _, one := range all {
				from := one.Source
				if one.Hides {
					from += " (instead of the built-in one)"
				}
				rows = append(rows, []string{one.Name, cmp.Or(one.Path, "not installed"), cmp.Or(one.Version, "-"),
					cmp.Or(one.Run, "-"), from})
			}
			if err := p.table(table{rows: rows, gives: []int{1, 4}, paths: []int{1}}); err != nil {
				return err
			}
			for _, one := range all {
				if one.Problem != "" {
					p.warn("harness %q is broken: %s", one.Name, one.Problem)
				}
			}
			return nil
		}),
	}
}

func harnessShow(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print a harness file", Args: between(1, 1),
		Example: "  orange harness show codex > \"$ORANGE_HOME/harnesses/mine.yml\"",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			all, err := h.Home.ListHarnesses(proc.Getenv(ctx, "PATH"))
			if err != nil {
				return err
			}
			var names []string
			for _, one := range all {
				switch {
				case one.Name != args[0]:
					names = append(names, one.Name)
					continue
				case p.json:
					return p.printJSON(map[string]any{"harness": one})
				case one.Text == "" && one.Problem != "":
					return fmt.Errorf("cannot show the harness %q: %s", one.Name, one.Problem)
				}
				return p.print(one.Text)
			}
			return task.Notef(task.ErrNotFound, "there is no harness %q%s; %q lists them", args[0],
				yaml.Guess(args[0], names), "orange harness list")
		}),
	}
}

func harnessTest(p *Program) *cobra.Command {
	var start, yes bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "test NAME", Short: "Check that an agent program matches its harness file",
		Args: between(1, 1),
		Long: `Find the program on PATH, ask it for its version, and look in its help for each flag of the harness
file. This costs nothing.

With --start Orange also starts the program, in a repository below $ORANGE_HOME/try and a window
that no one else sees, with a prompt that has it write a word into a file. It waits for the file,
closes the window, and waits until the program is gone. It names a question that the program stops
at: answer it there once. The program's model answers once: that may cost
tokens, and so Orange asks first.`,
		Example: "  orange harness test codex\n  orange harness test codex --start --yes",
		RunE: p.runForPerson("test a harness", func(ctx context.Context, h *Services, args []string) error {
			ctx, off := whileTheTerminalIsThere(ctx)
			defer off()
			report, err := h.Prober.Test(ctx, args[0])
			if err != nil {
				return err
			}
			if !start {
				return sayProbed(&p.printer, report, nil, nil)
			}
			err = p.sure(task.Actor{Role: task.RoleHuman}, yes, "Start "+report.Program+
				" once? Its model answers one prompt, which may cost tokens.", "nothing was started")
			if err != nil {
				return err
			}
			p.warn("waits up to %s until %s has done what its prompt asks for", timeout, report.Program)
			started, failed := h.Prober.Start(ctx, args[0], timeout)
			return sayProbed(&p.printer, report, &started, failed)
		}),
	}
	c.Flags().BoolVar(&start, "start", false, "start the program once, too; its model answers a prompt")
	c.Flags().DurationVar(&timeout, "timeout", 3*time.Minute, "with --start: how long to wait for the file")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "with --start: do not ask")
	return c
}

// sayProbed prints what was found out, and fails where the program is not what the file describes.
func sayProbed(p *printer, r harness.Probed, s *harness.Started, failed error) error {
	fine := r.OK() && (s == nil || s.Ended && failed == nil)
	if p.json {
		answer := map[string]any{"report": r, "ok": fine}
		if s != nil {
			answer["started"] = s
		}
		if failed != nil {
			answer["error"] = failed.Error()
		}
		if err := p.printJSON(answer); err != nil {
			return err
		}
	} else {
		sayTested(p, r)
		if s != nil {
			sayStarted(p, *s, failed)
		}
	}
	if !fine {
		return &ended{exitFailed}
	}
	return nil
}

func sayTested(p *printer, r harness.Probed) {
	p.field("program", cmp.Or(r.Path, r.Program+" is not installed"))
	p.field("version", r.Version)
	p.field("written for", r.Written)
	if r.Newer() {
		p.field("", "the file was written for another version: see below whether its flags are still there")
	}
	p.field("last run", r.Run)
	p.field("do once", r.Trust)
	p.field("trouble", r.Trouble)
	missing := 0
	for _, f := range r.Flags {
		if !f.Found {
			missing++
			p.field("missing", fmt.Sprintf("%s is not in the help of %q", f.Name, f.Command))
		}
	}
	if len(r.Flags) > 0 {
		p.field("flags", fmt.Sprintf("%d of %d are in its help", len(r.Flags)-missing, len(r.Flags)))
	}
}

func sayStarted(p *printer, s harness.Started, failed error) {
	if failed != nil {
		p.field("start", failed.Error())
		p.field("its window", strings.TrimSpace(s.Screen))
		return
	}
	end := "and it ended with its window"
	if !s.Ended {
		end = "but it did not end with its window"
	}
	p.field("start", fmt.Sprintf("its prompt arrived after %s, %s", inWords(s.Arrived), end))
}
