package app

import (
	"context"
	"errors"
	"time"

	"orange/internal/cli"
	"orange/internal/decide"
	"orange/internal/doctor"
	"orange/internal/record"
	"orange/internal/replay"
	"orange/internal/sqlite"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Why explains how a task stands. Nothing is changed by it.
func (h *house) Why(ctx context.Context, id string) (decide.Explanation, error) {
	return h.engine.Why(ctx, h.looker(0), id, h.agents.Lives(ctx))
}

// All are the ids of all tasks, or of a project's where one is named, also of those that cannot be read.
func (h *house) All(ctx context.Context, project string) ([]string, error) {
	return h.store.IDs(ctx, project)
}

// Verify looks whether the past of tasks holds.
func (h *house) Verify(ctx context.Context, ids []string) ([]record.Finding, error) {
	return h.verifier().Verify(ctx, past{h.store, h}, ids)
}

// VerifyAll looks whether the past of all tasks holds, or of a project's where one is named, and whether one is gone.
func (h *house) VerifyAll(ctx context.Context, project string, progress func(what string, done, of int)) (
	[]record.Finding, error) {
	d := h.verifier()
	d.Progress = progress
	return d.VerifyAll(ctx, past{h.store, h}, project)
}

func (h *house) verifier() *doctor.Doctor {
	return &doctor.Doctor{Home: h.dir, Record: h.store, Files: h.files, Shown: h.engine, Mender: mender{h},
		Now: time.Now, Settling: settling}
}

// past lends the record, the kept texts and the rules to the doctor.
type past struct {
	*sqlite.Store
	house *house
}

func (p past) Kept(project, id, digest string) (string, bool, error) {
	return p.house.files.Kept(project, id, digest)
}

func (p past) Rules(ctx context.Context, ref task.WorkflowRef) error {
	_, err := p.house.home.Pinned(ctx, ref)
	return err
}

// Replay makes every decision of tasks again: by the rules that each was made by, or by those of another workflow.
func (h *house) Replay(ctx context.Context, ids []string, by cli.Rules,
	progress func(what string, done, of int)) (cli.Replays, error) {
	out := cli.Replays{Others: map[string]int{}}
	var other *workflow.Definition
	if by.Workflow != "" {
		var err error
		if other, err = h.CheckWorkflow(by.Workflow); err != nil {
			return out, err
		}
	}
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		progress("tasks replayed", i, len(ids))
		s, err := h.store.Load(ctx, id)
		if errors.Is(err, task.ErrNotFound) && len(ids) > 1 {
			continue // it was deleted meanwhile
		}
		if name := s.Task.Workflow.Name; err == nil && other != nil && by.Own && name != other.Name {
			out.Others[name]++
			continue
		}
		r := replay.Replayed{Untold: []replay.Difference{}, Different: []replay.Difference{}}
		if err == nil {
			r, err = h.replay(ctx, s.Task, other)
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

func (h *house) replay(ctx context.Context, t task.Task, other *workflow.Definition) (replay.Replayed, error) {
	lines, err := h.store.Lines(ctx, t.ID)
	if err != nil {
		return replay.Replayed{Untold: []replay.Difference{}, Different: []replay.Difference{}}, err
	}
	return replay.Replay(t, lines, replay.Library{
		Rules: func(digest string) (*workflow.Definition, error) {
			return h.home.Pinned(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
		},
		Texts: func(digest string) (string, bool, error) { return h.files.Kept(t.Project, t.ID, digest) },
	}, other)
}
