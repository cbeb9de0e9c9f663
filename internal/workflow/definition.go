// Package workflow is the rule book: a workflow file read with positions, validated, and kept as values.
//
// It owns what a workflow file may say and whether it makes sense on its own.
// It does not own how a request is judged by it (decide), nor where the file comes from (app).
package workflow

import (
	"orange/internal/task"
	"orange/internal/yaml"
)

// Definition is a whole workflow.
type Definition struct {
	File        string
	Name        string
	Version     int
	Digest      string // sha256 of the file's bytes, hex
	Initial     task.Status
	Roles       []Named
	States      []State
	Transitions []Transition
	Births      []Birth
	Moves       []Move
	Exit        Exit
	Prompts     []Prompt
	initial     yaml.Pos
}

// Named is a name with its place.
type Named struct {
	Name string
	Pos  yaml.Pos
}

// State is one node.
type State struct {
	Name          task.Status
	About         string // one line for people
	Terminal      bool
	Role          string // whose window the state has: worker, reviewer, a named role, or none
	RespawnPrompt Named
	Respawn       string // RespawnAuto or empty
	Pos           yaml.Pos
}

// Transition is one edge.
type Transition struct {
	From  task.Status
	To    task.Status
	By    []string // roles that may ask; empty means anyone
	When  []Guard  // all must hold
	Gate  []Part   // all must hold
	Hooks []Hook
	Pos   yaml.Pos
	to    yaml.Pos
	from  yaml.Pos
	by    []yaml.Pos
}

// Hook is a declared side effect with its place.
type Hook struct {
	task.Hook
	Pos    yaml.Pos
	prompt yaml.Pos
}

// Verdict kinds of a gate's part.
const (
	VerdictFirstLine = "first-line"
	VerdictAnywhere  = "anywhere"
)

// SinceEntry is the value of since: the evidence must have been written after the present state began.
const SinceEntry = "entry"

// Part is one predicate over evidence: a section of the task's document.
type Part struct {
	Section   string // as written, "## Handoff"
	Required  bool
	Fields    []string // at least one of these labels must have content
	Verdict   string   // PASS or FAIL; empty when none is asked for
	VerdictIn string
	Fresh     bool   // not spent by an earlier transition of the task
	Since     string // SinceEntry or empty
	Pos       yaml.Pos
}

// Birth is a state in which a task may be created, with what that sets going.
type Birth struct {
	To    task.Status
	Hooks []Hook
	Pos   yaml.Pos
}

// Move says to which state a command leads.
type Move struct {
	Command string
	To      task.Status
	Pos     yaml.Pos
}

// Commands that a workflow's moves may name.
const (
	MoveSpawn          = "spawn"
	MoveComplete       = "complete"
	MoveStuck          = "stuck"
	MoveMerge          = "merge"
	MoveCancel         = "cancel"
	MoveRequestChanges = "request_changes"
	MovePRMerged       = "pr_merged"
	MovePRClosed       = "pr_closed"
	MoveClarify        = "clarify" // where a task without a summary begins
)

// Exit says what the death of an agent leads to.
type Exit struct {
	PollInterval int // seconds
	Rules        []Rule
}

// Exit actions.
const (
	ActionCrash    = "crash"
	ActionMarkDead = "mark_dead"
	RespawnAuto    = "auto"
)

// Rule is one exit rule. The first rule of a status that matches is taken.
type Rule struct {
	Status      task.Status
	HasArtifact *Part
	NoArtifact  bool
	Action      string
	StuckAfter  int
	Then        task.Status
	ThenWhen    []Branch
	Pos         yaml.Pos
	then        yaml.Pos
	status      yaml.Pos
}

// Branch is one arm of then_when.
type Branch struct {
	When []Guard
	Then task.Status
	Pos  yaml.Pos
	then yaml.Pos
}

// Prompt is the text that an agent starts with.
type Prompt struct {
	Name string
	Text string
	Pos  yaml.Pos
}

// State finds a state by name.
func (d *Definition) State(name task.Status) (State, bool) {
	for i := range d.States {
		if d.States[i].Name == name {
			return d.States[i], true
		}
	}
	return State{}, false
}

// Prompt finds a prompt's text by name.
func (d *Definition) Prompt(name string) (string, bool) {
	for i := range d.Prompts {
		if d.Prompts[i].Name == name {
			return d.Prompts[i].Text, true
		}
	}
	return "", false
}

// Move finds the state to which a command leads.
func (d *Definition) Move(command string) (task.Status, bool) {
	for _, m := range d.Moves {
		if m.Command == command {
			return m.To, true
		}
	}
	return "", false
}

// Birth finds what creating a task in a state sets going.
func (d *Definition) Birth(to task.Status) (Birth, bool) {
	for _, b := range d.Births {
		if b.To == to {
			return b, true
		}
	}
	return Birth{}, false
}

// Edge finds the first transition from one state to another, in the order of the file.
func (d *Definition) Edge(from, to task.Status) (*Transition, bool) {
	for i := range d.Transitions {
		if t := &d.Transitions[i]; t.From == from && t.To == to {
			return t, true
		}
	}
	return nil, false
}

// Attended says whether the death of the state's agent waits for a person: its only exit rules mark it dead, or it has none.
func (d *Definition) Attended(name task.Status) bool {
	for _, rule := range d.Exit.Rules {
		if rule.Status == name && rule.Action != ActionMarkDead {
			return false
		}
	}
	return true
}

// Spawns says whether the transition starts an agent.
func (t *Transition) Spawns() bool { return spawns(t.Hooks) != "" }

// Spawns says whether being created in the state starts an agent.
func (b *Birth) Spawns() bool { return spawns(b.Hooks) != "" }

// spawns tells the role of the first agent that hooks start; empty when they start none.
func spawns(hooks []Hook) string {
	for _, h := range hooks {
		if role := SpawnRole(h.Hook); role != "" {
			return role
		}
	}
	return ""
}

// SpawnRole tells the role of the agent that a hook starts; empty when it starts none.
func SpawnRole(h task.Hook) string {
	switch {
	case h.Action == task.SpawnReviewer:
		return task.RoleReviewer
	case h.Action == task.SpawnAgent && h.Harness == task.HarnessReview:
		return task.RoleReviewer
	case h.Action == task.SpawnAgent:
		return task.RoleWorker
	}
	return ""
}

// Has says whether a transition's hooks hold an action.
func (t *Transition) Has(action string) bool {
	for _, h := range t.Hooks {
		if h.Action == action {
			return true
		}
	}
	return false
}
