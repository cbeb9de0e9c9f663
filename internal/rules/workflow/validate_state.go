package workflow

import (
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// checkStates: what a state says of itself besides its transitions can be.
func (r reader) checkStates(d *Definition) {
	for _, s := range d.States {
		if s.Folder != "" && engines(s.Folder) {
			r.Problem(s.Pos, "folder",
				"found %q as the folder of the state %q, expected another one: it is the engine's", s.Folder, s.Name)
		}
		if s.Success && !s.Terminal {
			r.Problem(s.Pos, "success",
				"found success in the state %q, expected it only where terminal is true: a task that is not over "+
					"has not ended well", s.Name)
		}
		r.checkTimeout(d, s)
		for _, rule := range s.SendBack {
			r.checkSendBack(d, s, rule)
		}
	}
}

// checkTimeout: timeout and refused_after lead over a transition, and over none that takes someone's word: time does
// not know whose it is.
func (r reader) checkTimeout(d *Definition, s State) {
	if s.Terminal && s.Timeout.After != 0 {
		r.Problem(s.Timeout.Pos, "timeout",
			"found a timeout of the terminal state %q, expected none: nothing is waited for there", s.Name)
	}
	r.checkLeads(d, s, "timeout", s.Timeout.Then, s.Timeout.then)
	if (s.Role == "" || s.Role == task.RoleHuman) && s.Refused.Most != 0 {
		r.Problem(s.Refused.Pos, "refused-after",
			"found refused_after in the state %q, expected it only where a role has an agent at work", s.Name)
	}
	r.checkLeads(d, s, "refused_after", s.Refused.Then, s.Refused.then)
}

// checkLeads checks the state to which something leads that is no one's request.
func (r reader) checkLeads(d *Definition, s State, what string, then task.Status, pos yaml.Pos) {
	property := strings.ReplaceAll(what, "_", "-")
	r.stateExists(d, then, pos, property, "then of a "+what)
	if _, exists := d.State(then); !exists {
		return
	}
	leads, speaks := false, false
	for _, t := range d.Transitions {
		if t.From == s.Name && t.To == then {
			leads, speaks = true, speaks || len(Verdicts(t.Gate)) > 0
		}
	}
	switch {
	case !leads:
		r.Problem(pos, property,
			"found a %s of %q that leads to %q, expected a state that a transition leads to from there",
			what, s.Name, then)
	case speaks:
		r.Problem(pos, property, "found a %s of %q that leads to %q by a verdict, expected a "+
			"state to which no verdict leads from there: "+
			"a verdict counts only from an agent that asks, or that ends by itself", what, s.Name, then)
	}
}

// checkEntries: redo, the shell's commands and the plan file lead to states in which something is done.
func (r reader) checkEntries(d *Definition) {
	for _, again := range d.Redo {
		name := task.Status(again.Name)
		r.stateExists(d, name, again.Pos, "redo", "a state of redo")
		if s, exists := d.State(name); exists && (s.Terminal || s.Role != "" && s.RespawnPrompt.Name == "" ||
			s.Role == "" && s.Name == d.Initial) {
			r.Problem(again.Pos, "redo",
				"found the state %q in redo, expected one in which something is done, with a respawn_prompt "+
					"for its agent", name)
		}
	}
	for _, c := range d.Commands {
		r.stateExists(d, c.To, c.Pos, "command", "the state of command "+c.Text)
	}
	if d.PlanFile == nil {
		return
	}
	r.stateExists(d, d.PlanFile.To, d.PlanFile.Pos, "create", "the state of plan_file")
	if s, _ := d.State(d.PlanFile.To); s.Terminal {
		r.Problem(d.PlanFile.Pos, "create",
			"found the terminal state %q in plan_file, expected one that a task can leave", d.PlanFile.To)
	}
}
