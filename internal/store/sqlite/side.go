package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Hooks are all hooks that an event of a task queued, in any state.
func (s *Store) Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error) {
	return s.hooks(ctx, "task = ? AND event = ?", id, event)
}

// Owed lists the hooks that are still owed, of all tasks.
func (s *Store) Owed(ctx context.Context) ([]task.OwedHook, error) {
	return s.hooks(ctx, "state IN ('pending', 'failed')")
}

// UnderWay lists the hooks of all tasks whose attempts began before a time and have not ended.
func (s *Store) UnderWay(ctx context.Context, since time.Time) ([]task.OwedHook, error) {
	return s.hooks(ctx, "state IN ('pending', 'failed') AND ended_at = '' AND started_at != '' AND started_at < ?",
		task.FormatTime(since))
}

// hooks are those that meet a condition, in order.
func (s *Store) hooks(ctx context.Context, where string, args ...any) (out []task.OwedHook, err error) {
	err = s.inOneState(ctx, func(tx *batch) error {
		out, err = hooks(ctx, tx, where, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load hooks: %w", err)
	}
	return out, nil
}

// BeginHook notes that an attempt to perform a hook starts. task.ErrConflict: the hook is not owed any more.
func (s *Store) BeginHook(ctx context.Context, hook int64, now time.Time) error {
	// After a power cut the hook is owed still, and one attempt less is counted.
	changed, err := s.write(ctx, true, `UPDATE hooks SET attempts = attempts + 1, started_at = ?, ended_at = ''
		WHERE id = ? AND state IN ('pending', 'failed')`, task.FormatTime(now), hook)
	if err != nil {
		return fmt.Errorf("begin hook %d: %w", hook, err)
	}
	if changed != 1 {
		return task.ErrConflict
	}
	return nil
}

// clockSet is how far ahead no next try lies, unless the clock has been set back since.
const clockSet = 5 * time.Minute

// PendingTasks lists the tasks that owe a hook which may be tried now: pending ones, and failed ones whose time has
// come.
func (s *Store) PendingTasks(ctx context.Context, now time.Time) ([]string, error) {
	return s.ids(ctx, `SELECT DISTINCT task FROM hooks WHERE state IN ('pending', 'failed')
		AND (state = 'pending' OR next_try <= ? OR next_try > ?) ORDER BY task`,
		task.FormatTime(now), task.FormatTime(now.Add(clockSet)))
}

func scanSeat(scan func(...any) error) (record.Seat, error) {
	var seat record.Seat
	var start string
	err := scan(&seat.Hash, &seat.Task, &seat.Role, &seat.Hook, &seat.PID, &seat.Began, &seat.Ended, &start,
		&seat.Event)
	if err != nil {
		return seat, err
	}
	if err := json.Unmarshal([]byte(start), &seat.Start); err != nil {
		return seat, fmt.Errorf("%w: read a seat of task %q: %w", errDamagedRow, seat.Task, err)
	}
	return seat, nil
}

const seatColumns = `hash, task, role, hook, pid, began, ended, start,
	coalesce((SELECT event FROM hooks WHERE hooks.id = seats.hook), 0)`

// seat is the first of those that the condition finds.
func seat(ctx context.Context, tx *batch, condition string, args ...any) (record.Seat, error) {
	found, err := scanSeat(func(into ...any) error {
		return tx.one(ctx, "SELECT "+seatColumns+" FROM seats WHERE "+condition, args, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return record.Seat{}, task.ErrNotFound
	}
	return found, err
}

// Seat finds a seat by the hash of its secret. An unknown one is task.ErrNotFound.
func (s *Store) Seat(ctx context.Context, hash string) (found record.Seat, err error) {
	err = s.use(ctx, func(b *batch) error {
		found, err = seat(ctx, b, "hash = ?", hash)
		return err
	})
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return record.Seat{}, fmt.Errorf("look up seat: %w", s.explain(err))
	}
	return found, err
}

// SeatOf finds the seat whose agent was started as the first of the processes that is any agent's. None is
// task.ErrNotFound.
func (s *Store) SeatOf(ctx context.Context, processes ...task.Process) (found record.Seat, err error) {
	err = s.inOneState(ctx, func(tx *batch) error {
		for _, p := range processes {
			found, err = seat(ctx, tx, "pid = ? AND began = ? ORDER BY ended, hook DESC", p.PID, p.Began)
			if !errors.Is(err, task.ErrNotFound) {
				return err
			}
		}
		return task.ErrNotFound
	})
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return record.Seat{}, fmt.Errorf("look up the seats of processes: %w", err)
	}
	return found, err
}

// OpenSeats lists the seats that have not ended, of one task or of all where none is named, in the order in which
// they were issued. Those whose hook is still being performed are left out: it is not known yet whether their
// agent lives.
func (s *Store) OpenSeats(ctx context.Context, id string) ([]record.Seat, error) {
	var out []record.Seat
	err := s.rows(ctx, `SELECT `+seatColumns+
		`, EXISTS (SELECT 1 FROM hooks WHERE hooks.id = seats.hook AND hooks.state = 'superseded')
		FROM seats WHERE ended = 0 AND (task = ? OR ? = '')
		AND NOT EXISTS (SELECT 1 FROM hooks WHERE hooks.id = seats.hook AND hooks.state IN ('pending', 'failed'))
		ORDER BY seats.rowid`,
		[]any{id, id}, func(scan func(...any) error) error {
			var dropped bool
			seat, err := scanSeat(func(into ...any) error { return scan(append(into, &dropped)...) })
			seat.Dropped = dropped
			out = append(out, seat)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("look for seats: %w", err)
	}
	return out, nil
}

// Wait notes a waiter; Unwait takes it back. Both may be repeated. Neither waits for the disk: no waiter outlives a
// power cut.
func (s *Store) Wait(ctx context.Context, id, role string, w task.Process) error {
	_, err := s.write(ctx, true, "INSERT OR REPLACE INTO waiters (task, role, pid, began) VALUES (?, ?, ?, ?)",
		id, role, w.PID, w.Began)
	if err != nil {
		return fmt.Errorf("note waiter: %w", err)
	}
	return nil
}

// Unwait takes a waiter back.
func (s *Store) Unwait(ctx context.Context, id, role string, w task.Process) error {
	if _, err := s.write(ctx, true, "DELETE FROM waiters WHERE task = ? AND role = ? AND pid = ?", id, role,
		w.PID); err != nil {
		return fmt.Errorf("forget waiter: %w", err)
	}
	return nil
}

// Waiters lists who waits, the dead ones too: the record cannot tell.
func (s *Store) Waiters(ctx context.Context, id, role string) ([]task.Process, error) {
	var out []task.Process
	err := s.rows(ctx, "SELECT pid, began FROM waiters WHERE task = ? AND role = ? ORDER BY pid", []any{id, role},
		func(scan func(...any) error) error {
			var w task.Process
			err := scan(&w.PID, &w.Began)
			out = append(out, w)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("look for waiters: %w", err)
	}
	return out, nil
}

// Notice is the newest message to a role of a task; a zero one when there is none.
func (s *Store) Notice(ctx context.Context, id, role string) (record.Notice, error) {
	n := record.Notice{Role: role}
	err := s.one(ctx, "SELECT seq, text FROM notices WHERE task = ? AND role = ?", []any{id, role}, &n.Seq, &n.Text)
	if errors.Is(err, sql.ErrNoRows) {
		return record.Notice{}, nil
	}
	if err != nil {
		return record.Notice{}, fmt.Errorf("load notice: %w", err)
	}
	return n, nil
}

// Refusals are those of the agents of a task in its last stay in a status that had any; zero ones where none had.
func (s *Store) Refusals(ctx context.Context, id string) (r record.Refusals, err error) {
	var line string
	err = s.one(ctx, "SELECT line FROM refusals WHERE task = ?", []any{id}, &line)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, nil
	case err != nil:
		return r, fmt.Errorf("load refusals: %w", err)
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		return record.Refusals{}, fmt.Errorf("%w: read the refusals of task %q: %w", errDamagedRow, id, err)
	}
	return r, nil
}

// NoteRefusals keeps the refusals of a task's agents in place of those before. A power cut may take that back.
func (s *Store) NoteRefusals(ctx context.Context, id string, r record.Refusals) error {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = s.write(ctx, true, "INSERT OR REPLACE INTO refusals (task, line) SELECT id, ? FROM tasks WHERE id = ?",
			string(line), id)
	}
	if err != nil {
		return fmt.Errorf("note refusals: %w", err)
	}
	return nil
}

// WasRendered reports whether the task's frontmatter ever showed the value in the field.
func (s *Store) WasRendered(ctx context.Context, id, field, value string) (bool, error) {
	var n int
	err := s.one(ctx, "SELECT count(*) FROM renderings WHERE task = ? AND field = ? AND value = ?",
		[]any{id, field, value}, &n)
	if err != nil {
		return false, fmt.Errorf("look up what TASK.md of %q showed: %w", id, err)
	}
	return n > 0, nil
}
