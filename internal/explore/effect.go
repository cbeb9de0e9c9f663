package explore

import (
	"slices"

	"orange/internal/task"
	"orange/internal/workflow"
	"orange/internal/yaml"
)

// meaning is what performing a hook does to agents and workspace, as far as later events can tell.
type meaning int

const (
	nothing meaning = iota // what is outside of both
	makes                  // the workspace is made ready; the decision has reserved it
	frees                  // the workspace is given back
	starts                 // the agent of a role is started, and an earlier one of that role ended
	tells                  // the worker is told; where nobody is there to be told, one is started
	ends                   // the agent of a role is ended
	endsAll                // every agent is ended
)

// meanings is what each action does: the one place where the prover knows what the hands do.
func meanings() map[string]meaning {
	return map[string]meaning{
		task.AcquireWorkspace: makes, task.ReleaseWorkspace: frees,
		task.SpawnAgent: starts, task.SpawnReviewer: starts, task.NotifyWorker: tells,
		task.KillSession: endsAll, task.KillReviewer: ends, task.KillAgent: ends,
		task.SpawnNext: nothing, task.DeleteRemoteBranch: nothing, task.PushBranch: nothing, task.CreatePR: nothing,
		task.Notify: nothing, task.RunCommand: nothing, task.SetAside: nothing,
		task.IncrementReviewRound: nothing, task.Increment: nothing, task.SetField: nothing,
	}
}

// performed is what became of a list of hooks.
type performed struct {
	config  config
	agents  int // started
	rounds  int // reviewers among those
	unfit   []misfit
	stopped bool // at the hook that failed
}

// misfit is a hook that could not do what it says, or did it to somebody at work.
type misfit struct {
	hook task.Hook
	role string // who could not be started, or who lives in the workspace that was given back
}

// holdsUp says whether the failure of a hook makes a difference: what ends an agent is tried until it is done,
// and a workspace that cannot be made ready holds up the start of an agent as the failure of that start does.
func (w *walk) holdsUp(hooks []task.Hook, i int) bool {
	if class, _ := task.ClassOf(hooks[i].Action); class != task.ClassStart {
		return false
	}
	if w.means[hooks[i].Action] != makes {
		return true
	}
	for _, h := range hooks[i+1:] {
		switch w.means[h.Action] {
		case starts, tells:
			return false
		case ends, endsAll, frees:
			return true
		case makes, nothing:
		}
	}
	return false
}

// settles are the hooks that are owed after a decision: those that the decision itself has not done.
func settles(hooks []task.Hook) []task.Hook {
	var out []task.Hook
	for _, h := range hooks {
		if class, _ := task.ClassOf(h.Action); class != task.ClassRecord {
			out = append(out, h)
		}
	}
	return out
}

// perform performs hooks in their order up to the one that fails; failing is the number of hooks where none does.
func (w *walk) perform(c config, hooks []task.Hook, failing int) performed {
	p := performed{config: c}
	state := w.def.States[c.status]
	for i, h := range hooks {
		if i == failing {
			rest := slices.DeleteFunc(slices.Clone(hooks[i:]), func(h task.Hook) bool {
				class, _ := task.ClassOf(h.Action)
				return class == task.ClassApart // it waits for nobody
			})
			p.config.owed, p.stopped = w.list(rest), true
			return p
		}
		role := workflow.RoleIn(state, h)
		switch w.means[h.Action] {
		case frees:
			for r, name := range w.roles {
				if p.config.workspace && p.config.agent(r) == alive {
					p.unfit = append(p.unfit, misfit{h, name})
				}
			}
			p.config.workspace = false
		case tells:
			if w.worksOn(p.config) || state.RespawnPrompt.Name == "" {
				continue
			}
			w.start(&p, h, role)
		case starts:
			w.start(&p, h, role)
		case ends:
			role = h.Role
			if h.Action == task.KillReviewer && role == "" {
				role = task.RoleReviewer
			}
			if r := slices.Index(w.roles, role); r >= 0 && p.config.agent(r) == alive {
				p.config.setAgent(r, gone)
			}
		case endsAll:
			for r := range w.roles {
				if p.config.agent(r) == alive {
					p.config.setAgent(r, gone)
				}
			}
		case makes, nothing:
		}
	}
	return p
}

// worksOn says whether somebody lives who has the worker's part.
func (w *walk) worksOn(c config) bool {
	for r, name := range w.roles {
		if c.agent(r) == alive && name != task.RoleReviewer {
			return true
		}
	}
	return false
}

func (w *walk) start(p *performed, h task.Hook, role string) {
	r := slices.Index(w.roles, role)
	if !p.config.workspace || r < 0 {
		p.unfit = append(p.unfit, misfit{h, role})
		return
	}
	p.config.setAgent(r, alive)
	p.agents++
	if w.readers[r] {
		p.rounds++
	}
}

// readers are the roles whose agents only read: reviewers, and those that are only ever started with reduced
// permissions.
func readersOf(def *workflow.Definition, roles []string) []bool {
	out := make([]bool, len(roles))
	for i, name := range roles {
		said := ""
		for _, r := range def.Roles {
			if r.Name == name {
				said = r.Permissions
			}
		}
		full, some := false, false
		eachStart(def, func(state workflow.State, h task.Hook, _ yaml.Pos) {
			if workflow.RoleIn(state, h) == name {
				some, full = true, full || h.Permissions != task.PermissionsReduced
			}
		})
		out[i] = name == task.RoleReviewer || said == task.PermissionsReduced || said == "" && some && !full
	}
	return out
}

// eachStart visits every hook of the file that starts an agent or tells one, with the state that it happens in.
func eachStart(def *workflow.Definition, visit func(state workflow.State, h task.Hook, at yaml.Pos)) {
	list := func(to task.Status, hooks []workflow.Hook) {
		state, _ := def.State(to)
		for _, h := range hooks {
			if h.Action == task.NotifyWorker || workflow.SpawnRole(h.Hook) != "" {
				visit(state, h.Hook, h.Pos)
			}
		}
	}
	for i := range def.Transitions {
		list(def.Transitions[i].To, def.Transitions[i].Hooks)
	}
	for _, b := range def.Births {
		list(b.To, b.Hooks)
	}
	if def.PlanFile != nil {
		list(def.PlanFile.To, def.PlanFile.Hooks)
	}
}
