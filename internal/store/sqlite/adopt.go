package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Adopt takes whole tasks into the record in one transaction, all of them or none, their histories line by line as they
// are, and returns them as recorded.
// task.ErrConflict: the record has one of them already, or another task has its workspace.
// task.ErrBranchTaken: another live task of the project has its branch.
func (s *Store) Adopt(ctx context.Context, all []record.Adoption) ([]task.Task, error) {
	out := make([]task.Task, len(all))
	err := s.within(ctx, func(tx *batch) error {
		var first int64
		for _, a := range all {
			first = max(first, a.FirstHook)
		}
		if err := beginHooks(ctx, tx, first); err != nil {
			return err
		}
		for i, a := range all {
			var err error
			if out[i], err = adopt(ctx, tx, a); err != nil {
				return fmt.Errorf("adopt task %q: %w", a.Task.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func adopt(ctx context.Context, tx *batch, a record.Adoption) (task.Task, error) {
	t := a.Task
	if err := unknown(ctx, tx, t.ID); err != nil {
		return t, err
	}
	if t.Workspace != "" {
		done, err := tx.ExecContext(ctx,
			"INSERT OR IGNORE INTO leases (workspace, project, task) VALUES (?, ?, ?)", t.Workspace, t.Project, t.ID)
		if err != nil {
			return t, fmt.Errorf("reserve workspace: %w", err)
		}
		if taken, err := done.RowsAffected(); err != nil || taken != 1 {
			return t, fmt.Errorf("%w: another task has the workspace %q", task.ErrConflict, t.Workspace)
		}
	}
	t, grown, err := adoptHistory(ctx, tx, a, t)
	if err != nil {
		return t, err
	}
	t.Version = 1
	if err := writeTask(ctx, tx, task.Task{}, t, grown); err != nil {
		return t, err
	}
	if err := noteRendering(ctx, tx, task.Task{}, t); err != nil {
		return t, err
	}
	return t, adoptRest(ctx, tx, a, t)
}

func unknown(ctx context.Context, tx *batch, id string) error {
	var have int
	if err := tx.one(ctx, "SELECT count(*) FROM tasks WHERE id = ?", []any{id}, &have); err != nil {
		return fmt.Errorf("look for the task: %w", err)
	}
	if have > 0 {
		return fmt.Errorf("%w: it is on record", task.ErrConflict)
	}
	return nil
}

// beginHooks makes the numbers of new hooks begin behind the given one. Windows of agents carry the number of the hook
// that started them: one that came again would be taken for a window that its hook has started already.
func beginHooks(ctx context.Context, tx *batch, first int64) error {
	done, err := tx.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'hooks'", first)
	if err != nil {
		return fmt.Errorf("renumber hooks: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES ('hooks', ?)", first); err != nil {
		return fmt.Errorf("renumber hooks: %w", err)
	}
	return nil
}

// adoptHistory writes the history, and answers the task at its end and how many bytes there are.
func adoptHistory(ctx context.Context, tx *batch, a record.Adoption, t task.Task) (after task.Task,
	grown int, err error) {
	write := func(seq int, line string) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO events (task, seq, line) VALUES (?, ?, ?)", t.ID, seq,
			line); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
		grown += len(line) + 1
		return nil
	}
	for i, line := range a.Lines {
		if err := write(i+1, line); err != nil {
			return t, 0, err
		}
	}
	t.Seq = len(a.Lines)
	for _, e := range a.Events {
		sealed, err := history.Seal(e, t.Seq+1, t.Hash)
		if err != nil {
			return t, 0, err
		}
		line, err := json.Marshal(sealed)
		if err != nil {
			return t, 0, fmt.Errorf("write event: %w", err)
		}
		if err := write(sealed.Seq, string(line)); err != nil {
			return t, 0, err
		}
		t.Seq, t.Hash = sealed.Seq, sealed.Hash
	}
	return t, grown, nil
}

// adoptRest writes evidence, seats and what the header showed.
func adoptRest(ctx context.Context, tx *batch, a record.Adoption, recorded task.Task) error {
	id := a.Task.ID
	write := func(query string, args ...any) error {
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("write what belongs to it: %w", err)
		}
		return nil
	}
	for _, s := range a.Spent {
		if err := write("INSERT OR REPLACE INTO spent (task, source, digest, seq) VALUES (?, ?, ?, ?)", id,
			s.Source, s.Digest, s.Seq); err != nil {
			return err
		}
	}
	for _, e := range a.Entry {
		if err := write("INSERT OR REPLACE INTO entries (task, source, digest) VALUES (?, ?, ?)", id, e.Source,
			e.Digest); err != nil {
			return err
		}
	}
	for _, e := range a.Start {
		if err := write("INSERT OR REPLACE INTO starts (task, source, digest) VALUES (?, ?, ?)", id, e.Source,
			e.Digest); err != nil {
			return err
		}
	}
	for _, shown := range onceShown(a.Shown, recorded) {
		if err := write("INSERT OR IGNORE INTO renderings (task, field, value) VALUES (?, ?, ?)", id, shown.Field,
			shown.Value); err != nil {
			return err
		}
	}
	for _, seat := range a.Seats {
		err := write("INSERT OR IGNORE INTO seats (hash, task, role, hook, pid, began, ended) VALUES (?, ?, "+
			"?, ?, ?, ?, ?)",
			seat.Hash, id, seat.Role, seat.Hook, seat.PID, seat.Began, seat.Ended)
		if err != nil {
			return err
		}
	}
	return nil
}

// onceShown are the values that a header showed, each once, without those that are noted with the task itself.
func onceShown(all []record.Shown, recorded task.Task) []record.Shown {
	seen := make(map[record.Shown]bool, len(all))
	for _, v := range document.Fields(recorded) {
		seen[record.Shown{Field: v.Key, Value: v.Text}] = true
	}
	var out []record.Shown
	for _, one := range all {
		if !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}
