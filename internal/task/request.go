package task

// Actor is who asks.
type Actor struct {
	Role string // RoleHuman, or the role of the agent's seat
	As   string // the role that a human acts for; empty when for themself
	Rule bool   // the workflow's own rule asks: exit, timer, spawn_next
}

// ActorEngine is the name that history has for the program's own acts.
const ActorEngine = "engine"

// Speaks is the role in whose name the actor asks.
func (a Actor) Speaks() string {
	if a.As != "" {
		return a.As
	}
	return a.Role
}

// Name is what history calls the actor.
func (a Actor) Name() string {
	if a.Rule {
		return ActorEngine
	}
	return a.Role
}

// Request asks for a transition.
type Request struct {
	Task   string
	To     Status
	Actor  Actor
	Reason string
}

// Holder is a task that has a workspace.
type Holder struct {
	Workspace string `json:"workspace"`
	Task      string `json:"task"`
	Branch    string `json:"branch"`
	Status    Status `json:"status"`
}

// Outcome is what became of a request.
type Outcome struct {
	Task    Task
	Moved   bool // false when the task was there already, or was queued
	Event   Event
	Hooks   []OwedHook // those of Event, as they stand when the caller is answered
	Queued  bool
	Holders []Holder // who has the workspaces, when Queued
}

// Project is a registered repository.
type Project struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	DefaultBranch string `json:"default_branch"`
	PoolSize      int    `json:"pool_size"`
	Workflow      string `json:"workflow,omitempty"`
}

// DefaultPoolSize is the number of workspaces where a project does not say.
const DefaultPoolSize = 5

// DefaultWorkflow is the workflow where a project does not say.
const DefaultWorkflow = "default"
