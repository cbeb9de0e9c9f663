package dashboard

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/tasks"
)

// forMany says what the keys of a task do with all that are marked.
func forMany(keys []key) []key {
	do := map[string]func(command.Commands, []command.Target) command.FirstStep{
		"enter": command.Commands.StartAll, "r": command.Commands.RequestChangesOfAll, "m": command.Commands.MergeAll,
		"p": command.Commands.OpenPRs, "M": command.Commands.MovesOfAll, "S": command.Commands.SayToAll,
		"x": command.Commands.CancelAll, "d": command.Commands.DeleteAll, "t": command.Commands.RetryAll,
	}
	for i := range keys {
		keys[i].many = do[keys[i].names[0]]
	}
	return keys
}

// marking reports whether keys act on the tasks that the person marked: in the list and on the board, where they see
// several.
func marking(m *Model) bool {
	return (m.page == pageList || m.page == pageBoard) && len(m.tasks.Picked()) > 0
}

func mark(m *Model) tea.Cmd {
	m.tasks.Pick()
	cmd := m.move(1)
	sayMarked(m)
	return cmd
}

func markAll(m *Model) tea.Cmd {
	m.tasks.PickShown()
	sayMarked(m)
	return nil
}

func sayMarked(m *Model) {
	n := len(m.tasks.Picked())
	if n == 0 {
		m.messages.answer = "no task is marked"
		return
	}
	var names []string
	for _, k := range m.keys {
		if k.many != nil {
			names = append(names, k.name())
		}
	}
	m.messages.answer = fmt.Sprintf("%d marked: %s act on all of them; Esc takes the marks away", n,
		strings.Join(names, " "))
}

// marked are the marked tasks with what commands depend on.
func marked(m *Model) []command.Target {
	rows := m.tasks.Picked()
	out := make([]command.Target, len(rows))
	for i := range rows {
		out[i] = targetOf(m, &rows[i])
	}
	return out
}

func targetOf(m *Model, r *tasks.Row) command.Target {
	t := *r.Task
	work, _, _ := m.tasks.Work(t.ID)
	on := command.Target{Task: t, Selected: true, Workflow: m.tasks.Workflow(t),
		Unreadable: m.tasks.Unreadable(t), Agent: r.Agent, Judged: work.Judged,
		Keys: m.style.Keys}
	if origin, known := m.tasks.Origin(t.Project); known {
		on.Origin = &origin
	}
	return on
}
