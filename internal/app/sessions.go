package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"orange/internal/hook"
	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/tmux"
)

// sessions lends the tmux room to the hooks.
type sessions struct{ house *house }

const (
	typingPatience = 30 * time.Second // how long a notice waits for a safe moment
	typingQuiet    = 10 * time.Second // how long an attached person's keys must rest
)

func (s sessions) Panes(ctx context.Context) ([]hook.Pane, error) {
	panes, err := s.house.server.Panes(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]hook.Pane, len(panes))
	for i, p := range panes {
		out[i] = pane(p)
	}
	return out, nil
}

func pane(p tmux.Pane) hook.Pane {
	return hook.Pane{
		Session: p.Session, SessionID: p.SessionID, WindowID: p.WindowID, ID: p.ID, PID: p.PID,
		Task: p.Task, Role: p.Role, Hook: p.Hook, Seat: p.Seat, Dead: p.Dead,
	}
}

func (s sessions) Start(ctx context.Context, start hook.Start) (hook.Pane, error) {
	if err := s.house.configureTmux(); err != nil {
		return hook.Pane{}, err
	}
	p, err := s.house.server.Start(ctx, tmux.Start{
		Task: start.Task, Role: start.Role, Hook: start.Hook, Seat: start.Seat,
		Session: tmux.SafeName(start.Session), Window: start.Window,
		Dir: start.Dir, Argv: start.Argv,
	})
	return pane(p), err
}

func (s sessions) KillWindow(ctx context.Context, id string) error {
	return s.house.server.KillWindow(ctx, id)
}

func (s sessions) KillSession(ctx context.Context, id string) error {
	return s.house.server.KillSession(ctx, id)
}

// Rename gives the session of a task the name that goes with its branch.
func (s sessions) Rename(ctx context.Context, t task.Task) (string, error) {
	return s.house.server.Rename(ctx, t.ID, t.SessionName())
}

func (s sessions) Type(ctx context.Context, pane, text string, t hook.Typing) error {
	return s.house.server.Type(ctx, pane, text, tmux.Typing{
		Ready: t.Ready, Dialog: t.Dialog, Pause: t.Pause, Patience: typingPatience, Quiet: typingQuiet,
	})
}

// configureTmux writes the server's configuration before the first session needs it.
func (h *house) configureTmux() error {
	config, err := h.home.Config()
	if err != nil {
		return err
	}
	want := []byte(tmux.Configuration(config.TmuxConfig))
	have, err := os.ReadFile(h.server.Config)
	if err == nil && string(have) == string(want) {
		return nil
	}
	temporary := fmt.Sprintf("%s.%d", h.server.Config, os.Getpid())
	if err := os.WriteFile(temporary, want, task.PrivateFile); err != nil {
		return fmt.Errorf("write the configuration of tmux: %w", err)
	}
	if err := os.Rename(temporary, h.server.Config); err != nil {
		return fmt.Errorf("write the configuration of tmux: %w", err)
	}
	return nil
}

// Sessions tells how the agents of tasks' statuses are, with one call of tmux for all: a status that has a role
// is as alive as the agent of that role, another one as any agent of the task. "Could not look" is unknown, never
// dead.
func (h *house) Sessions(ctx context.Context, tasks []task.Task) (map[string]string, error) {
	states, _, err := h.lookAtSessions(ctx, tasks)
	return states, err
}

// lookAtSessions is Sessions with the panes that were seen: none where nobody looked, or could not.
func (h *house) lookAtSessions(ctx context.Context, tasks []task.Task) (map[string]string, []tmux.Pane, error) {
	states := map[string]string{}
	asked := false
	for _, t := range tasks {
		states[t.ID] = record.AgentNone
		if t.Session != "" {
			states[t.ID], asked = record.AgentDead, true
		}
	}
	if !asked {
		return states, nil, nil
	}
	panes, err := h.server.Panes(ctx)
	if err != nil {
		for _, t := range tasks {
			if t.Session != "" {
				states[t.ID] = record.AgentUnknown
			}
		}
		return states, nil, nil
	}
	living := map[string]bool{}
	for _, p := range panes {
		if !p.Dead && p.Role != "" {
			living[p.Task], living[p.Task+" "+p.Role] = true, true
		}
	}
	for _, t := range tasks {
		if !living[t.ID] {
			continue
		}
		def, err := h.home.Pinned(ctx, t.Workflow)
		if err != nil {
			// which of its windows should live is not known; whoever reads the rules is told why
			states[t.ID] = record.AgentUnknown
			continue
		}
		if state, _ := def.State(t.Status); state.Role == "" || living[t.ID+" "+state.Role] {
			states[t.ID] = record.AgentAlive
		}
	}
	return states, panes, nil
}

// agents lists the windows of a task's agents.
func (h *house) agents(ctx context.Context, id string) ([]tmux.Pane, error) {
	panes, err := h.server.Panes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the sessions: %w", err)
	}
	var own []tmux.Pane
	for _, p := range panes {
		if p.Task == id && p.Role != "" {
			own = append(own, p)
		}
	}
	return own, nil
}

// Attach shows a person the window of a role; without a role that of the present status, else any.
// Without run it only answers the command.
func (h *house) Attach(ctx context.Context, id, role string, run bool) ([]string, error) {
	s, err := h.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	own, err := h.agents(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("cannot attach to task %s: it has no session; start it with %q, or again with %q",
			id, "orange task spawn "+id, "orange task respawn "+id)
	}
	wanted := role
	if wanted == "" {
		def, err := h.home.Pinned(ctx, s.Task.Workflow)
		if err != nil {
			return nil, err
		}
		state, _ := def.State(s.Task.Status)
		wanted = state.Role
	}
	chosen := own[0]
	found := false
	for _, p := range own {
		if p.Role == wanted {
			chosen, found = p, true
		}
	}
	if role != "" && !found {
		return nil, task.Notef(task.ErrNotFound, "cannot attach to the %s of task %s: it has no such window", role, id)
	}
	command := h.server.Attach(chosen.Session, chosen.WindowID, os.Environ())
	if run {
		err = h.sit(ctx, id, chosen, command)
	}
	return append([]string{command.Name}, command.Args...), err
}

// sit gives the terminal to a window until the person leaves it. That the window is gone says more than how tmux ended.
func (h *house) sit(ctx context.Context, id string, window tmux.Pane, command proc.Command) error {
	err := proc.Interactive(ctx, command)
	if err == nil || ctx.Err() != nil {
		return err
	}
	left, look := h.agents(ctx, id)
	if look == nil && !slices.ContainsFunc(left, func(p tmux.Pane) bool { return p.ID == window.ID }) {
		return fmt.Errorf("the terminal of the %s has ended while you were there; start it again with %q",
			window.Role, "orange task respawn "+id)
	}
	return err
}

// processes lends the process room to the hooks.
type processes struct{}

// grace is how long an agent has to end by itself.
const grace = 3 * time.Second

func (processes) Began(pid int) (string, error) {
	p, err := proc.Lookup(pid)
	return p.Started, err
}

func (processes) EndGroup(ctx context.Context, pid int) error { return proc.EndGroup(ctx, pid, grace) }

func (processes) EndStrays(ctx context.Context, environment ...string) error {
	strays, err := proc.WithEnvironment(environment...)
	if err != nil {
		return err
	}
	return proc.End(ctx, strays, grace)
}

func (processes) Alive(w task.Waiter) (bool, error) {
	return proc.Alive(proc.Process{PID: w.PID, Started: w.Began})
}

func (processes) Find(program, path string) error {
	_, err := proc.Find(program, path)
	return err
}

// programs lends the process room's bounds to the hooks.
type programs struct{}

func (programs) Run(ctx context.Context, p hook.Program) (hook.Ended, error) {
	c := proc.Command{Name: p.Argv[0], Args: p.Argv[1:], Dir: p.Dir, Env: p.Env}
	ended, err := proc.RunLimited(ctx, c, proc.Limits{Time: p.Time, Memory: p.Memory, Output: p.Output})
	said := ended.Output
	if ended.Cut {
		said = "... " + said
	}
	return hook.Ended{Status: ended.Code, Output: said, TimedOut: ended.TimedOut, OutOfMemory: ended.OutOfMemory}, err
}
