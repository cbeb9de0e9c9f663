package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// longHistory is the length in bytes from which on a history is read with others no more: many would not fit into
// memory.
const longHistory = 64 << 10

// Wholes is all that is on record of some tasks at one moment, by their ids, with a few questions for all of them.
// Tasks that are not on record, and those with a long history, are left out.
func (s *Store) Wholes(ctx context.Context, ids []string) (map[string]record.Whole, error) {
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	var out map[string]record.Whole
	err = s.inOneState(ctx, func(tx *batch) error {
		var err error
		out, err = wholes(ctx, tx, string(text))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load all of %d tasks: %w", len(ids), err)
	}
	return out, nil
}

// Whole is all that is on record of one task, at one moment. An unknown id is task.ErrNotFound.
func (s *Store) Whole(ctx context.Context, id string) (record.Whole, error) {
	var out record.Whole
	err := s.inOneState(ctx, func(tx *batch) error {
		var err error
		if out.Task, err = loadTask(ctx, tx, id); err != nil {
			return err
		}
		return wholesByID{id: &out}.fill(ctx, tx, "= ?", id)
	})
	if err != nil {
		return record.Whole{}, fmt.Errorf("load all of task %q: %w", id, err)
	}
	return out, nil
}

// few are the tasks among a list of ids that have no long history.
const few = "(SELECT id FROM tasks WHERE id IN (SELECT value FROM json_each(?)) AND history_bytes < ?)"

func wholes(ctx context.Context, tx *batch, ids string) (map[string]record.Whole, error) {
	found := wholesByID{}
	all := newReader()
	err := tx.each(ctx, "SELECT "+columns+" FROM tasks WHERE id IN "+few, []any{ids, longHistory},
		func(scan func(...any) error) error {
			t, err := all.task(scan)
			found[t.ID] = &record.Whole{Snapshot: record.Snapshot{Task: t}}
			return err
		})
	if err == nil {
		err = found.fill(ctx, tx, "IN "+few, ids, longHistory)
	}
	out := make(map[string]record.Whole, len(found))
	for id, w := range found {
		out[id] = *w
	}
	return out, err
}

// wholesByID are tasks that were asked for, by their ids.
type wholesByID map[string]*record.Whole

// wholeOf is the task that a row says it is of. The database finds rows by an order in which a damaged one is out of
// place: it may come for a task that was not asked for.
func (all wholesByID) wholeOf(table, id string) (*record.Whole, error) {
	if w := all[id]; w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("%w: a row of %s is of task %q, and in the place of another's", errDamagedRow, table, id)
}

// fill adds what is on record of the tasks besides their own rows. Which tells that a row is of one of them.
func (all wholesByID) fill(ctx context.Context, tx *batch, which string, args ...any) error {
	owed, err := hooks(ctx, tx, "task "+which, args...)
	if err != nil {
		return err
	}
	for _, h := range owed {
		w, err := all.wholeOf("hooks", h.Task)
		if err != nil {
			return err
		}
		if w.Hooks = append(w.Hooks, h); h.State == task.HookPending || h.State == task.HookFailed {
			w.Owed = append(w.Owed, h)
		}
	}
	const shown, role = 3, 4
	var query string
	for _, table := range []string{"0, source, digest, seq FROM spent", "1, source, digest, 0 FROM entries",
		"2, source, digest, 0 FROM starts", "3, field, value, 0 FROM renderings", "4, role, '', 0 FROM seats",
		"4, role, '', 0 FROM notices", "4, role, '', 0 FROM waiters"} {
		query += " UNION ALL SELECT task, " + table + " WHERE task " + which
	}
	query = strings.TrimPrefix(query, " UNION ALL ") + " ORDER BY 5, 3"
	err = tx.each(ctx, query, slices.Repeat(args, strings.Count(query, which)), func(scan func(...any) error) error {
		var id string
		var kind int
		var one task.Spent
		if err := scan(&id, &kind, &one.Source, &one.Digest, &one.Seq); err != nil {
			return err
		}
		w, err := all.wholeOf("spent, entries, starts, renderings, seats, notices or waiters", id)
		switch {
		case err != nil:
			return err
		case kind == shown:
			w.Shown = append(w.Shown, record.Shown{Field: one.Source, Value: one.Digest})
		case kind == role:
			w.Roles = append(w.Roles, one.Source)
		default:
			addEvidence(&w.Snapshot, kind, one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	query = "SELECT task, seq, line FROM events WHERE task " + which + " ORDER BY task, seq"
	return tx.each(ctx, query, args, func(scan func(...any) error) error {
		var id, line string
		var seq int
		if err := scan(&id, &seq, &line); err != nil {
			return err
		}
		w, err := all.wholeOf("events", id)
		if err == nil && seq != len(w.Lines)+1 {
			err = fmt.Errorf("%w: event %d of task %q is in the place of event %d", errDamagedRow, seq, id,
				len(w.Lines)+1)
		}
		if err == nil {
			w.Lines = append(w.Lines, line)
		}
		return err
	})
}
