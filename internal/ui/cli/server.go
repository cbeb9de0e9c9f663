package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/api/socket"
	"orange/internal/rules/task"
)

func serverCommands(p *Program) *cobra.Command {
	return p.group("server", "The process that serves a home in the background",
		"  orange server status\n  orange server stop", serverStatus, serverStop)
}

func serverStatus(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which process serves the home", Args: between(0, 0),
		Long: `Show which process serves the home. A command of a person below "orange task" starts one where there
is none. It does such commands of all who ask, performs hooks, watches over the agents, and ends
ten minutes after the last command, if no task is live. Where there is none, each command does its
work by itself.`,
		Example: "  orange server status",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			s, err := h.Monitor.Server(ctx)
			none := errors.Is(err, socket.ErrNoServer)
			if err != nil && !none {
				return err
			}
			if p.json {
				answer := map[string]any{"serves": !none}
				if !none {
					answer["pid"], answer["since"], answer["calls"] = s.PID, task.FormatTime(s.Since), s.Calls
					answer["watches"] = !s.Heard.IsZero()
				}
				return p.printJSON(answer)
			}
			if none {
				p.say("no process serves the home; the next command of a person starts one")
				return p.flush()
			}
			watches := ""
			if !s.Heard.IsZero() {
				watches = ", and watches over the agents"
			}
			p.say("process %d serves the home since %s%s; calls under way: %d", s.PID, p.clock(s.Since, time.DateTime),
				watches, s.Calls)
			return p.flush()
		}),
	}
}

func serverStop(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "End the process that serves the home; agents live on", Args: between(0, 0),
		Example: "  orange server stop",
		RunE: p.runForPerson("end the server", func(ctx context.Context, h *Services, _ []string) error {
			if err := h.Monitor.EndServer(ctx); err != nil {
				return err
			}
			if p.json {
				return p.printJSON(map[string]any{"serves": false})
			}
			p.say("no process serves the home")
			return p.flush()
		}),
	}
}
