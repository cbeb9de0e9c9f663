package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func monitorCommand(p *Program) *cobra.Command {
	var once bool
	var unit string
	c := &cobra.Command{
		Use: "monitor", Short: "Watch the agents, act on their ends as the workflow says, and perform pending hooks",
		Args: between(0, 0),
		Long: `Be the server of the home in the foreground, until you stop it. One in the background does the same,
and your commands start it: see "orange server status".

It notices a dead agent at once, and applies the exit rules of its task's workflow. It tries failed
hooks again, starts tasks that wait for a workspace, and repairs files that differ from the record.

One process serves a home. A monitor takes the place of a server in the background. A second monitor
waits until the first one ends, and reports it if the first one is stopped. With --once the server
does what there is to do now, if it does not watch anyway.`,
		Example: `  orange monitor
  orange monitor --once
  orange monitor --print-unit=systemd > ~/.config/systemd/user/orange-monitor.service`,
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			if unit != "" && once {
				return usage("--once watches and --print-unit does not: name one of them")
			}
			if unit != "" {
				text, err := h.Monitor.Unit(unit)
				if err != nil {
					return err
				}
				return p.print(text)
			}
			if err := h.Identity.Person(ctx, "watch over the agents"); err != nil {
				return err
			}
			p.lend()
			var told []string
			say := func(line string) {
				if p.json && once {
					told = append(told, line)
					return
				}
				fmt.Fprintf(p.Err, "%s %s\n", p.clock(time.Now(), time.TimeOnly), line)
			}
			if !once {
				return h.Monitor.Run(ctx, say)
			}
			if err := h.Monitor.Once(ctx, say); err != nil || !p.json {
				return err
			}
			return p.printJSON(map[string]any{"told": append([]string{}, told...)})
		}),
	}
	c.Flags().BoolVar(&once, "once", false, "do what there is to do now, and end (for cron)")
	c.Flags().StringVar(&unit, "print-unit", "",
		"print a unit that keeps a monitor running: systemd or launchd; both without a value")
	c.Flags().Lookup("print-unit").NoOptDefVal = "all"
	return c
}

// serveCommand is what a command starts in the background where no process serves the home.
func serveCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve a home as long as it is needed", Args: between(0, 0), Hidden: true,
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			return h.Monitor.Serve(ctx, func() error {
				p.say("ready")
				return p.flush()
			})
		}),
	}
}
