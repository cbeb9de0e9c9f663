package monitor

import (
	"context"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// taskLists are the tasks that a monitor looks after, as they were at one state of the record. No one changes them.
type taskLists struct {
	number int64       // Changed of the record, before the tasks were read
	live   []task.Task // those that are not over
	held   []task.Task // those that are over and still have a workspace
	over   []task.Task // those that are over and whose files are looked after
	seated []task.Task // those of the live ones that have a session
}

// taskLists reads the tasks again only where one has changed: else it is one small question, however many there are.
func (m *Monitor) taskLists(ctx context.Context) (taskLists, error) {
	m.listing.Lock()
	defer m.listing.Unlock()
	number, err := m.Record.Changed(ctx) // first: what changes while the tasks are read is read again
	if err != nil {
		return taskLists{}, err
	}
	if m.listed != nil && m.listed.number == number {
		return *m.listed, nil
	}
	m.listed = nil // many tasks are large: the old ones need not be there next to the new ones
	read := m.some
	if m.everyone {
		read = m.all
	}
	fresh, err := read(ctx)
	if err != nil {
		return taskLists{}, err
	}
	fresh.number = number
	fresh.seated = withSession(fresh.live)
	m.listed = &fresh
	return fresh, nil
}

// withSession are the tasks that have a session. It is the same list where all have one: a copy of many is large.
func withSession(tasks []task.Task) (out []task.Task) {
	if !slices.ContainsFunc(tasks, func(t task.Task) bool { return t.Session == "" }) {
		return tasks
	}
	for i := range tasks {
		if tasks[i].Session != "" {
			out = append(out, tasks[i])
		}
	}
	return out
}

// some are the tasks that a long watch looks after: of those that are over, the files of the ones that ended lately.
func (m *Monitor) some(ctx context.Context) (l taskLists, err error) {
	for _, list := range []struct {
		filter record.Filter
		into   *[]task.Task
	}{
		{record.Filter{Live: true}, &l.live}, {record.Filter{Over: true}, &l.held},
		{record.Filter{EndedSince: m.Now().Add(-lately)}, &l.over},
	} {
		if *list.into, err = m.Record.List(ctx, list.filter); err != nil {
			return taskLists{}, err
		}
	}
	return l, nil
}

// all are all tasks.
func (m *Monitor) all(ctx context.Context) (l taskLists, err error) {
	tasks, err := m.Record.List(ctx, record.Filter{})
	ended := slices.IndexFunc(tasks, func(t task.Task) bool { return !t.Live }) // the live ones come first
	if ended < 0 {
		ended = len(tasks)
	}
	l.live, l.over = tasks[:ended], tasks[ended:]
	for i := range l.over {
		if l.over[i].Workspace != "" {
			l.held = append(l.held, l.over[i])
		}
	}
	return l, err
}

// sumOfChanges is a number that stays the same while nothing happens to any task. That a hook fails once more, as it
// did before, is nothing: it changes the task's version, and not its history.
func (l taskLists) sumOfChanges() (sum int64) {
	for _, tasks := range [][]task.Task{l.live, l.over} {
		for i := range tasks {
			sum += int64(tasks[i].Seq)
		}
	}
	return sum
}
