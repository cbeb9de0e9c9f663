package monitor

import (
	"context"
	"slices"

	"orange/internal/record"
	"orange/internal/task"
)

// roll has the tasks that a monitor looks after, as they were at one state of the record. Nothing of it is changed.
type roll struct {
	number int64       // Changed of the record, before the tasks were read
	live   []task.Task // those that are not over
	held   []task.Task // those that are over and still have a workspace
	over   []task.Task // those that are over and whose files are looked after
}

// call lists the tasks. Where none has changed since the last time it is one small question, however many there are.
func (m *Monitor) call(ctx context.Context) (roll, error) {
	m.calling.Lock()
	defer m.calling.Unlock()
	number, err := m.Record.Changed(ctx) // first: what changes while the tasks are read is read again
	if err != nil {
		return roll{}, err
	}
	if m.called != nil && m.called.number == number {
		return *m.called, nil
	}
	read := m.some
	if m.everyone {
		read = m.all
	}
	fresh, err := read(ctx)
	if err != nil {
		return roll{}, err
	}
	fresh.number = number
	m.called = &fresh
	return fresh, nil
}

// some are the tasks that a long watch looks after: of those that are over, the files of the ones that ended lately.
func (m *Monitor) some(ctx context.Context) (r roll, err error) {
	for _, list := range []struct {
		filter record.Filter
		into   *[]task.Task
	}{
		{record.Filter{Live: true}, &r.live}, {record.Filter{Over: true}, &r.held},
		{record.Filter{EndedSince: m.Now().Add(-lately)}, &r.over},
	} {
		if *list.into, err = m.Record.List(ctx, list.filter); err != nil {
			return roll{}, err
		}
	}
	return r, nil
}

// all are all tasks.
func (m *Monitor) all(ctx context.Context) (r roll, err error) {
	tasks, err := m.Record.List(ctx, record.Filter{})
	ended := slices.IndexFunc(tasks, func(t task.Task) bool { return !t.Live }) // the live ones come first
	if ended < 0 {
		ended = len(tasks)
	}
	r.live, r.over = tasks[:ended], tasks[ended:]
	for i := range r.over {
		if r.over[i].Workspace != "" {
			r.held = append(r.held, r.over[i])
		}
	}
	return r, err
}

// happened is a number that stays the same while nothing happens to any task. That a hook fails once more, as it did
// before, is nothing: it changes the task's version, and not its history.
func (r roll) happened() (sum int64) {
	for _, tasks := range [][]task.Task{r.live, r.over} {
		for i := range tasks {
			sum += int64(tasks[i].Seq)
		}
	}
	return sum
}
