package detail

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// changesAlone reports whether the tab shows what changes without a change of the task.
func (t Tab) changesAlone() bool { return t == Terminal || t == Document }

// fits reports whether the tab is the one that fits the task's state, and not one that the person chose.
func (m *Model) fits() bool { return !m.Chosen && m.NextToList() }

// said reports whether all of what the task needs a person for is above the text: the text then goes on from there.
func (m *Model) said(r *tasks.Row) bool {
	need, needs := r.Need()
	return needs && need.Text != "" && m.BelowList()
}

// Shown is the tab that the view shows: the one that the person chose, or, next to a list, what fits the state of the
// task. That is what its agent asks the person, the terminal of an agent that works, the last words of one that died,
// where they are not above it, else the plan in TASK.md.
func (m *Model) Shown() Tab {
	if !m.fits() {
		return m.Tab
	}
	r, found := m.tasks.SelectedRow()
	switch {
	case !found || !r.Task.Live, m.asks(&r), m.noTerminal(*r.Task):
		return Document
	case m.tasks.AgentWorks(&r), m.lastWords(*r.Task) != "" && !m.said(&r):
		return Terminal
	}
	return Document
}

// asks reports whether an agent may have asked the person something in TASK.md.
func (m *Model) asks(r *tasks.Row) bool {
	need, needs := r.Need()
	return needs && need.Kind == record.NeedsPerson && m.tasks.AgentWorks(r)
}

// noTerminal reports whether a task was found to have neither a terminal nor last words.
func (m *Model) noTerminal(t task.Task) bool {
	one := m.contents[key(t.ID, Terminal)]
	return one.known && one.version == t.Version && one.source.err == nil && len(one.source.panes) == 0 &&
		m.lastWords(t) == ""
}

// lastWords are the last lines of the agent that died last, where no other one was started.
func (m *Model) lastWords(t task.Task) string { return history.LastWords(m.Events(t.ID)) }

// textOf has the lines of the shown tab. In the place of a terminal that is gone they are the last words of its agent.
func (m *Model) textOf(t task.Task, one content, width int) []string {
	words := ""
	if m.Shown() == Terminal && len(one.source.panes) == 0 && one.source.err == nil {
		words = m.lastWords(t)
	}
	if words == "" {
		return one.lines
	}
	out := []string{m.style.Header.Render("last words") + "  " + m.style.Bad.Render("✗ dead")}
	for _, line := range screen.CleanRawLines(words) {
		out = append(out, screen.Wrap(line, max(1, width))...)
	}
	return out
}

// sections are the lines of the headings in a document that was drawn, by the keys of their sections. Of one that is
// repeated the last one counts, as it does for a gate.
func sections(lines []string) map[string]int {
	const mark = "## "
	out := map[string]int{}
	for i, line := range lines {
		if !strings.Contains(line, mark) {
			continue
		}
		if text := ansi.Strip(line); strings.HasPrefix(text, mark) {
			out[document.Key(text)] = i
		}
	}
	return out
}

// begins is the line of a document with which the view begins next to a list: the review of a task that a person may
// merge, the questions of an agent that asks, else the plan.
func (m *Model) begins(one content) int {
	r, found := m.tasks.SelectedRow()
	if !found {
		return one.sections["plan"]
	}
	if review, judged := m.judged(r.Task); judged {
		if at, there := one.sections[document.Key(review)]; there {
			return at
		}
	}
	if at, there := one.sections["questions"]; there && m.asks(&r) && !m.said(&r) {
		return at
	}
	return one.sections["plan"]
}

// judged is the section that the last verdict on a task was read from; false where none was, or where the task is in no
// status from which a person merges it.
func (m *Model) judged(t *task.Task) (section string, found bool) {
	def := m.tasks.Workflow(*t)
	if def == nil {
		return "", false
	}
	merged, said := def.Move(workflow.MoveMerge)
	if _, leads := def.Edge(t.Status, merged); !said || !leads {
		return "", false
	}
	events := m.Events(t.ID)
	for i := len(events) - 1; i >= 0; i-- {
		if edge, is := def.Edge(events[i].From, events[i].To); is && events[i].IsMove() {
			for _, verdict := range workflow.Verdicts(edge.Gate) {
				if verdict.Section != "" {
					return verdict.Section, true
				}
			}
		}
	}
	return "", false
}
