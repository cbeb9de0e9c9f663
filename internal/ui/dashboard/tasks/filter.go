package tasks

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// Filter decides which tasks are shown by whether they are live.
type Filter int

// The filters.
const (
	ShowAll Filter = iota
	ShowActive
	ShowDone
	Filters // how many there are
)

func (f Filter) String() string { return [...]string{"all", "active", "done"}[f] }

// Next is the filter after f.
func (f Filter) Next() Filter { return (f + 1) % Filters }

// Order is what the tasks are sorted by. Live tasks come first in each order.
type Order int

// The orders.
const (
	ByAge Order = iota // the newest first
	ByStatus
	ByName
	ByActivity // the latest first
	Orders     // how many there are
)

func (o Order) String() string { return [...]string{"newest", "status", "name", "activity"}[o] }

// Next is the order after o.
func (o Order) Next() Order { return (o + 1) % Orders }

// Choose finds out which tasks are shown, and in which order. The cursor stays at its place.
func (s *Set) Choose() {
	s.Shown, s.Live, s.All, s.Attention = s.Shown[:0:0], 0, 0, 0
	text := strings.ToLower(s.Text)
	for i := range s.Rows {
		t := s.Rows[i].Task
		if s.Project != "" && t.Project != s.Project {
			if t.ID == s.Pinned {
				s.Shown = append(s.Shown, i)
			}
			continue
		}
		s.All++
		if t.Live {
			s.Live++
		}
		if s.Rows[i].need != nil {
			s.Attention++
		}
		if t.ID != s.Pinned && (s.Filter == ShowActive && !t.Live || s.Filter == ShowDone && t.Live ||
			!contains(t, text)) {
			continue
		}
		s.Shown = append(s.Shown, i)
	}
	s.SeveralProjects = s.Project == "" && slices.ContainsFunc(s.groups, func(one group) bool {
		return one.project != s.groups[0].project
	})
	slices.SortStableFunc(s.Shown, func(a, b int) int { return s.compare(&s.Rows[a], &s.Rows[b]) })
	s.Select(s.Cursor)
}

// ChooseAgain is Choose, but the cursor stays on its task where that is still shown, once a key was pressed.
func (s *Set) ChooseAgain() {
	t, had := s.Selected()
	s.Choose()
	if had && s.Touched {
		s.Find(t.ID)
	}
}

// Reveal puts the cursor on a task, and changes the filters that hide it. It reports whether the task is known.
func (s *Set) Reveal(id string) bool {
	at := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Task.ID == id })
	if at < 0 {
		return false
	}
	t := s.Rows[at].Task
	if s.Project != "" {
		s.Project = t.Project
	}
	if !contains(t, strings.ToLower(s.Text)) {
		s.Text = ""
	}
	if s.Choose(); !s.Find(id) {
		s.Filter = ShowAll
		s.Choose()
	}
	return s.Find(id)
}

// contains reports whether a task contains a text in lower case.
func contains(t *task.Task, text string) bool {
	texts := []string{t.Branch, t.Summary, string(t.Status), t.Project, t.ID}
	return text == "" || slices.ContainsFunc(texts, func(in string) bool {
		return strings.Contains(strings.ToLower(in), text)
	})
}

// TrueFirst compares two values so that true comes first.
func TrueFirst(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

func (s *Set) compare(a, b *Row) int {
	if a.need != nil || b.need != nil {
		return compareNeeds(a, b)
	}
	if by := TrueFirst(a.Task.Live, b.Task.Live); by != 0 {
		return by
	}
	switch s.Order {
	case ByStatus:
		return strings.Compare(string(a.Task.Status), string(b.Task.Status))
	case ByName:
		return strings.Compare(a.Task.Project+"/"+Name(*a.Task), b.Task.Project+"/"+Name(*b.Task))
	case ByActivity:
		return b.Active().Compare(a.Active())
	}
	return 0
}

// Empty has the lines that a view shows where there is no task.
func (s *Set) Empty(width int) []string {
	create := s.Keys.Of("create")
	text := fmt.Sprintf("no tasks yet; press %s to create one", create)
	switch {
	case !s.Loaded:
		return nil
	case s.Text != "":
		text = fmt.Sprintf("no task holds %q; Esc shows all", s.Text)
	case s.Filter != ShowAll:
		text = fmt.Sprintf("no tasks that are %s; %s shows others", s.Filter, s.Keys.Of("filter"))
	case s.Project != "" && len(s.Rows) > 0:
		text = fmt.Sprintf("no tasks of %s yet; press %s to create one, or %s for those of all projects",
			screen.Clean(s.Project), create, s.Keys.Of("all-projects"))
	}
	lines := []string{text}
	if len(s.Rows) == 0 && len(s.firstSteps) > 0 {
		lines = s.firstSteps
	}
	out := []string{""}
	for _, text := range lines {
		for _, line := range screen.Wrap(screen.Clean(text), max(1, width-4)) {
			out = append(out, "  "+line)
		}
	}
	return out
}

// NoCreation is why no task can be created yet; empty where one can, or where that is unknown.
func (s *Set) NoCreation() string {
	if len(s.Rows) > 0 {
		return ""
	}
	return s.noTaskYet
}
