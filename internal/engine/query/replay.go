package query

import (
	"context"
	"errors"

	"orange/internal/proof/replay"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Replay makes every decision of tasks again: by the rules that each was made by, or by those of another workflow.
func (q *Service) Replay(ctx context.Context, ids []string, by replay.Rules,
	progress func(what string, done, of int)) (replay.Replays, error) {
	out := replay.Replays{Others: map[string]int{}}
	var other *workflow.Definition
	if by.Workflow != "" {
		var err error
		if other, err = q.Setup.CheckWorkflow(by.Workflow); err != nil {
			return out, err
		}
	}
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		progress("tasks replayed", i, len(ids))
		s, err := q.Record.Load(ctx, id)
		if errors.Is(err, task.ErrNotFound) && len(ids) > 1 {
			continue // it was deleted meanwhile
		}
		if name := s.Task.Workflow.Name; err == nil && other != nil && by.Own && name != other.Name {
			out.Others[name]++
			continue
		}
		r := replay.Replayed{Untold: []replay.Difference{}, Different: []replay.Difference{}}
		if err == nil {
			r, err = q.replay(ctx, s.Task, other)
		}
		if err != nil && len(ids) == 1 {
			return out, err
		}
		if err != nil {
			r.Task, r.Trouble = id, err.Error() // the others can be looked at all the same
		}
		out.Tasks = append(out.Tasks, r)
	}
	return out, nil
}

// replay makes every decision of a task again: by the rules that each was made by, or by those of another workflow.
func (q *Service) replay(ctx context.Context, t task.Task, other *workflow.Definition) (replay.Replayed, error) {
	lines, err := q.Record.Lines(ctx, t.ID)
	if err != nil {
		return replay.Replayed{Untold: []replay.Difference{}, Different: []replay.Difference{}}, err
	}
	return replay.Replay(t, lines, replay.Library{
		Rules: func(digest string) (*workflow.Definition, error) {
			return q.Setup.Pinned(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
		},
		Texts: func(digest string) (string, bool, error) { return q.Files.Kept(t.Project, t.ID, digest) },
	}, other)
}
