package workflow

import (
	"cmp"
	"slices"

	"orange/internal/rules/task"
)

// spread makes the edges that "*" and previous stand for.
func (r reader) spread(d *Definition) {
	var all, back []Transition
	sort := func(t Transition) {
		if t.To == Previous {
			back = append(back, t)
			return
		}
		all = append(all, t)
	}
	for _, t := range d.Transitions {
		if t.From != everywhere {
			sort(t)
			continue
		}
		t.everywhere = true
		for _, s := range d.States {
			if !s.Terminal && s.Name != t.To {
				t.From = s.Name
				sort(t)
			}
		}
	}
	d.Transitions = d.leadBack(all, back)
	slices.SortStableFunc(d.Transitions, func(a, b Transition) int { // as the file has them
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	for _, t := range back {
		for i, s := range t.CameFrom {
			r.stateExists(d, s, t.cameFrom[i], "from-state", "came_from")
		}
		if !t.everywhere && len(d.sources(d.Transitions, t.From, t.CameFrom)) == 0 {
			r.Problem(t.to, "previous",
				"found previous as the target of a transition out of %q, expected a state that something leads to",
				t.From)
		}
	}
}

// leadBack makes the edges that lead back to where a task came from. One of them may be the way by which another
// one's state is entered, so it is gone over them until nothing is added.
func (d *Definition) leadBack(all, back []Transition) []Transition {
	made := make([][]task.Status, len(back))
	for grown := true; grown; {
		grown = false
		for i, t := range back {
			for _, s := range d.sources(all, t.From, t.CameFrom) {
				if slices.Contains(made[i], s) {
					continue
				}
				made[i], grown = append(made[i], s), true
				one := t
				one.To, one.CameFrom, one.cameFrom = s, []task.Status{s}, nil
				all = append(all, one)
			}
		}
	}
	return all
}

// sources are the states from which a task can have come to a state: all of them, or those that only names.
func (d *Definition) sources(all []Transition, to task.Status, only []task.Status) []task.Status {
	var out []task.Status
	for _, s := range d.States {
		leads := false
		for _, t := range all {
			leads = leads || t.From == s.Name && t.To == to && s.Name != to
		}
		for _, rule := range d.Exit.Rules {
			leads = leads || rule.Status == s.Name && rule.Action == ActionCrash && s.Name != to &&
				slices.Contains(rule.LeadsTo(), to)
		}
		if leads && (len(only) == 0 || slices.Contains(only, s.Name)) {
			out = append(out, s.Name)
		}
	}
	return out
}
