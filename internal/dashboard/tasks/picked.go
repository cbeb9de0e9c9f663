package tasks

// Pick marks the selected task, or no longer.
func (s *Set) Pick() {
	t, found := s.Selected()
	switch {
	case !found:
	case s.picked[t.ID]:
		delete(s.picked, t.ID)
	default:
		s.picked[t.ID] = true
	}
}

// PickShown marks all tasks that are shown; where all of them are marked, none is after it.
func (s *Set) PickShown() {
	before := len(s.Picked())
	for _, at := range s.Shown {
		s.picked[s.Rows[at].Task.ID] = true
	}
	if len(s.Picked()) == before {
		s.PickNone()
	}
}

// PickNone takes all marks away.
func (s *Set) PickNone() { clear(s.picked) }

// Picked are the marked tasks that are known, in the order of the store, those too that a filter hides.
func (s *Set) Picked() []Row {
	if len(s.picked) == 0 {
		return nil
	}
	var out []Row
	for _, r := range s.Rows {
		if s.picked[r.Task.ID] {
			out = append(out, r)
		}
	}
	return out
}

// PickSign is between the sign of a task and its name: a star where the task is marked.
func (s *Set) PickSign(r *Row) string {
	if s.picked[r.Task.ID] {
		return "*"
	}
	return " "
}
