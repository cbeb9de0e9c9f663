package simulate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// Agent is an agent program that was started.
type Agent struct {
	Task      string
	PID       int
	Role      string
	Hook      int64  // the hook that started it
	Seat      string // the hash of its secret
	Secret    string
	Workspace string
	Session   string
	Window    string // empty once it is closed
	Alive     bool
	ByItself  bool // no hook ended it
	Ending    task.Ending
	Limit     task.Limit // at which it ended, if that was why
	Noted     bool       // its launcher left a note of its end
	Touched   time.Time

	script
}

// Began is when its process began, in the notation of this world.
func (a *Agent) Began() string { return "began " + strconv.Itoa(a.PID) }

func (a *Agent) String() string { return fmt.Sprintf("the %s %d of hook %d", a.Role, a.PID, a.Hook) }

// agent is the oldest agent of a kind; nil if there is none.
func (w *World) agent(is func(*Agent) bool) *Agent {
	if at := slices.IndexFunc(w.Agents, is); at >= 0 {
		return w.Agents[at]
	}
	return nil
}

// Started is the agent that a hook has started; nil if there is none.
func (w *World) Started(hook int64) *Agent {
	return w.agent(func(a *Agent) bool { return a.Hook == hook })
}

// Living is the living agent of a role of a task; nil if there is none.
func (w *World) Living(id, role string) *Agent {
	return w.agent(func(a *Agent) bool { return a.Alive && a.Task == id && a.Role == role })
}

// process is the agent with a process number; nil if there is none.
func (w *World) process(pid int) *Agent { return w.agent(func(a *Agent) bool { return a.PID == pid }) }

// AllLiving are the agents that live, the oldest first.
func (w *World) AllLiving() []*Agent {
	var out []*Agent
	for _, a := range w.Agents {
		if a.Alive {
			out = append(out, a)
		}
	}
	return out
}

// Terminal is what a monitor sees of agents.
type Terminal struct{ v ProcessView }

// Terminal is that of all agents.
func (v ProcessView) Terminal() Terminal { return Terminal{v} }

// look is a step that finds something out about agents, and may fail.
func look[T any](t Terminal, find func() T) (T, error) {
	return take(t.v.Process, Step{What: "it looks at the windows"}, func() (T, error) {
		if err := t.v.Process.Fail("a look at the windows"); err != nil {
			var none T
			return none, err
		}
		return find(), nil
	})
}

// Panes are the windows of agents, dead or alive.
func (t Terminal) Panes(context.Context) ([]tmux.Pane, error) {
	return look(t, func() []tmux.Pane {
		var out []tmux.Pane
		for _, a := range t.v.Agents {
			if a.Window != "" {
				out = append(out, a.Pane())
			}
		}
		return out
	})
}

// Pane is the agent's window.
func (a *Agent) Pane() tmux.Pane {
	return tmux.Pane{
		Session: a.Session, SessionID: "$" + a.Task, WindowID: a.Window, ID: "%" + strconv.Itoa(a.PID), PID: a.PID,
		Task: a.Task, Role: a.Role, Hook: strconv.FormatInt(a.Hook, 10), Seat: a.Seat,
		Dead: !a.Alive, Ending: a.Ending, Activity: a.Touched,
	}
}

// KillWindow does nothing: a window that stays open is never in the way.
func (t Terminal) KillWindow(context.Context, string) error { return nil }

// Watch cannot watch.
func (t Terminal) Watch(context.Context, task.Process) error { return errors.ErrUnsupported }

// Alive reports whether an agent lives.
func (t Terminal) Alive(p task.Process) (bool, error) {
	return look(t, func() bool {
		a := t.v.process(p.PID)
		return a != nil && a.Alive
	})
}

// Orphaned reports whether an agent has no window.
func (t Terminal) Orphaned(p task.Process) (bool, error) {
	a := t.v.process(p.PID)
	return a == nil || a.Window == "", nil
}

// EndGroup does nothing: closing a window ends its agent.
func (t Terminal) EndGroup(context.Context, int) error { return nil }

// Ending is the note of an agent's launcher.
func (t Terminal) Ending(hook int64, _ string) (end task.Ending, found bool, err error) {
	end, err = look(t, func() (end task.Ending) {
		if a := t.v.Started(hook); a != nil && a.Noted && !a.Alive {
			end, found = a.Ending, true
		}
		return end
	})
	return end, found, err
}

// Notes announces none.
func (t Terminal) Notes(context.Context, func(int64)) error { return nil }

// Touched is when an agent did something last.
func (t Terminal) Touched(context.Context, task.Task) (time.Time, error) {
	return look(t, func() (last time.Time) {
		for _, a := range t.v.Agents {
			if a.Touched.After(last) {
				last = a.Touched
			}
		}
		return last
	})
}

// Known reports that every task has a folder.
func (t Terminal) Known(string) (bool, error) { return true, nil }

// Stamps are none: each process looks at everything when it begins.
func (t Terminal) Stamps() map[string]uint64 { return map[string]uint64{} }

// KeepStamps keeps nothing.
func (t Terminal) KeepStamps(map[string]uint64) error { return nil }

// Stamp changes with every header of TASK.md, and with the version of the task.
func (t Terminal) Stamp(one *task.Task) uint64 {
	text, _ := t.v.Folders.Read(one.Project, one.ID, false)
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d %s", one.Version, text)
	return sum.Sum64()
}

// LastWords are those of the limit at which the agent ended.
func (t Terminal) LastWords(_ context.Context, death task.Death) (string, error) {
	if a := t.v.Started(death.Hook); a != nil {
		return a.Limit.Line, nil
	}
	return "", nil
}

// Lost is nothing: the simulated terminal is never lost.
func (Terminal) Lost(context.Context, task.Death, time.Time) (with, resume string, _ error) {
	return "", "", nil
}

// Limit is the one at which the agent ended.
func (t Terminal) Limit(_ task.Task, death task.Death, _ []history.Event, _ time.Time) (task.Limit, error) {
	if a := t.v.Started(death.Hook); a != nil {
		return a.Limit, nil
	}
	return task.Limit{}, nil
}

// Living finds none: no task of this world comes back from its files.
func (Terminal) Living(context.Context) (map[string][]record.Seat, error) { return nil, nil }

// Rename renames nothing: sessions have no names.
func (Terminal) Rename(context.Context, task.Task) (string, error) { return "", nil }

// Waits reports that no command waits.
func (Terminal) Waits(context.Context, task.Task, string) (bool, error) { return false, nil }

// Say reaches no agent.
func (Terminal) Say(context.Context, task.Task, string, string, string, func(context.Context) error) error {
	return task.ErrNotFound
}
