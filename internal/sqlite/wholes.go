package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"orange/internal/record"
	"orange/internal/task"
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
	err = s.reading(ctx, func(tx *batch) error {
		var err error
		out, err = wholes(ctx, tx, string(text))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load all of %d tasks: %w", len(ids), err)
	}
	return out, nil
}

// few are the tasks among a list of ids that have no long history.
const few = "(SELECT id FROM tasks WHERE id IN (SELECT value FROM json_each(?)) AND history_bytes < ?)"

func wholes(ctx context.Context, tx *batch, ids string) (map[string]record.Whole, error) {
	found := map[string]*record.Whole{}
	args := []any{ids, longHistory}
	all := newReader()
	err := tx.each(ctx, "SELECT "+columns+" FROM tasks WHERE id IN "+few, args,
		func(scan func(...any) error) error {
			t, err := all.task(scan)
			found[t.ID] = &record.Whole{Snapshot: record.Snapshot{Task: t}}
			return err
		})
	if err != nil {
		return nil, err
	}
	owed, err := hooks(ctx, tx, "task IN "+few, args...)
	if err != nil {
		return nil, err
	}
	for _, h := range owed {
		w := found[h.Task]
		if w.Hooks = append(w.Hooks, h); h.State == task.HookPending || h.State == task.HookFailed {
			w.Owed = append(w.Owed, h)
		}
	}
	query := "SELECT task, 0, source, digest, seq FROM spent WHERE task IN " + few +
		" UNION ALL SELECT task, 1, source, digest, 0 FROM entries WHERE task IN " + few +
		" UNION ALL SELECT task, 2, source, digest, 0 FROM starts WHERE task IN " + few + " ORDER BY 5, 3"
	err = tx.each(ctx, query, append(append(args, args...), args...), func(scan func(...any) error) error {
		var id string
		var kind int
		var one task.Spent
		if err := scan(&id, &kind, &one.Source, &one.Digest, &one.Seq); err != nil {
			return err
		}
		addEvidence(&found[id].Snapshot, kind, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = tx.each(ctx, "SELECT task, line FROM events WHERE task IN "+few+" ORDER BY task, seq", args,
		func(scan func(...any) error) error {
			var id, line string
			err := scan(&id, &line)
			if err == nil {
				found[id].Lines = append(found[id].Lines, line)
			}
			return err
		})
	out := make(map[string]record.Whole, len(found))
	for id, w := range found {
		out[id] = *w
	}
	return out, err
}
