package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"orange/internal/harness"
	"orange/internal/monitor"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/internal/worktree"
)

// agent is a program in a terminal's window.
type agent struct {
	pid        int
	task, role string
	hook       int64
	hash       string
	secret     string
	workspace  string
	window     string // empty once it is gone
	session    string
	alive      bool
	byItself   bool // it died of itself, and no hook ended it
	ending     task.Ending
	noted      bool // its launcher left a note of its end
}

func (a *agent) began() string { return "began " + strconv.Itoa(a.pid) }

func (a *agent) String() string {
	return fmt.Sprintf("the %s %d of hook %d", a.role, a.pid, a.hook)
}

// ends is the end of an agent and of the commands that it was waiting for.
func (s *sim) ends(a *agent, byItself bool) {
	if !a.alive {
		return
	}
	a.alive, a.byItself = false, byItself
	s.tell(nil, fmt.Sprintf("%v of %s ends, by itself: %v", a, s.short(a.task), byItself))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.programs {
		if p.under == a && (!byItself || s.calm || s.dice.IntN(2) == 0) {
			s.kill(p)
		}
	}
}

func (s *sim) agentOf(hook int64) *agent {
	for _, a := range s.agents {
		if a.hook == hook {
			return a
		}
	}
	return nil
}

// living is the living agent of a role of a task.
func (s *sim) living(id, role string) *agent {
	for _, a := range s.agents {
		if a.alive && a.task == id && a.role == role {
			return a
		}
	}
	return nil
}

// tower is what a monitor sees of terminals, processes and traces.
type tower struct{ p *process }

// terminal is the windows and the programs in them, for hooks.
type terminal struct{ p *process }

func (w terminal) Panes(context.Context) ([]tmux.Pane, error) {
	return at(w.p, "look at the windows", func() ([]tmux.Pane, error) {
		var out []tmux.Pane
		for _, a := range w.p.sim.agents {
			if a.window != "" {
				out = append(out, a.pane())
			}
		}
		return out, w.p.troubled("look at the windows")
	})
}

func (a *agent) pane() tmux.Pane {
	return tmux.Pane{
		Session: a.session, SessionID: "$" + a.task, WindowID: a.window, ID: "%" + strconv.Itoa(a.pid), PID: a.pid,
		Task: a.task, Role: a.role, Hook: strconv.FormatInt(a.hook, 10), Seat: a.hash, Dead: !a.alive,
	}
}

func (w terminal) Start(_ context.Context, start tmux.Start) (tmux.Pane, error) {
	s := w.p.sim
	return at(w.p, fmt.Sprintf("start the %s of %s", start.Role, s.short(start.Task)), func() (tmux.Pane, error) {
		if err := w.p.troubled("start an agent"); err != nil {
			return tmux.Pane{}, err
		}
		id, err := strconv.ParseInt(start.Hook, 10, 64)
		if err != nil {
			return tmux.Pane{}, err
		}
		a := &agent{
			pid: 1000 + len(s.agents), task: start.Task, role: start.Role, hook: id, hash: start.Seat,
			workspace: start.Dir, session: start.Session, alive: true,
		}
		a.window = "@" + strconv.Itoa(a.pid)
		if a.secret, err = secretOf(start.Argv[2]); err != nil {
			return tmux.Pane{}, err
		}
		s.serves(w.p.whose)
		whose := s.server.base
		if kept := s.server.kept[a.task]; kept != "" {
			whose = kept
		}
		s.opens(a)
		s.starts(a)
		s.ran(ranAgent, a.task, whose, w.p)
		s.agents = append(s.agents, a)
		s.figures.agents++
		return a.pane(), nil
	})
}

// secretOf reads a ticket as the launcher of an agent does.
func secretOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var ticket harness.Ticket
	if err := json.Unmarshal(text, &ticket); err != nil {
		return "", err
	}
	for _, pair := range ticket.Set {
		if secret, found := strings.CutPrefix(pair, "ORANGE_SEAT="); found {
			return secret, nil
		}
	}
	return "", errors.New("a ticket without a seat")
}

func (w terminal) KillWindow(_ context.Context, id string) error {
	return w.close("end window "+id, func(a *agent) bool { return a.window == id })
}

func (w terminal) KillSession(_ context.Context, id string) error {
	return w.close("end session of "+w.p.sim.short(id[1:]), func(a *agent) bool { return "$"+a.task == id })
}

// close ends windows. Some programs survive the end of their terminal.
func (w terminal) close(what string, which func(*agent) bool) error {
	s := w.p.sim
	return act(w.p, what, func() error {
		if err := w.p.troubled(what); err != nil {
			return err
		}
		for _, a := range s.agents {
			if a.window == "" || !which(a) {
				continue
			}
			a.window = ""
			if s.dice.IntN(4) != 0 {
				s.ends(a, false)
			}
		}
		s.idles()
		return nil
	})
}

func (w terminal) Type(_ context.Context, pane, _ string, _ tmux.Typing) error {
	return act(w.p, "type into "+pane, func() error { return w.p.troubled("type") })
}

func (w terminal) Lookup(pid int) (task.Process, error) {
	for _, a := range w.p.sim.agents {
		if a.pid == pid && a.alive {
			return task.Process{PID: pid, Began: a.began()}, nil
		}
	}
	return task.Process{}, errors.New("no such process")
}

func (w terminal) EndGroup(_ context.Context, pid int) error {
	return w.end("end the programs of "+strconv.Itoa(pid), func(a *agent) bool { return a.pid == pid })
}

func (w terminal) EndMarked(_ context.Context, environment ...string) error {
	id, role := "", ""
	for _, pair := range environment {
		if value, found := strings.CutPrefix(pair, "ORANGE_TASK_ID="); found {
			id = value
		}
		if value, found := strings.CutPrefix(pair, "ORANGE_ROLE="); found {
			role = value
		}
	}
	return w.end("end strays of "+w.p.sim.short(id)+" "+role, func(a *agent) bool {
		return a.task == id && (role == "" || a.role == role)
	})
}

func (w terminal) end(what string, which func(*agent) bool) error {
	s := w.p.sim
	return act(w.p, what, func() error {
		if err := w.p.troubled(what); err != nil {
			return err
		}
		for _, a := range s.agents {
			if which(a) {
				s.ends(a, false)
			}
		}
		return nil
	})
}

func (w terminal) Alive(one task.Process) (bool, error) {
	return at(w.p, "look whether "+strconv.Itoa(one.PID)+" lives", func() (bool, error) {
		return w.p.sim.lives(one), nil
	})
}

func (s *sim) lives(one task.Process) bool {
	if one.PID >= 1000 {
		for _, a := range s.agents {
			if a.pid == one.PID {
				return a.alive
			}
		}
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.programs {
		if p.number == one.PID {
			return !p.dead && !p.ended
		}
	}
	return false
}

func (w terminal) FindProgram(name, _ string) (string, error) { return name, nil }

// pool is the workspaces.
type pool struct{ p *process }

func (w pool) Prepare(_ context.Context, t task.Task) ([]string, error) {
	s := w.p.sim
	return at(w.p, "prepare "+t.Workspace+" for "+s.short(t.ID), func() ([]string, error) {
		if err := w.p.troubled("prepare a workspace"); err != nil {
			return nil, err
		}
		s.empties(t)
		s.slots[t.Workspace] = t.ID
		s.remote[t.ID] = true
		return nil, nil
	})
}

func (w pool) View(_ context.Context, t task.Task) (worktree.View, error) {
	return worktree.View{Dir: t.Workspace, Base: "main", TaskFile: "TASK.md"}, nil
}

func (w pool) Equip(context.Context, task.Task, []harness.File, []string) error { return nil }

func (w pool) Release(_ context.Context, t task.Task) ([]string, error) {
	s := w.p.sim
	return at(w.p, "release "+t.Workspace+" of "+s.short(t.ID), func() ([]string, error) {
		if err := w.p.troubled("release a workspace"); err != nil {
			return nil, err
		}
		for _, a := range s.agents {
			if a.alive && a.workspace == t.Workspace {
				s.breaks("the workspace %s is taken away from under %v of %s", t.Workspace, a, s.short(a.task))
			}
		}
		delete(s.slots, t.Workspace)
		return nil, nil
	})
}

func (w pool) DeleteRemoteBranch(_ context.Context, t task.Task, _ string) (string, error) {
	s := w.p.sim
	return at(w.p, "delete the branch of "+s.short(t.ID)+" on origin", func() (string, error) {
		if err := w.p.troubled("reach origin"); err != nil || !s.remote[t.ID] {
			return "", err
		}
		delete(s.remote, t.ID)
		return t.Branch, nil
	})
}

func (w pool) Push(_ context.Context, t task.Task) (string, bool, error) {
	w.p.sim.breaks("the branch of %s is pushed, and no workflow here asks for that", w.p.sim.short(t.ID))
	return "", false, nil
}

type setup struct{ p *process }

func (w setup) Harness(name string) (*harness.Harness, error) { return w.p.sim.law.agents[name], nil }
func (w setup) TaskDir(t task.Task) string                    { return w.p.sim.files.Dir(t.Project, t.ID) }
func (w setup) Document(task.Task) ([]byte, error)            { return nil, nil }

// watch is the real monitor in the pretended world.
func (s *sim) watch(p *process) *monitor.Monitor {
	w := tower{p}
	return &monitor.Monitor{
		Sessions: w, Processes: w, Traces: w, Record: recordPort{p}, Engine: p.engine, Keeper: p.engine,
		Rules: p.engine.Rules.(rules),
		Tell:  func(context.Context, task.Task, string) {}, Now: time.Now, Log: p.engine.Log, Stall: 15 * time.Minute,
	}
}

func (w tower) Panes(context.Context) ([]tmux.Pane, error) {
	return at(w.p, "look at all windows", func() ([]tmux.Pane, error) {
		var out []tmux.Pane
		for _, a := range w.p.sim.agents {
			if a.window != "" {
				out = append(out, tmux.Pane{WindowID: a.window, Task: a.task, Role: a.role,
					Hook: strconv.FormatInt(a.hook, 10), Dead: !a.alive, Ending: a.ending, Activity: time.Now()})
			}
		}
		return out, w.p.troubled("look at all windows")
	})
}

func (w tower) KillWindow(ctx context.Context, id string) error {
	return terminal(w).KillWindow(ctx, id)
}

func (w tower) Watch(context.Context, task.Process) error { return errors.ErrUnsupported }

func (w tower) Alive(one task.Process) (bool, error) { return terminal(w).Alive(one) }

func (w tower) Orphaned(one task.Process) (bool, error) {
	for _, a := range w.p.sim.agents {
		if a.pid == one.PID {
			return a.window == "", nil
		}
	}
	return true, nil
}

// EndGroup ends an agent that has lost its terminal: that is a death like one of its own.
func (w tower) EndGroup(_ context.Context, pid int) error {
	s := w.p.sim
	return act(w.p, "end "+strconv.Itoa(pid)+", which has lost its terminal", func() error {
		for _, a := range s.agents {
			if a.pid == pid {
				s.ends(a, true)
			}
		}
		return nil
	})
}

func (w tower) Ending(id int64) (task.Ending, bool, error) {
	a := w.p.sim.agentOf(id)
	if a == nil || a.alive || !a.noted {
		return task.Ending{}, false, nil
	}
	return a.ending, true, nil
}

// Notes tells nothing: the simulation looks itself.
func (w tower) Notes(context.Context, func(int64)) error { return nil }

// Stamp is the text itself: the clock of the files is not the one of this world.
func (w tower) Stamp(t task.Task) string {
	text, err := os.ReadFile(w.p.sim.files.Document(t.Project, t.ID))
	if err != nil {
		return "none"
	}
	return string(text)
}

func (w tower) Touched(context.Context, task.Task) (time.Time, error) { return time.Time{}, nil }

func (w tower) Known(id string) (bool, error) {
	_, err := os.Stat(w.p.sim.files.Dir(w.p.sim.project.Name, id))
	return err == nil, nil
}
