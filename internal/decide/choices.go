package decide

import (
	"slices"

	"orange/internal/history"
	"orange/internal/rejection"
	"orange/internal/task"
	"orange/internal/workflow"
)

// How a move is made.
const (
	ByRequest  = "request"  // its conditions are met
	ByOverride = "override" // in spite of its conditions, with a reason
	ByRedo     = "redo"     // the state begins again
)

// Choice is a state that someone can move a task to, or why they cannot.
type Choice struct {
	To      task.Status        `json:"to"`
	How     string             `json:"how"`     // ByRequest, ByOverride or ByRedo; empty where it is closed
	Reason  bool               `json:"reason"`  // it takes a reason
	Hooks   []string           `json:"hooks"`   // what is done then
	Details []rejection.Detail `json:"details"` // what is unmet
}

// Open reports whether the move can be made as it is, without an override.
func (c Choice) Open() bool { return c.How == ByRequest || c.How == ByRedo }

// Choices are the moves that a role has out of a task's status, each state once: those of the workflow's edges in the
// order of the file, then the states that a person can let begin again.
func (e Explanation) Choices(role string) []Choice {
	var out []Choice
	for _, w := range e.Ways {
		at := slices.IndexFunc(out, func(c Choice) bool { return c.To == w.To })
		one := choiceOf(w, role)
		switch {
		case at < 0:
			out = append(out, one)
		case better(one, out[at]):
			out[at] = one
		}
	}
	for _, to := range e.Redo {
		if role == task.RoleHuman && !slices.ContainsFunc(out, func(c Choice) bool { return c.To == to && c.Open() }) {
			out = append(out, Choice{To: to, How: ByRedo, Hooks: []string{}, Details: []rejection.Detail{}})
		}
	}
	return out
}

// better reports whether a way to a state is rather taken than another one.
func better(a, b Choice) bool {
	rank := func(c Choice) int { return slices.Index([]string{"", ByOverride, ByRequest}, c.How) }
	return rank(a) > rank(b)
}

func choiceOf(w Option, role string) Choice {
	c := Choice{To: w.To, Reason: w.Reason, Hooks: w.Hooks, Details: w.Details}
	switch {
	case !slices.Contains(w.By, role):
		c.Details = []rejection.Detail{{Condition: "who may ask", Found: "the role " + role,
			Want: "leave it to " + w.Who()}}
	case w.Open:
		c.How = ByRequest
	case w.Override && role == task.RoleHuman:
		c.How, c.Reason = ByOverride, true
	}
	return c
}

// Redoable are the states that a person can let begin again, in the order of the workflow. Events are the task's whole
// history.
func Redoable(def *workflow.Definition, t task.Task, events []history.Event) []task.Status {
	var out []task.Status
	for _, s := range def.Redo {
		to := task.Status(s.Name)
		if redoRefused(def, t, to, events, task.Actor{Role: task.RoleHuman}) == nil {
			out = append(out, to)
		}
	}
	return out
}

// Choose finds the choice of a state; false where the task has no way to it.
func Choose(all []Choice, to task.Status) (Choice, bool) {
	at := slices.IndexFunc(all, func(c Choice) bool { return c.To == to })
	if at < 0 {
		return Choice{}, false
	}
	return all[at], true
}
