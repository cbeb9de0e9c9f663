package workflow

import (
	"slices"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// SendBack is a rule that sends a task out of a state without a person, after something that happened to its work.
type SendBack struct {
	On   []string // words of SendBackEvents
	When []Guard  // all must hold
	Then task.Status
	Pos  yaml.Pos
	then yaml.Pos
}

// What a rule of SendBack may wait for.
const (
	OnMergeFailed        = "merge_failed"         // a conflict, or a red check of what the merge results in
	OnPRChecksFailed     = "pr_checks_failed"     // a check of the pull request is red
	OnPRChangesRequested = "pr_changes_requested" // a review of the pull request asks for changes
)

// SendBackEvents are all of them.
func SendBackEvents() []string {
	return []string{OnMergeFailed, OnPRChecksFailed, OnPRChangesRequested}
}

// SendBacks are the rules of a state for something that happens, in the order of the file.
func (s State) SendBacks(on string) []SendBack {
	other := func(rule SendBack) bool { return !slices.Contains(rule.On, on) }
	return slices.DeleteFunc(slices.Clone(s.SendBack), other)
}

func (r reader) sendBack(n *yaml.Node) SendBack {
	rule := SendBack{Pos: yaml.PosOf(n)}
	r.Mapping(n, "a rule of send_back", []yaml.Key{
		yaml.Must("on", func(n *yaml.Node) {
			r.oneAtLeast(n, "on", func(n *yaml.Node) {
				if on := r.OneOf(n, "what sends a task back", SendBackEvents()...); on != "" {
					rule.On = append(rule.On, on)
				}
			})
		}),
		yaml.May("when", func(n *yaml.Node) { rule.When = r.guards(n) }),
		yaml.Must("then", func(n *yaml.Node) { rule.Then, rule.then = task.Status(r.Name(n, "then")), yaml.PosOf(n) }),
	})
	return rule
}

// checkSendBack: a rule that sends a task back leads over a transition, and over none that takes someone's word.
func (r reader) checkSendBack(d *Definition, s State, rule SendBack) {
	if s.Terminal {
		r.Problem(rule.Pos, "send-back",
			"found send_back in the terminal state %q, expected none: nothing leads out of it", s.Name)
		return
	}
	r.stateExists(d, rule.Then, rule.then, "send-back", "then of send_back")
	if _, exists := d.State(rule.Then); !exists {
		return
	}
	leads, speaks := false, false
	for _, t := range d.Transitions {
		if t.From == s.Name && t.To == rule.Then {
			leads, speaks = true, speaks || len(Verdicts(t.Gate)) > 0
		}
	}
	switch {
	case rule.Then == s.Name:
		r.Problem(rule.then, "send-back", "found send_back of %q that leads to %q, expected another state", s.Name,
			rule.Then)
	case !leads:
		r.Problem(rule.then, "send-back",
			"found send_back of %q that leads to %q, expected a state that a transition leads to from there",
			s.Name, rule.Then)
	case speaks:
		r.Problem(rule.then, "send-back", "found send_back of %q that leads to %q by a verdict, expected a "+
			"state to which no verdict leads from there: a verdict counts only from an agent that asks, or that "+
			"ends by itself", s.Name, rule.Then)
	}
}
