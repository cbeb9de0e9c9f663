package engine

import (
	"context"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
)

// Free ends the session of a task that is over and gives its workspace back, if its last transition did not.
func (e *rooms) Free(ctx context.Context, id string) error {
	s, changed, err := e.do(ctx, id, e.onRecord, func(s step) (*ruling, error) {
		c, due := decide.Free(s.Task, s.Owed, e.now())
		if !due {
			return nil, nil
		}
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskFree}}, nil
	})
	if err != nil || !changed {
		return err
	}
	_, err = e.outcomes.announceAndRun(ctx, s.Task, true)
	return err
}
