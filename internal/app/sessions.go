package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/tmux"
)

// terminal is the tmux server of the home, which gets its configuration before a session needs it.
type terminal struct {
	tmux.Server
	configure func() error
}

func (t terminal) Start(ctx context.Context, start tmux.Start) (tmux.Pane, error) {
	if err := t.configure(); err != nil {
		return tmux.Pane{}, err
	}
	return t.Server.Start(ctx, start)
}

// sessions gives the session of a task the name that goes with its branch.
type sessions struct{ tmux.Server }

func (s sessions) Rename(ctx context.Context, t task.Task) (string, error) {
	return s.Server.Rename(ctx, t.ID, t.SessionName())
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

// grace is how long an agent has to end by itself.
const grace = 3 * time.Second
