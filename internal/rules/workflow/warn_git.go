package workflow

import (
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// warnUnbound reports, in a workflow that binds verdicts to a commit, moves that do not, and the other moves for a
// moved tip that have no end.
func (r reader) warnUnbound(d *Definition) {
	binds := func(t Transition) bool { return Asks(t.Gate, GitUnmoved) }
	first := slices.IndexFunc(d.Transitions, binds)
	if first < 0 {
		return
	}
	bound := map[task.Status]bool{} // states whose work is judged or merged as it was when they were entered
	for _, t := range d.Transitions {
		if s, _ := d.State(t.From); s.Subject == SubjectBranch && binds(t) {
			bound[t.From] = true
		}
	}
	for i := range d.Transitions {
		t := &d.Transitions[i]
		asks := func(words ...string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return Asks(t.Gate, word) })
		}
		passes := slices.ContainsFunc(Leaves(t.Gate), func(p Part) bool { return p.Verdict == "PASS" })
		switch {
		case passes && bound[t.To] && !asks(GitUnmoved, GitAsReviewed):
			r.Problem(t.Pos, "unbound",
				"found a passing verdict that is about no commit, expected git: unmoved in the same gate as on line %d",
				d.Transitions[first].Pos.Line)
		case bound[t.To] && t.From != t.To && !asks(GitUnmoved, GitCommitted):
			if !t.Has(action.AcquireWorkspace) { // else no one can have changed anything yet
				r.Problem(t.Pos, "unbound",
					"found a transition to %q that leaves open what is not committed, expected git: committed "+
						"in its gate", t.To)
			}
		case t.From == t.To && asks(GitMoved):
			r.warnRestart(d, t)
		}
	}
}

// warnRestart reports that a way on for a moved tip lacks the agent that it is for.
func (r reader) warnRestart(d *Definition, t *Transition) {
	s, _ := d.State(t.From)
	if !slices.ContainsFunc(t.Hooks, func(h Hook) bool {
		return SpawnRole(h.Hook) != "" && RoleIn(s, h.Hook) == s.Role
	}) {
		r.Problem(t.Pos, "unbound",
			"found a way on for a moved branch that starts no %s, expected a hook that does", s.Role)
	}
}
