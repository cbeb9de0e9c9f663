package monitor

import (
	"context"
	"errors"
	"sync"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// listen has every agent watched whose seat is open, as soon as the record knows of it.
func (m *Monitor) listen(ctx context.Context, crew *sync.WaitGroup) {
	changed := make(chan struct{}, 1)
	crew.Go(func() {
		m.report(ctx, "listen", m.WatchRecord(ctx, func() {
			signal(m.written)
			signal(changed)
		}))
	})
	// The sign comes when a commit is written, and the commit can be read a little later, when the disk has it:
	// so it is looked again and again for a while.
	pause := time.NewTimer(0)
	defer pause.Stop()
	wait := firstWait
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			wait = firstWait
			pause.Reset(wait)
		case <-pause.C:
			m.report(ctx, "listen", m.guard(ctx, crew))
			if wait *= 2; wait < maintainEvery { // what is later still is met with the round of care
				pause.Reset(wait)
			}
		}
	}
}

// guard begins to watch those who are not watched yet, and leaves those alone whose time is over. Where nothing was
// written since the last time it asks for no seat.
func (m *Monitor) guard(ctx context.Context, crew *sync.WaitGroup) error {
	written, err := m.Record.Writes(ctx)
	if err != nil || m.guardsAll(written) {
		return err
	}
	seats, err := m.Record.OpenSeats(ctx, "")
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.guards == nil {
		m.guards = map[string]guard{}
	}
	m.guarded = written
	open := map[string]bool{}
	for _, seat := range seats {
		open[seat.Hash] = true
		if _, watched := m.guards[seat.Hash]; watched {
			continue
		}
		waiting, off := context.WithCancelCause(ctx)
		m.guards[seat.Hash] = guard{seat.Hook, off}
		crew.Go(func() { m.watch(ctx, waiting, seat) })
	}
	for hash, g := range m.guards {
		if !open[hash] {
			g.off(nil)
			delete(m.guards, hash)
		}
	}
	return nil
}

// guardsAll reports whether everyone is watched who has to be, since nothing was written.
func (m *Monitor) guardsAll(written int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.guarded == written
}

// endWait ends the waiting for an agent whose launcher has noted its end. The launcher itself may be there a
// millisecond longer. A note that another program wrote ends nothing.
func (m *Monitor) endWait(hook int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seat, g := range m.guards {
		if g.hook != hook {
			continue
		}
		if _, found, err := m.Agents.Ending(hook, seat); found && err == nil { // else its process tells
			g.off(errNoted)
		}
	}
}

// watch waits for one agent's end and has it judged. Waiting ends when the agent need not be watched any more, as
// it does with the judgment: what follows from that goes on all the same.
func (m *Monitor) watch(ctx, waiting context.Context, seat record.Seat) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if g, watched := m.guards[seat.Hash]; watched {
			g.off(nil)
			delete(m.guards, seat.Hash)
			m.guarded = -1 // a death that was left for later is met again
		}
	}()
	err := m.end(waiting, seat)
	if err == nil {
		err = m.reportEnd(ctx, seat)
	}
	if waiting.Err() == nil || !errors.Is(err, context.Canceled) {
		m.report(ctx, "watch", err)
	}
}

// end waits for an agent's end, by its launcher's process or by its launcher's note, whichever tells first.
func (m *Monitor) end(waiting context.Context, seat record.Seat) error {
	var err error
	if seat.PID != 0 { // else it was gone before its process was known
		err = m.Agents.Watch(waiting, task.Process{PID: seat.PID, Began: seat.Began})
	}
	if errors.Is(err, errors.ErrUnsupported) {
		m.unwatchable.Do(func() { close(m.hinted) })
		// the note was there before the monitor waited for it
		if _, found, err := m.Agents.Ending(seat.Hook, seat.Hash); found || err != nil {
			return err
		}
		<-waiting.Done() // notes, hints and looks do it here
		err = waiting.Err()
	}
	if errors.Is(context.Cause(waiting), errNoted) {
		return nil
	}
	return err
}
