package inbox

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// How a move is made.
const (
	ByRequest  = "request"  // its conditions are met
	ByOverride = "override" // in spite of its conditions, with a reason
	ByRedo     = "redo"     // the state begins again
)

// Way is a state that someone can move a task to, or why they cannot.
type Way struct {
	To      task.Status        `json:"to"`
	How     string             `json:"how"`     // ByRequest, ByOverride or ByRedo; empty where it is closed
	Reason  bool               `json:"reason"`  // it takes a reason
	Hooks   []string           `json:"hooks"`   // what is done then
	Details []rejection.Detail `json:"details"` // what is unmet
}

// Open reports whether the move can be made as it is, without an override.
func (c Way) Open() bool { return c.How == ByRequest || c.How == ByRedo }

// Ways are the moves that a role has out of a task's status, each state once: those of the workflow's edges in the
// order of the file, then the states that a person can let begin again.
func Ways(e decide.Explanation, role string) []Way {
	var out []Way
	for _, w := range e.Ways {
		at := slices.IndexFunc(out, func(c Way) bool { return c.To == w.To })
		one := wayOf(w, role)
		switch {
		case at < 0:
			out = append(out, one)
		case better(one, out[at]):
			out[at] = one
		}
	}
	for _, to := range e.Redo {
		if role == task.RoleHuman && !slices.ContainsFunc(out, func(c Way) bool { return c.To == to && c.Open() }) {
			out = append(out, Way{To: to, How: ByRedo, Hooks: []string{}, Details: []rejection.Detail{}})
		}
	}
	return out
}

// better reports whether a way to a state is rather taken than another one.
func better(a, b Way) bool {
	rank := func(c Way) int { return slices.Index([]string{"", ByOverride, ByRequest}, c.How) }
	return rank(a) > rank(b)
}

func wayOf(w decide.Option, role string) Way {
	c := Way{To: w.To, Reason: w.Reason, Hooks: w.Hooks, Details: w.Details}
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

// Find finds the way to a state, one that is open before one that is not; false where the task has none.
func Find(all []Way, to task.Status) (found Way, is bool) {
	for _, w := range all {
		if w.To == to && (!is || w.Open() && !found.Open()) {
			found, is = w, true
		}
	}
	return found, is
}
