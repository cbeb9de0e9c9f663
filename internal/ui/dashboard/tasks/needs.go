package tasks

import (
	"cmp"
	"slices"
	"strings"

	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// needsPerson reports whether a task does not move before a person does something, as far as the task itself says.
func (s *Set) needsPerson(t *task.Task) bool {
	return t.Attention != "" || t.Live && !t.Queued() && !t.WaitsForTasks() && s.turns[t.Workflow.Digest][t.Status]
}

// findNeeds finds out again which tasks need a person, and reports whether these are others, or the order is another.
// What the agents were last asked is the most; before that, and for a task without an agent, the task itself says it.
func (s *Set) findNeeds() (changed bool) {
	for i := range s.Rows {
		r := &s.Rows[i]
		before := r.need
		r.need = s.needOf(r)
		if (before == nil) != (r.need == nil) || before != nil && !before.Since.Equal(r.need.Since) {
			changed = true
		}
	}
	return changed
}

func (s *Set) needOf(r *Row) *record.Need {
	need := s.needFound(r)
	if need != nil {
		need.Reason, need.Text = InKeys(s.Keys, r.Task.ID, need.Reason), InKeys(s.Keys, r.Task.ID, need.Text)
	}
	return need
}

func (s *Set) needFound(r *Row) *record.Need {
	if need := r.Agent.Need; need.Kind != "" {
		return &need
	}
	def := s.Workflow(*r.Task)
	if def == nil || r.Agent.State != record.AgentDead && !s.needsPerson(r.Task) {
		return nil
	}
	need := inbox.NeedOf(def, *r.Task, r.Agent.State, inbox.Sight{})
	if need.Kind == "" {
		return nil
	}
	need = inbox.InWords(def, *r.Task, need, inbox.Clues{}, s.Now)
	return &need
}

// Need is why a task needs a person; false if it needs none.
func (r *Row) Need() (record.Need, bool) {
	if r.need == nil {
		return record.Need{}, false
	}
	return *r.need, true
}

// Whole are the lines of a width that say all of why a task needs a person; none where a line that the screen shows of
// it, of another width, says that.
func (r *Row) Whole(line, width int) (lines []string) {
	need, needs := r.Need()
	if !needs || width < 1 || need.Text == "" && screen.Width(screen.Clean(need.Reason)) <= line {
		return nil
	}
	for line := range strings.Lines(cmp.Or(need.Text, need.Reason)) {
		lines = append(lines, screen.Wrap(screen.Clean(strings.TrimRight(line, "\r\n")), width)...)
	}
	return lines
}

// NextInbox is the id of the next task of the project that needs a person, after the selected one, the oldest need
// first and again after the newest; false where no task needs one.
func (s *Set) NextInbox() (string, bool) {
	var all []*Row
	for i := range s.Rows {
		if r := &s.Rows[i]; r.need != nil && (s.Project == "" || r.Task.Project == s.Project) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return "", false
	}
	slices.SortFunc(all, compareNeeds)
	selected, _ := s.Selected()
	at := slices.IndexFunc(all, func(r *Row) bool { return r.Task.ID == selected.ID })
	return all[(at+1)%len(all)].Task.ID, true
}

// compareNeeds puts the tasks that need a person before all others, the oldest need first.
func compareNeeds(a, b *Row) int {
	if a.need == nil || b.need == nil {
		return TrueFirst(a.need != nil, b.need != nil)
	}
	return inbox.First(*a.need, *b.need, a.Task.ID, b.Task.ID)
}
