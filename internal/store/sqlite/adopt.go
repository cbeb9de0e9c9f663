package sqlite

import (
	"context"
	"fmt"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Adopt takes whole tasks into the record in one transaction, all of them or none, their histories line by line as they
// are, and returns them as recorded.
// task.ErrConflict: the record has one of them already, or another task has its workspace.
// task.ErrBranchTaken: another live task of the project has its branch.
func (s *Store) Adopt(ctx context.Context, all []record.Adoption) ([]task.Task, error) {
	out := make([]task.Task, len(all))
	err := s.transact(ctx, func(tx *batch) error {
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
	if err := checkUnknown(ctx, tx, t.ID); err != nil {
		return t, err
	}
	if t.Workspace != "" {
		taken, err := lease(ctx, tx, &t, t.Workspace)
		if err != nil {
			return t, err
		}
		if !taken {
			return t, fmt.Errorf("%w: another task has the workspace %q", task.ErrConflict, t.Workspace)
		}
	}
	grown := 0
	for i, line := range a.Lines {
		if err := writeEvent(ctx, tx, t.ID, i+1, line); err != nil {
			return t, fmt.Errorf("write event: %w", err)
		}
		grown += len(line) + 1
	}
	t.Seq = len(a.Lines)
	added, err := addEvents(ctx, tx, &t, a.Events)
	if err != nil {
		return t, err
	}
	t.Version = 1
	if err := writeTask(ctx, tx, task.Task{}, t, grown+added); err != nil {
		return t, err
	}
	if err := noteRendering(ctx, tx, task.Task{}, t); err != nil {
		return t, err
	}
	return t, adoptRest(ctx, tx, a)
}

func checkUnknown(ctx context.Context, tx *batch, id string) error {
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

// adoptRest writes evidence, seats and what the header showed.
func adoptRest(ctx context.Context, tx *batch, a record.Adoption) error {
	id := a.Task.ID
	for _, s := range a.Spent {
		if err := spend(ctx, tx, id, s); err != nil {
			return err
		}
	}
	if err := replaceEvidence(ctx, tx, "entries", id, a.Entry); err != nil {
		return err
	}
	if err := replaceEvidence(ctx, tx, "starts", id, a.Start); err != nil {
		return err
	}
	for _, shown := range a.Shown {
		if err := addRendering(ctx, tx, id, shown); err != nil {
			return err
		}
	}
	for _, seat := range a.Seats {
		if err := addSeat(ctx, tx, "INSERT OR IGNORE", id, &seat); err != nil {
			return err
		}
	}
	return nil
}
