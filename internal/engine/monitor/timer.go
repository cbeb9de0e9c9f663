package monitor

import (
	"context"
	"errors"
	"slices"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
)

// clockRest is between a sign that the record was written and the look at the time of every task: a storm of
// writes costs little.
const clockRest = 200 * time.Millisecond

// shortestPause is between two looks of the clock, however soon the next deadline is.
const shortestPause = 10 * time.Millisecond

// watchDeadlines looks at the time that tasks have been in their statuses, whenever the next deadline has come or the
// record was written.
func (m *Monitor) watchDeadlines(ctx context.Context) {
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.written:
			pause(ctx, clockRest)
		case <-due.C:
		}
		tasks, err := m.taskLists(ctx)
		var next time.Time
		if err == nil {
			next, err = m.deadlines(ctx, tasks.live)
		}
		m.report(ctx, "timeouts", err)
		m.report(ctx, "queue", m.startWhereRoom(ctx, tasks))
		due.Stop()
		switch {
		case !next.IsZero():
			due.Reset(max(next.Sub(m.Now()), shortestPause))
		case err != nil:
			due.Reset(defaultInterval)
		}
	}
}

// startWhereRoom starts tasks that wait for a workspace as soon as one was given back: the next look may be far.
func (m *Monitor) startWhereRoom(ctx context.Context, tasks taskLists) error {
	if !slices.ContainsFunc(tasks.live, func(t task.Task) bool { return t.Queued() }) {
		m.held = nil
		return nil
	}
	held := map[string]bool{} // workspaces and who has them
	for _, some := range [][]task.Task{tasks.live, tasks.held} {
		for i := range some {
			if t := &some[i]; t.Workspace != "" {
				held[t.Workspace+" "+t.ID] = true
			}
		}
	}
	before := m.held
	m.held = held
	for had := range before {
		if !held[had] {
			return m.queue(ctx, tasks.live)
		}
	}
	return nil
}

// deadlines has the engine note every task that is late by a new level, and answers when the next one will be;
// zero when none will.
func (m *Monitor) deadlines(ctx context.Context, live []task.Task) (next time.Time, err error) {
	own := map[string]task.Timeouts{}
	var all error
	for i := range live {
		t := &live[i]
		at, err := m.deadline(ctx, own, t)
		if err != nil {
			all, at = errors.Join(all, err), m.Now().Add(defaultInterval)
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, all
}

// deadline sees to one task. own are the words of the projects that were asked already.
func (m *Monitor) deadline(ctx context.Context, own map[string]task.Timeouts, t *task.Task) (time.Time, error) {
	def, err := m.Rules.Pinned(ctx, t.Workflow)
	if err != nil {
		return time.Time{}, err
	}
	timeouts, asked := own[t.Project]
	if !asked {
		if timeouts, err = m.Rules.Timeouts(t.Project); err != nil {
			return time.Time{}, err
		}
		own[t.Project] = timeouts
	}
	at, wanted := decide.NextDeadline(def, timeouts, *t, m.Now())
	if !wanted || at.After(m.Now()) {
		return at, nil
	}
	at, told, err := m.Engine.Timeouts(ctx, t.ID)
	if told != "" {
		m.tell(ctx, *t, told)
	}
	return at, err
}
