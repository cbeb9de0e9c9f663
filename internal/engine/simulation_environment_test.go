package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"orange/internal/proof/simulate"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// An environment is named by its owner: a person, an agent that asks, or the service.
const serviceEnvironment = "the service"

func people() []string { return []string{"Ann", "Ben"} }

// agentEnvironment is the environment of an agent's commands: what the agent has made of the one that it was
// started in.
func agentEnvironment(a *simulate.Agent) string { return fmt.Sprintf("agent %d", a.PID) }

// server is the memory of the terminal server. It ends with the server.
type server struct {
	kept map[string]string // by task
	// whose environment the server itself was started in, and every window has where nothing is kept; empty while
	// none runs
	own string
}

// startServer starts the server where none runs.
func (s *simulation) startServer(whose string) {
	if s.server.own == "" {
		s.server.own = whose
	}
}

// stopIdleServer ends the server that has neither a window nor anything to keep.
func (s *simulation) stopIdleServer() {
	for _, a := range s.Agents {
		if a.Window != "" {
			return
		}
	}
	if len(s.server.kept) == 0 {
		s.server.own = ""
	}
}

// endServer is the end of the terminal server, or of the whole machine until it is started again: everything kept
// is lost. A window that its own hook has still to find stays as that hook will find it: then nothing
// happens.
func (s *simulation) endServer(reboot bool) {
	for _, a := range s.Agents {
		if a.Window != "" && s.audit.Hook(a.Hook).Settled == 0 {
			s.logf(nil, "time passes")
			return
		}
	}
	s.logf(nil, fmt.Sprintf("the terminal server ends, with the whole machine: %v", reboot))
	s.counts.lost++
	s.server = server{kept: map[string]string{}}
	s.environments.noteLost(s)
	for _, a := range s.Agents {
		a.Window = ""
		if a.Alive && (reboot || s.random.IntN(4) != 0) { // some programs survive the end of their terminal
			a.Ending = task.Ending{}
			s.endAgent(a, true)
		}
	}
	if !reboot {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.programs {
		if !p.ended && !p.dead {
			s.counts.deaths++
			s.kill(p)
		}
	}
}

// environmentStore is the terminal server's memory as one program reaches it.
type environmentStore struct{ p *process }

// Keep keeps the environment of this program, and that of an agent too: it is the engine that must not ask for that.
func (k environmentStore) Keep(_ context.Context, id string) error {
	s := k.p.sim
	return act(k.p, "keep the environment of "+k.p.environment+" for "+s.short(id), func() error {
		if err := k.p.Fail("keep an environment"); err != nil {
			s.environments.noteNotKept(k.p, id)
			return err
		}
		s.keepEnvironment(k.p, id)
		return nil
	})
}

func (s *simulation) keepEnvironment(p *process, id string) {
	s.startServer(p.environment)
	s.server.kept[id] = p.environment
	s.environments.noteKept(s, p, id)
}

func (k environmentStore) Give(context.Context, string, []string) error { return nil }
func (k environmentStore) Forget(context.Context, string) error         { return nil }

func (k environmentStore) Drop(_ context.Context, id string) error {
	s := k.p.sim
	return act(k.p, "drop the environment of "+s.short(id), func() error {
		if err := k.p.Fail("drop an environment"); err != nil {
			s.environments.noteNotDropped(k.p, id)
			return err
		}
		delete(s.server.kept, id)
		s.environments.noteDropped(k.p, id)
		s.stopIdleServer()
		return nil
	})
}

// kept is the owner of the environment that is kept for a task; empty if none is.
func (k environmentStore) kept(id string) (string, error) {
	return at(k.p, "look for the environment of "+k.p.sim.short(id), func() (string, error) {
		k.p.lookedAt = len(k.p.sim.trace)
		if err := k.p.Fail("look for an environment"); err != nil {
			return "", err
		}
		return k.p.sim.server.kept[id], nil
	})
}

// enter gives the program the environment that is kept for a task. Where none is kept, or it cannot be looked
// for, the program has its own.
func (k environmentStore) enter(id string) {
	if kept, err := k.kept(id); err == nil && kept != "" {
		k.p.environment = kept
	}
}

// orKeep is the environment in which hooks start programs. If none is kept it is the program's own, and is kept from
// then on. No other program keeps one meanwhile.
func (k environmentStore) orKeep(t task.Task) (string, error) {
	s := k.p.sim
	what := "look for the environment of " + s.short(t.ID) + ", or keep that of " + k.p.environment
	return at(k.p, what, func() (string, error) {
		k.p.lookedAt = len(s.trace)
		if err := k.p.Fail("look for an environment"); err != nil {
			return "", err
		}
		if s.server.kept[t.ID] == "" && t.Workspace != "" {
			s.keepEnvironment(k.p, t.ID)
		}
		return cmp.Or(s.server.kept[t.ID], k.p.environment), nil
	})
}

// environmentForOthers is the environment that a program passes to those which it starts and leaves alone. A program
// in an agent's environment first changes to the one that is kept for the agent's task, or else to what is known
// without that. This does not repair what the engine has kept: the engine must not keep an agent's at all.
func (p *process) environmentForOthers() string {
	if p.agent == nil {
		return p.environment
	}
	if kept := p.sim.server.kept[p.agent.Task]; kept != "" {
		return kept
	}
	return serviceEnvironment
}

func (w setup) Environment(_ context.Context, t task.Task) ([]string, error) {
	whose, err := environmentStore(w).orKeep(t)
	return []string{"WHOSE=" + whose}, err
}

// hookCommands are those that hooks run: most of them end well.
type hookCommands struct{ p *process }

// programs are the programs in the windows and the commands of hooks.
type programs struct {
	terminal
	hookCommands
}

func (c hookCommands) RunLimited(_ context.Context, program proc.Command, _ proc.Limits) (proc.LimitedResult, error) {
	vars := map[string]string{}
	for _, pair := range program.Base {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	id := vars["ORANGE_TASK_ID"]
	return at(c.p, "run the command of a hook of "+c.p.sim.short(id), func() (proc.LimitedResult, error) {
		c.p.sim.checkEnvironment(ranHook, id, vars["WHOSE"], c.p)
		if c.p.Fail("run a command") != nil {
			return proc.LimitedResult{Code: 1}, nil
		}
		return proc.LimitedResult{}, nil
	})
}

// runCheck runs the check of a task for a program, if the worktree is the task's and all of one commit. A program of
// its own runs the check and enters the environment of the task. The same commit always gets the same
// answer.
func (p *process) runCheck(t task.Task) (decide.Fact, error) {
	f := decide.Fact{Source: "check tests", Where: "the workspace", Found: "it was not run", Want: "commit all of it"}
	b := p.sim.branch(t.ID)
	ready := func() bool { return t.Workspace != "" && p.sim.prepared[t.Workspace] == t.ID && !b.Dirty() }
	if !ready() {
		return f, nil
	}
	what := ranCheck
	whose, err := environmentStore{p}.kept(t.ID)
	if err != nil {
		what = ranBlind
	}
	if whose == "" {
		whose = p.environmentForOthers()
	}
	return at(p, "run the check of "+p.sim.short(t.ID), func() (decide.Fact, error) {
		if !ready() {
			return f, nil
		}
		p.sim.checkEnvironment(what, t.ID, whose, p)
		passed := b.Number()%9 != 7
		f.Holds, f.Found, f.Want = passed, "it failed for "+b.Commit(), "mend that"
		f.Text = document.Normalise(fmt.Sprintf("run for %s, passed %v\n", b.Commit(), passed))
		f.Digest = document.Digest(f.Text)
		return f, p.Fail("run a check")
	})
}
