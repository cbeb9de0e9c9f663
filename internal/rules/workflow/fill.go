package workflow

import (
	"cmp"
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// fill completes what a file leaves unsaid: its first state begins, usual names serve the usual commands,
// hooks and states get the roles and harnesses that follow from what they do.
func (d *Definition) fill(usual Usual) {
	if d.Initial == "" && len(d.States) > 0 {
		d.Initial = d.States[0].Name
	}
	for i := range d.Transitions {
		fillHooks(d.Transitions[i].Hooks)
	}
	if d.Births == nil {
		d.fillBirths(usual)
	}
	for i := range d.Births {
		fillHooks(d.Births[i].Hooks)
	}
	if d.PlanFile != nil {
		fillHooks(d.PlanFile.Hooks)
	}
	for _, m := range usual.moves {
		_, said := d.Move(m.Command)
		if _, exists := d.State(m.To); exists && !said {
			d.Moves = append(d.Moves, Move{Command: m.Command, To: m.To})
		}
	}
	for i := range d.States {
		if d.States[i].Role == "" {
			d.States[i].Role = d.impliedRole(d.States[i])
		}
	}
	for i := range d.Exit.Rules {
		rule := &d.Exit.Rules[i]
		if _, exists := d.State(usual.crashThen); exists && rule.Action == ActionCrash && rule.Then == "" &&
			len(rule.ThenWhen) == 0 {
			rule.Then = usual.crashThen
		}
	}
}

func fillHooks(hooks []Hook) {
	for i := range hooks {
		h := &hooks[i]
		switch h.Action {
		case action.SpawnAgent:
			h.Harness = cmp.Or(h.Harness, task.HarnessTask)
			h.Permissions = cmp.Or(h.Permissions, task.PermissionsFull)
		case action.SpawnReviewer:
			h.Harness = cmp.Or(h.Harness, task.HarnessReview)
			h.Permissions = cmp.Or(h.Permissions, task.PermissionsReduced)
		case action.IncrementReviewRound:
			h.Field = task.ReviewRound
		}
	}
}

// fillBirths takes over the usual births as far as the file has their states and prompts.
// A task can always be born in the initial state.
func (d *Definition) fillBirths(usual Usual) {
	for _, b := range usual.births {
		exists := d.lives(b.To)
		for _, h := range b.Hooks {
			_, known := d.Prompt(h.Prompt)
			exists = exists && (h.Prompt == "" || known)
		}
		if exists {
			hooks := slices.Clone(b.Hooks)
			for i := range hooks {
				hooks[i].Pos = yaml.Pos{} // they are in another file
			}
			d.Births = append(d.Births, Birth{To: b.To, Hooks: hooks})
		}
	}
	if _, exists := d.Birth(d.Initial); !exists && d.lives(d.Initial) {
		d.Births = append(d.Births, Birth{To: d.Initial})
	}
}

// lives reports whether there is a state of that name that a task can leave.
func (d *Definition) lives(name task.Status) bool {
	s, exists := d.State(name)
	return exists && !s.Terminal
}

// impliedRole is the role whose window a state has, told from what starts there.
func (d *Definition) impliedRole(s State) string {
	for _, t := range d.Transitions {
		if role := spawns(t.Hooks); t.To == s.Name && role != "" {
			return role
		}
	}
	if b, exists := d.Birth(s.Name); exists && spawns(b.Hooks) != "" {
		return spawns(b.Hooks)
	}
	if s.RespawnPrompt.Name != "" {
		return task.RoleWorker
	}
	return ""
}
