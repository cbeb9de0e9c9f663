package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"orange/internal/engine/hook"
	"orange/internal/engine/monitor"
	"orange/internal/proof/simulate"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// endAgent is the end of an agent and of the commands that it was waiting for.
func (s *simulation) endAgent(a *simulate.Agent, byItself bool) {
	if !a.Alive {
		return
	}
	a.Alive, a.ByItself = false, byItself
	s.logf(nil, fmt.Sprintf("%v of %s ends, by itself: %v", a, s.short(a.Task), byItself))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.programs {
		if p.agent == a && (!byItself || s.noFaults || s.random.IntN(2) == 0) {
			s.kill(p)
		}
	}
}

// terminal is the windows and the programs in them, for hooks and for the monitor.
type terminal struct {
	simulate.Terminal
	p *process
}

func (p *process) terminal() terminal { return terminal{p.view().Terminal(), p} }

// PanesOf is a look like any other, which may fail.
func (w terminal) PanesOf(ctx context.Context, task string) ([]tmux.Pane, error) {
	all, err := w.Panes(ctx)
	return slices.DeleteFunc(all, func(p tmux.Pane) bool { return p.Task != task }), err
}

func (w terminal) Start(_ context.Context, start tmux.Start) (tmux.Pane, error) {
	s := w.p.sim
	return at(w.p, fmt.Sprintf("start the %s of %s", start.Role, s.short(start.Task)), func() (tmux.Pane, error) {
		if err := w.p.Fail("start an agent"); err != nil {
			return tmux.Pane{}, err
		}
		id, err := strconv.ParseInt(start.Hook, 10, 64)
		if err != nil {
			return tmux.Pane{}, err
		}
		a := &simulate.Agent{
			PID: 1000 + len(s.Agents), Task: start.Task, Role: start.Role, Hook: id, Seat: start.Seat,
			Workspace: start.Dir, Session: start.Session, Alive: true, Touched: s.Now(),
		}
		a.Window = "@" + strconv.Itoa(a.PID)
		if a.Secret, err = secretOf(start.Argv[2]); err != nil {
			return tmux.Pane{}, err
		}
		s.startServer(w.p.environment)
		whose := s.server.own
		if kept := s.server.kept[a.Task]; kept != "" {
			whose = kept
		}
		s.checkStart(a)
		s.noteReviewer(a)
		s.checkEnvironment(ranAgent, a.Task, whose, w.p)
		s.Agents = append(s.Agents, a)
		s.counts.agents++
		return a.Pane(), nil
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
	return w.close("end window "+id, func(a *simulate.Agent) bool { return a.Window == id })
}

func (w terminal) KillSession(_ context.Context, id string) error {
	return w.close("end session of "+w.p.sim.short(id[1:]), func(a *simulate.Agent) bool { return "$"+a.Task == id })
}

// close ends windows. Some programs survive the end of their terminal.
func (w terminal) close(what string, which func(*simulate.Agent) bool) error {
	s := w.p.sim
	return act(w.p, what, func() error {
		if err := w.p.Fail(what); err != nil {
			return err
		}
		for _, a := range s.Agents {
			if a.Window == "" || !which(a) {
				continue
			}
			a.Window = ""
			if s.random.IntN(4) != 0 {
				s.endAgent(a, false)
			}
		}
		s.stopIdleServer()
		return nil
	})
}

func (w terminal) Type(_ context.Context, pane, _ string, _ tmux.Typing) error {
	return act(w.p, "type into "+pane, func() error { return w.p.Fail("type") })
}

func (w terminal) Lookup(pid int) (task.Process, error) {
	for _, a := range w.p.sim.Agents {
		if a.PID == pid && a.Alive {
			return task.Process{PID: pid, Began: a.Began()}, nil
		}
	}
	return task.Process{}, errors.New("no such process")
}

func (w terminal) EndGroup(_ context.Context, pid int) error {
	return w.end("end the programs of "+strconv.Itoa(pid), func(a *simulate.Agent) bool { return a.PID == pid })
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
	return w.end("end strays of "+w.p.sim.short(id)+" "+role, func(a *simulate.Agent) bool {
		return a.Task == id && (role == "" || a.Role == role)
	})
}

func (w terminal) end(what string, which func(*simulate.Agent) bool) error {
	s := w.p.sim
	return act(w.p, what, func() error {
		if err := w.p.Fail(what); err != nil {
			return err
		}
		for _, a := range s.Agents {
			if which(a) {
				s.endAgent(a, false)
			}
		}
		return nil
	})
}

func (w terminal) Alive(one task.Process) (bool, error) {
	return at(w.p, "check whether "+strconv.Itoa(one.PID)+" lives", func() (bool, error) {
		return w.p.sim.alive(one), nil
	})
}

func (s *simulation) alive(one task.Process) bool {
	if one.PID >= 1000 {
		for _, a := range s.Agents {
			if a.PID == one.PID {
				return a.Alive
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

// pool is the workspaces. There are no pull requests.
type pool struct {
	hook.Work
	p *process
}

func (w pool) Prepare(_ context.Context, t task.Task) (worktree.Cleared, error) {
	s := w.p.sim
	return at(w.p, "prepare "+t.Workspace+" for "+s.short(t.ID), func() (worktree.Cleared, error) {
		if err := w.p.Fail("prepare a workspace"); err != nil {
			return worktree.Cleared{}, err
		}
		s.checkPrepare(t)
		s.prepared[t.Workspace] = t.ID
		s.pushed[t.ID] = true
		return worktree.Cleared{}, nil
	})
}

func (w pool) MissingOf(context.Context, task.Task) (string, bool, error) { return "", false, nil }

func (w pool) View(_ context.Context, t task.Task) (worktree.View, error) {
	return worktree.View{Dir: t.Workspace, Base: "main", TaskFile: "TASK.md"}, nil
}

func (w pool) Equip(context.Context, task.Task, []harness.File, []string) error { return nil }

func (w pool) Release(_ context.Context, t task.Task) (worktree.Cleared, error) {
	s := w.p.sim
	return at(w.p, "release "+t.Workspace+" of "+s.short(t.ID), func() (worktree.Cleared, error) {
		if err := w.p.Fail("release a workspace"); err != nil {
			return worktree.Cleared{}, err
		}
		for _, a := range s.Agents {
			if a.Alive && a.Workspace == t.Workspace {
				s.breakf("the workspace %s is taken away from under %v of %s", t.Workspace, a, s.short(a.Task))
			}
		}
		delete(s.prepared, t.Workspace)
		return worktree.Cleared{}, nil
	})
}

func (w pool) DeleteRemoteBranch(_ context.Context, t task.Task, _ string) (git.Deleted, error) {
	s := w.p.sim
	return at(w.p, "delete the branch of "+s.short(t.ID)+" on origin", func() (git.Deleted, error) {
		if err := w.p.Fail("reach origin"); err != nil || !s.pushed[t.ID] {
			return git.Deleted{}, err
		}
		delete(s.pushed, t.ID)
		return git.Deleted{Tip: t.Branch}, nil
	})
}

func (w pool) Push(_ context.Context, t task.Task, _ string) (string, bool, error) {
	w.p.sim.breakf("the branch of %s is pushed, and no workflow here asks for that", w.p.sim.short(t.ID))
	return "", false, nil
}

type setup struct{ p *process }

func (w setup) Harness(name string) (*harness.Harness, error) {
	return w.p.sim.setting.agents[name], nil
}
func (w setup) TaskDir(t task.Task) string         { return w.p.sim.files.Dir(t.Project, t.ID) }
func (w setup) Document(task.Task) ([]byte, error) { return nil, nil }

// monitor is the real monitor in the simulated world.
func (s *simulation) monitor(p *process) *monitor.Monitor {
	w := p.terminal()
	return &monitor.Monitor{
		Agents: monitored{w}, Record: p.record(), Engine: p.engine,
		Rules: simulate.SingleWorkflow{Workflow: s.Workflow},
		Tell:  func(context.Context, task.Task, string) {}, Now: s.Now,
		Log: slog.New(slog.DiscardHandler), Stall: simulate.Stall,
	}
}

// monitored is the agents for the monitor.
type monitored struct{ terminal }

// EndGroup ends an agent that has lost its terminal: that is a death like one of its own.
func (w monitored) EndGroup(_ context.Context, pid int) error {
	s := w.p.sim
	return act(w.p, "end "+strconv.Itoa(pid)+", which has lost its terminal", func() error {
		for _, a := range s.Agents {
			if a.PID == pid {
				s.endAgent(a, true)
			}
		}
		return nil
	})
}

// Stamp is made from the text itself: the clock of the files is not the one of this world.
func (terminal) Stamps() map[string]uint64 { return map[string]uint64{} }

func (terminal) KeepStamps(map[string]uint64) error { return nil }

func (w terminal) Stamp(t *task.Task) uint64 {
	text, err := os.ReadFile(w.p.sim.files.Document(t.Project, t.ID))
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d %s %t", t.Version, text, err == nil)
	return sum.Sum64()
}

func (w terminal) Known(id string) (bool, error) {
	_, err := os.Stat(w.p.sim.files.Dir(w.p.sim.Project.Name, id))
	return err == nil, nil
}
