// Package agents reads how the agents of tasks are, from the windows of the terminal server, and starts them there.
//
// "Could not look" is an error or unknown here, and never "dead".
package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

// Setup has the workflows of tasks and the harnesses that a person has set up.
type Setup interface {
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	Harness(name string) (*harness.Harness, error)
}

// Record is what is read of it.
type Record interface {
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	// UnderWay lists the hooks of all tasks whose attempts began before a time and have not ended.
	UnderWay(ctx context.Context, since time.Time) ([]task.OwedHook, error)
	// Refusals are those of a task's agents in its present stay.
	Refusals(ctx context.Context, id string) (record.Refusals, error)
}

// Observer reads how agents are. Every field is required.
type Observer struct {
	*tmux.Server
	Setup  Setup
	Record Record
	// Configure writes the configuration of the terminal server, which a session needs.
	Configure func() error
	// Resume is what the person wants with agents that ended with their terminal server, in record's words.
	Resume func() (string, error)
	// Touched is when a task's document, branch or worktree last changed.
	Touched func(ctx context.Context, t task.Task) (time.Time, error)
	// Messages is where a person reads what is said before a window opens.
	Messages io.Writer
}

// Start starts an agent in a window of its task's session.
func (o *Observer) Start(ctx context.Context, start tmux.Start) (tmux.Pane, error) {
	if err := o.Configure(); err != nil {
		return tmux.Pane{}, err
	}
	return o.Server.Start(ctx, start)
}

// Rename gives the session of a task the name that goes with its branch.
func (o *Observer) Rename(ctx context.Context, t task.Task) (string, error) {
	return o.Server.Rename(ctx, t.ID, t.SessionName())
}

// States has how the agents of tasks' statuses are, with one call of tmux for all: a status that has a role is as
// alive as the agent of that role, another one as any agent of the task. The panes are those that were seen: none
// where tmux was not asked, or could not answer. With an error, why it could not, it has what is known.
func (o *Observer) States(ctx context.Context, tasks []task.Task) (map[string]string, []tmux.Pane, error) {
	states := make(map[string]string, len(tasks))
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
	panes, err := o.Panes(ctx)
	if err != nil {
		for _, t := range tasks {
			if t.Session != "" {
				states[t.ID] = record.AgentUnknown
			}
		}
		return states, nil, err
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
		role, known := o.roleOf(ctx, &t)
		switch {
		case !known: // which of its windows should live is not known
			states[t.ID] = record.AgentUnknown
		case role == "" || living[t.ID+" "+role]:
			states[t.ID] = record.AgentAlive
		}
	}
	return states, panes, nil
}

// Of lists the windows of a task's agents.
func (o *Observer) Of(ctx context.Context, id string) ([]tmux.Pane, error) {
	own, err := o.PanesOf(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("look at the sessions: %w", err)
	}
	return slices.DeleteFunc(own, func(p tmux.Pane) bool { return p.Role == "" }), nil
}

// Texts are what the windows of a task's agents show now, without colours.
func (o *Observer) Texts(ctx context.Context, id string) ([]record.AgentScreen, error) {
	panes, err := o.Of(ctx, id)
	var out []record.AgentScreen
	for _, one := range panes {
		text, unread := o.Capture(ctx, one.ID, 0)
		if errors.Is(unread, tmux.ErrEnded) {
			continue // it has gone since it was listed
		}
		err = errors.Join(err, unread)
		out = append(out, record.AgentScreen{Role: one.Role, Window: one.Window, Ended: one.Dead, Text: text})
	}
	return out, err
}

// Lives makes the function that reports whether the window of a task's role has a living program.
func (o *Observer) Lives(ctx context.Context) func(task.Task, string) (bool, error) {
	return func(t task.Task, role string) (bool, error) {
		own, err := o.Of(ctx, t.ID)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(own, func(p tmux.Pane) bool { return p.Role == role && !p.Dead }), nil
	}
}

// Living are the agents whose windows are there and whose programs run, as the seats that they had, by their tasks'
// ids.
func (o *Observer) Living(ctx context.Context) (map[string][]record.Seat, error) {
	panes, err := o.Panes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the sessions: %w", err)
	}
	out := map[string][]record.Seat{}
	for _, p := range panes {
		if p.Dead || p.Task == "" || p.Role == "" {
			continue
		}
		started, err := proc.Lookup(p.PID)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		if err != nil {
			return nil, err
		}
		seat := record.Seat{Task: p.Task, Role: p.Role, PID: p.PID, Hook: p.HookID(), Began: started.Began}
		if harness.IsSeat(p.Seat) {
			seat.Hash = p.Seat
		}
		out[p.Task] = append(out[p.Task], seat)
	}
	return out, nil
}

// lastWords is how many lines of a dead agent's window are kept.
const lastWords = 20

// LastWords are the last lines of a dead agent's window.
func (o *Observer) LastWords(ctx context.Context, death task.Death) (string, error) {
	own, err := o.PanesOf(ctx, death.Task)
	if err != nil {
		return "", err
	}
	for _, p := range own {
		if p.Role == death.Role && p.HookID() == death.Hook {
			return o.Server.LastWords(ctx, p.ID, lastWords)
		}
	}
	return "", nil
}

// Limit is what a dead agent's last words say of the limit of its provider; zero where they say nothing of one.
func (o *Observer) Limit(t task.Task, death task.Death, events []history.Event, now time.Time) (task.Limit, error) {
	program, err := o.Setup.Harness(history.HarnessFor(t, death.Role, events))
	if err != nil {
		return task.Limit{}, err
	}
	limit := task.Limit{Line: program.Limit(death.LastWords), Provider: program.Provider}
	if at, said := harness.LimitTime(limit.Line, now, time.LoadLocation); said {
		limit.Until = at
	}
	return limit, nil
}

// Attach shows a person the window of a role; without a role that of the task's status, else any.
// Without run it only answers the command.
func (o *Observer) Attach(ctx context.Context, t task.Task, role string, run bool) ([]string, error) {
	own, err := o.Of(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("cannot attach to task %s: it has no session; start it with %q, or again with %q",
			t.ID, "orange task spawn "+t.ID, "orange task respawn "+t.ID)
	}
	wanted := role
	if wanted == "" {
		def, err := o.Setup.Pinned(ctx, t.Workflow)
		if err != nil {
			return nil, err
		}
		state, _ := def.State(t.Status)
		wanted = state.Role
	}
	chosen := own[0]
	found := false
	var roles []string
	for _, p := range own {
		roles = append(roles, p.Role)
		if p.Role == wanted {
			chosen, found = p, true
		}
	}
	if role != "" && !found {
		return nil, task.Notef(task.ErrNotFound, "cannot attach to the %s of task %s: it has no such window%s", role,
			t.ID, yaml.Guess(role, roles))
	}
	command, err := o.Server.Attach(chosen.Session, chosen.WindowID)
	if err == nil && run {
		err = o.interact(ctx, t.ID, chosen, command)
	}
	return append([]string{command.Name}, command.Args...), err
}

// interact gives the terminal to a window until the person leaves it. That the window is gone says more than how
// tmux ended.
func (o *Observer) interact(ctx context.Context, id string, window tmux.Pane, command proc.Command) error {
	err := tmux.Open(ctx, command, func(line string) { fmt.Fprintf(o.Messages, "orange: %s\n", line) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	left, look := o.Of(ctx, id)
	if look == nil && !slices.ContainsFunc(left, func(p tmux.Pane) bool { return p.ID == window.ID }) {
		return fmt.Errorf("the terminal of the %s has ended while you were there; start it again with %q",
			window.Role, "orange task respawn "+id)
	}
	return err
}
