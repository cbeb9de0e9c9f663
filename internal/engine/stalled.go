package engine

import (
	"context"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
)

// Stalled marks a task whose agent lives and has done nothing since a moment; a zero moment removes the mark.
// It reports whether the mark is new.
func (e *crew) Stalled(ctx context.Context, id string, since time.Time) (bool, error) {
	_, changed, err := e.files.amend(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		c, due := decide.Stalled(s.Task, since, e.now())
		return c, due, nil
	})
	return changed && !since.IsZero(), err
}
