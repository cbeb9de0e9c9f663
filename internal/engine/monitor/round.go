package monitor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// Look is one round over everything: deaths, agents to be started again, queued tasks, orphans, stalls, timeouts
// and mirrors. It costs one call of the terminal, however many tasks there are.
func (m *Monitor) Look(ctx context.Context) error {
	err := m.Engine.Resume(ctx)
	tasks, listing := m.taskLists(ctx)
	if listing != nil {
		return errors.Join(err, listing)
	}
	// Seats first: an agent that is started after this is missing in neither list.
	seats, listing := m.Record.OpenSeats(ctx, "")
	if listing != nil {
		return errors.Join(err, listing)
	}
	panes, blind := m.Agents.Panes(ctx)
	seen := windowsOf(panes)
	if blind != nil {
		err = errors.Join(err,
			fmt.Errorf("could not look at the sessions, and so concludes nothing about any agent: %w", blind))
	} else {
		err = errors.Join(err, m.deaths(ctx, seats, seen))
	}
	now, listing := m.taskLists(ctx) // a death may have ended a task
	if listing != nil {
		now = tasks
	}
	if blind == nil {
		err = errors.Join(err, m.orphans(ctx, tasks.live, now.held, panes), m.agents(ctx, tasks.live, seats, seen))
	}
	_, late := m.deadlines(ctx, tasks.live)
	return errors.Join(err, m.queue(ctx, tasks.live), late, listing, m.mirrors(ctx, now))
}

// windows are the windows of agents, by whose they are.
type windows map[occupant]tmux.Pane

// occupant is the agent that a hook of a task has started.
type occupant struct {
	task string
	hook int64
}

func windowsOf(panes []tmux.Pane) windows {
	all := make(windows, len(panes))
	for _, p := range panes {
		who := occupant{p.Task, p.HookID()}
		if _, known := all[who]; !known && p.Role != "" {
			all[who] = p
		}
	}
	return all
}

// of is the window of the agent that has a seat.
func (w windows) of(seat record.Seat) (p tmux.Pane, there bool) {
	p, there = w[occupant{seat.Task, seat.Hook}]
	return p, there
}

// agents looks after the agent that each task's status has: a dead one may have to be started again, an idle one
// is marked.
func (m *Monitor) agents(ctx context.Context, live []task.Task, seats []record.Seat, seen windows) error {
	shortest := time.Duration(0)
	type place struct{ task, role string }
	open := make(map[place]*record.Seat, len(seats))
	for i := range seats {
		open[place{seats[i].Task, seats[i].Role}] = &seats[i]
	}
	var all error
	for i := range live {
		t := &live[i]
		if t.Workspace == "" {
			continue
		}
		def, err := m.Rules.Pinned(ctx, t.Workflow)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		if every := time.Duration(def.Exit.PollInterval) * time.Second; every > 0 &&
			(shortest == 0 || every < shortest) {
			shortest = every
		}
		state, _ := def.State(t.Status)
		seat, seated := open[place{t.ID, state.Role}]
		switch {
		case !seated && decide.Respawns(def, *t):
			all = errors.Join(all, m.revive(ctx, t.ID))
		case seated && !def.Attended(t.Status): // where a person is waited for, an idle agent is as it should be
			if p, there := seen.of(*seat); there && !p.Dead {
				all = errors.Join(all, m.idle(ctx, t, p))
			}
		}
	}
	if m.interval = shortest; shortest == 0 {
		m.interval = defaultInterval
	}
	return all
}

// idle marks a task whose agent lives and does nothing, and takes the mark away when it works again.
func (m *Monitor) idle(ctx context.Context, t *task.Task, p tmux.Pane) error {
	active := p.Activity
	if t.EnteredAt.After(active) {
		active = t.EnteredAt
	}
	if m.Now().Sub(active) >= m.Stall {
		touched, err := m.Agents.Touched(ctx, *t)
		if err != nil {
			return err
		}
		if touched.After(active) {
			active = touched
		}
	}
	if m.Now().Sub(active) < m.Stall {
		active = time.Time{} // it works
	}
	if _, due := decide.Stalled(*t, active, m.Now()); !due {
		return nil // the mark is as it should be
	}
	marked, err := m.Engine.Stalled(ctx, t.ID, active)
	if marked {
		m.tell(ctx, *t, fmt.Sprintf("its agent lives and has done nothing since %s; look at it with %q",
			active.Local().Format("15:04"), "orange task attach "+t.ID))
	}
	return err
}

// deaths compares who should live with who does.
func (m *Monitor) deaths(ctx context.Context, seats []record.Seat, seen windows) error {
	var all error
	for _, seat := range seats {
		p, there := seen.of(seat)
		if there && !p.Dead {
			continue
		}
		if !there {
			gone, err := m.isGone(ctx, seat)
			if err != nil || !gone {
				all = errors.Join(all, err)
				continue
			}
		}
		note, found, err := m.Agents.Ending(seat.Hook, seat.Hash)
		switch {
		case err != nil:
		case found:
			err = m.reportDeath(ctx, seat, note)
		default:
			err = m.reportUnexplained(ctx, seat, p, there)
		}
		all = errors.Join(all, err)
	}
	return all
}

// isGone reports whether an agent without a window is dead. One that outlived its terminal is ended: no one could see
// or reach it any more. One whose terminal lives where this process cannot see it is not dead: it was looked for
// in the wrong place.
func (m *Monitor) isGone(ctx context.Context, seat record.Seat) (bool, error) {
	p := task.Process{PID: seat.PID, Began: seat.Began}
	if p.PID == 0 {
		return true, nil
	}
	alive, err := m.Agents.Alive(p)
	if err != nil || !alive {
		return err == nil, err
	}
	orphaned, err := m.Agents.Orphaned(p)
	if err != nil {
		return false, err
	}
	if !orphaned {
		return false, fmt.Errorf("could not find the window of the %s of task %s: its process %d lives in another "+
			"terminal server than the one in terminal.json; to start the agent in that one, end the process",
			seat.Role, seat.Task, seat.PID)
	}
	return true, m.Agents.EndGroup(ctx, p.PID)
}

// orphans ends the windows of agents whose task is over or forgotten, and frees what tasks that are over still hold.
// A task that the record does not have, while its folder is there, is not forgotten: the record is what is incomplete.
func (m *Monitor) orphans(ctx context.Context, live, held []task.Task, panes []tmux.Pane) error {
	alive := map[string]bool{}
	for i := range live {
		alive[live[i].ID] = true
	}
	var all error
	for _, p := range panes {
		if p.Task == "" || p.Role == "" || alive[p.Task] {
			continue
		}
		err := m.Engine.Free(ctx, p.Task)
		if errors.Is(err, task.ErrNotFound) {
			var known bool
			if known, err = m.Agents.Known(p.Task); err == nil && !known {
				m.Log.Warn("ended the window of a task that is not on record", "component", "monitor", "task",
					p.Task, "role", p.Role, "hook", strconv.FormatInt(p.HookID(), 10))
				err = m.Agents.KillWindow(ctx, p.WindowID)
			}
		}
		all = errors.Join(all, err)
	}
	for i := range held {
		all = errors.Join(all, m.Engine.Free(ctx, held[i].ID))
	}
	return all
}

// queue starts the tasks that wait for a workspace, as many as there is room for.
func (m *Monitor) queue(ctx context.Context, live []task.Task) error {
	full := map[string]bool{}
	var all error
	for i := range live {
		project := live[i].Project
		if !live[i].Queued() || full[project] {
			continue
		}
		started, err := m.Engine.StartNext(ctx, project)
		all = errors.Join(all, err)
		full[project] = started == ""
	}
	return all
}

// lately is how long the files of a task that is over are looked after.
const lately = 24 * time.Hour

// mirrors has the files of a task looked at when they or the record have changed since the last time. Also those of
// tasks that are over: the process that made the last move of a task, or settled what it still owed, may have died
// before it wrote the task's files.
func (m *Monitor) mirrors(ctx context.Context, tasks taskLists) error {
	if m.stamps == nil {
		m.stamps = map[string]uint64{}
	}
	var all error
	for _, some := range [][]task.Task{tasks.live, tasks.over} {
		for i := range some {
			if ctx.Err() != nil {
				return errors.Join(all, ctx.Err())
			}
			all = errors.Join(all, m.mirror(ctx, &some[i]))
		}
	}
	m.compared = tasks.number
	return all
}

// mirror sees to the files of one task. Where that fails it is tried again with the next look.
func (m *Monitor) mirror(ctx context.Context, t *task.Task) error {
	stamp := m.Agents.Stamp(t)
	if before, known := m.stamps[t.ID]; known && before == stamp {
		return nil
	}
	m.restamped = true
	if err := m.Engine.Sync(ctx, t.ID); err != nil && !errors.Is(err, task.ErrNotFound) {
		delete(m.stamps, t.ID)
		return err
	}
	m.stamps[t.ID] = m.Agents.Stamp(t)
	return nil
}
