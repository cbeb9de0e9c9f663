package explore

import (
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// meaningOf is what performing a hook does to agents and workspace. It is nothing for an action that is unknown.
func meaningOf(h task.Hook) action.Meaning {
	spec, _ := action.Of(h.Action)
	return spec.Means
}

// performed is the result of performing a list of hooks.
type performed struct {
	config config
	agents int // started
	rounds int // reviewers among those
	unfit  []impossibleHook
}

// deed is a hook that is to be performed in a certain state.
type deed struct {
	hook  task.Hook
	means action.Meaning
	role  int // whose agent it starts or ends; negative where the workflow has no such role
}

// deedsOf are hooks as they are performed in a state.
func (w *walk) deedsOf(hooks []task.Hook, status int16) []deed {
	state, out := &w.def.States[status], make([]deed, 0, len(hooks))
	for _, h := range hooks {
		d := deed{hook: h, means: meaningOf(h), role: -1}
		//exhaustive:enforce
		switch d.means {
		case action.StartsAgent, action.NotifiesWorker:
			d.role = slices.Index(w.roles, workflow.RoleIn(*state, h))
		case action.EndsAgent:
			role := h.Role
			if h.Action == action.KillReviewer && role == "" {
				role = task.RoleReviewer
			}
			d.role = slices.Index(w.roles, role)
		case action.EndsAll, action.MakesWorkspace, action.FreesWorkspace, action.MeansNothing, action.SetsAside,
			action.Pushes, action.OpensPR:
		}
		out = append(out, d)
	}
	return out
}

// impossibleHook is a hook that could not do its work, or took the workspace of a living agent.
type impossibleHook struct {
	hook task.Hook
	role string // who could not be started, or who lives in the workspace that was given back
}

// holdsUp reports whether the failure of a hook makes a difference, and whether it does so only where an agent lives. A
// hook that ends an agent is retried until it succeeds. Where no agent lives, the failure to prepare a workspace has
// the same effect as the failure to start the agent that needs it. Where one lives it has not: a later step keeps the
// preparation, and what that step has to end the agent waits for it.
func holdsUp(h task.Hook) (holds, living bool) {
	class, _ := action.ClassOf(h.Action)
	return class == action.ClassStart, meaningOf(h) == action.MakesWorkspace
}

// settles returns the hooks that are owed after a decision: those that the decision itself has not done.
func settles(hooks []task.Hook) []task.Hook {
	return slices.DeleteFunc(slices.Clone(hooks), func(h task.Hook) bool {
		class, _ := action.ClassOf(h.Action)
		return class == action.ClassRecord
	})
}

// waiting returns the hooks that stay owed when the first of them fails.
func waiting(hooks []task.Hook) []task.Hook {
	return slices.DeleteFunc(slices.Clone(hooks), func(h task.Hook) bool {
		class, _ := action.ClassOf(h.Action)
		return class == action.ClassApart // no other hook waits for it
	})
}

// perform performs hooks in order, in the state for which they were made.
func (w *walk) perform(c config, deeds []deed) performed {
	p := performed{config: c}
	state := &w.def.States[c.status]
	for i := range deeds {
		d := &deeds[i]
		//exhaustive:enforce
		switch d.means {
		case action.FreesWorkspace:
			for r, name := range w.roles {
				if p.config.workspace && p.config.agent(r) == alive {
					p.unfit = append(p.unfit, impossibleHook{d.hook, name})
				}
			}
			p.config.workspace = false
		case action.NotifiesWorker:
			if w.worksOn(p.config) || state.RespawnPrompt.Name == "" {
				continue
			}
			w.start(&p, d)
		case action.StartsAgent:
			w.start(&p, d)
		case action.EndsAgent:
			if d.role >= 0 && p.config.agent(d.role) == alive {
				p.config.setAgent(d.role, gone)
			}
		case action.EndsAll:
			for r := range w.roles {
				if p.config.agent(r) == alive {
					p.config.setAgent(r, gone)
				}
			}
		case action.MakesWorkspace, action.MeansNothing, action.SetsAside, action.Pushes, action.OpensPR:
		}
	}
	return p
}

// worksOn reports whether an agent lives that changes the work.
func (w *walk) worksOn(c config) bool {
	for r, name := range w.roles {
		if c.agent(r) == alive && name != task.RoleReviewer {
			return true
		}
	}
	return false
}

func (w *walk) start(p *performed, d *deed) {
	if !p.config.workspace || d.role < 0 {
		role := workflow.RoleIn(w.def.States[p.config.status], d.hook)
		p.unfit = append(p.unfit, impossibleHook{d.hook, role})
		return
	}
	p.config.setAgent(d.role, alive)
	p.agents++
	if w.readers[d.role] {
		p.rounds++
	}
}

// readersOf reports which roles have agents that only read: those that only ever start with reduced permissions, by a
// move or by a respawn, and reviewers that no move starts.
func readersOf(def *workflow.Definition, roles []string) []bool {
	out := make([]bool, len(roles))
	for i, name := range roles {
		said := ""
		for _, r := range def.Roles {
			if r.Name == name {
				said = r.Permissions
			}
		}
		full, some := false, name == task.RoleReviewer
		starts := func(state workflow.State, h task.Hook, _ yaml.Pos) {
			if workflow.RoleIn(state, h) == name {
				some, full = true, full || h.Permissions != task.PermissionsReduced
			}
		}
		eachStart(def, starts)
		for _, state := range def.States {
			if again, works := def.StartIn(state); works {
				starts(state, again, yaml.Pos{})
			}
		}
		out[i] = said == task.PermissionsReduced || said == "" && some && !full
	}
	return out
}

// eachStart visits every hook of the file that starts or notifies an agent, with the state where it happens.
func eachStart(def *workflow.Definition, visit func(state workflow.State, h task.Hook, at yaml.Pos)) {
	list := func(to task.Status, hooks []workflow.Hook) {
		state, _ := def.State(to)
		for _, h := range hooks {
			if h.Action == action.NotifyWorker || workflow.SpawnRole(h.Hook) != "" {
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
