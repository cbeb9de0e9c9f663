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
		"  orange server status\n  orange server restart\n  orange server stop",
		serverStatus, serverRestart, serverStop)
}

func serverStatus(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which process serves the home", Args: between(0, 0),
		Long: `Show which process serves the home. A command of a person below "orange task" starts one where there
is none. It does such commands of all who ask, performs hooks, watches over the agents, and ends
ten minutes after the last command, if no task is live. Where there is none, each command does its
work by itself.`,
		Example: "  orange server status",
		RunE:    p.run(func(ctx context.Context, h *Services, _ []string) error { return p.showServer(ctx, h) }),
	}
}

// showServer prints how the server of the home is.
func (p *Program) showServer(ctx context.Context, h *Services) error {
	s, err := h.Monitor.Server(ctx)
	none := errors.Is(err, socket.ErrNoServer)
	if err != nil && !none {
		return err
	}
	watches := ""
	if !s.Heard.IsZero() {
		watches = ", and watches over the agents"
	}
	switch {
	case p.json && none:
		return p.printJSON(map[string]any{"serves": false})
	case p.json:
		return p.printJSON(map[string]any{"serves": true, "pid": s.PID, "since": task.FormatTime(s.Since),
			"calls": s.Calls, "watches": watches != ""})
	case none:
		p.say("no process serves the home; the next command of a person starts one")
	default:
		p.say("process %d serves the home since %s%s; calls under way: %d", s.PID, p.clock(s.Since, time.DateTime),
			watches, s.Calls)
	}
	return p.flush()
}

func serverRestart(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Start another process that serves the home; agents live on", Args: between(0, 0),
		Long: `End the process that serves the home as "orange server stop" does, and start another one. One that
does not answer writes into the log what it does, if it still can, and is killed: nothing that was
answered is lost.`,
		Example: "  orange server restart",
		RunE: p.runForPerson("end the server", func(ctx context.Context, h *Services, _ []string) error {
			if err := h.Monitor.RestartServer(ctx); err != nil {
				return err
			}
			return p.showServer(ctx, h)
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
