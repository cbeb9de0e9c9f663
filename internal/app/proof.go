package app

import (
	"context"
	"errors"
	"time"

	"orange/internal/decide"
	"orange/internal/doctor"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Why explains how a task stands. Nothing is changed by it.
func (h *house) Why(ctx context.Context, id string) (decide.Explanation, error) {
	return h.engine.Why(ctx, h.looker(0), id, func(t task.Task, role string) (bool, error) { return h.lives(ctx, t, role) })
}

// Verify looks whether the past of tasks holds.
func (h *house) Verify(ctx context.Context, ids []string) ([]task.Finding, error) {
	d := &doctor.Doctor{Home: h.dir, Record: h.store, Files: h.files, Shown: h.engine, Mender: mender{h}, Now: time.Now, Settling: settling}
	return d.Verify(ctx, past{h}, ids)
}

// past lends the record and the kept texts to the doctor.
type past struct{ house *house }

func (p past) History(ctx context.Context, id string) (task.Task, []string, error) {
	s, err := p.house.store.Load(ctx, id)
	if err != nil {
		return s.Task, nil, err
	}
	lines, err := p.house.store.Lines(ctx, id)
	return s.Task, lines, err
}

func (p past) Kept(project, id, digest string) (string, bool, error) {
	return p.house.files.Kept(project, id, digest)
}

// Replay makes every decision of tasks again: by the rules that each was made by, or by those of another workflow.
func (h *house) Replay(ctx context.Context, ids []string, file string) ([]decide.Replayed, error) {
	var other *workflow.Definition
	if file != "" {
		var err error
		if other, err = h.CheckWorkflow(file); err != nil {
			return nil, err
		}
	}
	var out []decide.Replayed
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, lines, err := past{h}.History(ctx, id)
		if errors.Is(err, task.ErrNotFound) && len(ids) > 1 {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		r, err := decide.Replay(t, lines, decide.Library{
			Rules: func(digest string) (*workflow.Definition, error) {
				return h.home.Pinned(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
			},
			Texts: func(digest string) (string, bool, error) { return h.files.Kept(t.Project, id, digest) },
		}, other)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
