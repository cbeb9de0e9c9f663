package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"orange/internal/task"
)

// tasksLoaded is what the record answered.
type tasksLoaded struct {
	tasks  []task.Task
	gone   []string // ids of tasks that are not there any more
	cursor int64    // how far the record was read; 0 where only its beginning was
	part   bool     // tasks are those that changed, or the first ones; else they are all that there are
	err    error
}

// firstTasks is more than a screen has lines.
const firstTasks = 200

func (m *Model) loadFirst() tea.Cmd {
	ctx, record, project := m.ctx, m.house.Record, m.list.project
	return func() tea.Msg {
		tasks, err := record.First(ctx, project, firstTasks)
		return tasksLoaded{tasks: tasks, part: true, err: err}
	}
}

// load reads all tasks, and from then on those that changed.
func (m *Model) load() tea.Cmd {
	ctx, record, cursor := m.ctx, m.house.Record, m.cursor
	return func() tea.Msg {
		if cursor == 0 {
			tasks, next, err := record.All(ctx)
			return tasksLoaded{tasks: tasks, cursor: next, err: err}
		}
		tasks, gone, next, err := record.Since(ctx, cursor)
		return tasksLoaded{tasks: tasks, gone: gone, cursor: next, part: true, err: err}
	}
}

// reload reads the tasks again: at once, or after the look that is on its way.
func (m *Model) reload() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	return m.load()
}

func (m *Model) learnTasks(msg tasksLoaded) tea.Cmd {
	again := m.again || m.cursor == 0 && msg.part && msg.err == nil // the rest is still to be read
	m.loading, m.again = false, false
	m.failing = msg.err != nil
	if msg.err != nil {
		m.trouble = m.trouble.with("read the tasks", msg.err)
		return nil
	}
	m.loaded = m.loaded || !msg.part || len(msg.tasks) > 0
	switch {
	case !msg.part:
		m.list.setTasks(msg.tasks)
	case len(msg.tasks) > 0 || len(msg.gone) > 0:
		m.list.change(msg.tasks, msg.gone)
	}
	m.cursor = max(m.cursor, msg.cursor)
	m.lose()
	sought := m.seek()
	m.list.keepInSight(m.listHeight())
	workspaces := m.workspacesAgain()
	agents := m.lookAtAgents()
	cmds := []tea.Cmd{sought, agents, m.wantSeen(), workspaces}
	if m.place == inDetail || m.split() {
		var cmd tea.Cmd
		cmd = m.study(false)
		cmds = append(cmds, cmd)
	}
	if again {
		var cmd tea.Cmd
		cmd = m.reload()
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}
