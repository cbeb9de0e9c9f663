package tasks

import "slices"

// Pick marks the selected task, or no longer.
func (s *Set) Pick() {
	t, found := s.Selected()
	if !found {
		return
	}
	if at := slices.Index(s.picked, t.ID); at >= 0 {
		s.picked = slices.Delete(s.picked, at, at+1)
	} else {
		s.picked = append(s.picked, t.ID)
	}
}

// PickShown marks all tasks that are shown; where all of them are marked, none is after it.
func (s *Set) PickShown() {
	before := len(s.Picked())
	for _, at := range s.Shown {
		if id := s.Rows[at].Task.ID; !slices.Contains(s.picked, id) {
			s.picked = append(s.picked, id)
		}
	}
	if len(s.Picked()) == before {
		s.PickNone()
	}
}

// PickNone takes all marks away.
func (s *Set) PickNone() { s.picked = nil }

// Picked are the marked tasks that are known, in the order in which they were marked, those too that a filter hides.
func (s *Set) Picked() []Row {
	if len(s.picked) == 0 {
		return nil
	}
	at := map[string]int{}
	for i := range s.Rows {
		at[s.Rows[i].Task.ID] = i
	}
	var out []Row
	for _, id := range s.picked {
		if i, known := at[id]; known {
			out = append(out, s.Rows[i])
		}
	}
	return out
}

// PickSign is between the sign of a task and its name: a star where the task is marked.
func (s *Set) PickSign(r *Row) string {
	if slices.Contains(s.picked, r.Task.ID) {
		return "*"
	}
	return " "
}
