package pool

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/work/worktree"
)

// Prepare makes the worktree ready for the task, and answers what of an earlier one was found in it. What it changes of
// the settings that all worktrees share counts as Orange's own.
func (p *Pool) Prepare(ctx context.Context, t task.Task) (worktree.Cleared, error) {
	slot, err := p.slot(t)
	if err != nil {
		return worktree.Cleared{}, err
	}
	var prepared worktree.Cleared
	err = p.asOwn(ctx, t, true, func(project task.Project) (err error) {
		prepared, err = p.prepare(ctx, t, slot, project)
		return err
	})
	return p.report(t, prepared), err
}

func (p *Pool) prepare(ctx context.Context, t task.Task, slot worktree.Slot, project task.Project) (worktree.Cleared,
	error) {
	// A base that is weeks old is worth a try to fetch; without a network the task starts from what is there, and one
	// that does not answer is not waited for without end.
	limit := cmp.Or(p.patience, fetchLimit)
	within, end := context.WithTimeoutCause(ctx, limit, fmt.Errorf("origin did not answer within %s", limit))
	repo, _, err := p.asNoted(ctx, project)
	if err == nil {
		err = repo.Fetch(within)
	}
	end()
	var notes []string
	if err != nil && ctx.Err() == nil {
		p.Log.Warn("origin could not be fetched; the task starts from what is known of it",
			"component", "worktree", "task", t.ID, "error", err.Error())
		notes = append(notes, "it begins from what is here: "+printable.Line(err.Error()))
	}
	if err := os.MkdirAll(filepath.Dir(slot.Dir), task.PrivateFolder); err != nil {
		return worktree.Cleared{}, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	if slot.Noted, err = p.noted(ctx, slot.Repo, t); err != nil {
		return worktree.Cleared{}, err
	}
	prepared, err := slot.Prepare(ctx, t.Branch, t.ID)
	stays := ""
	if err == nil {
		stays, err = slot.Restore(ctx, t.ID)
	}
	if err == nil {
		_, err = slot.Document().Link(ctx, p.document(t))
	}
	if err == nil {
		err = p.makeReady(ctx, t, slot)
	}
	if err == nil {
		notes, err = p.noteHooks(ctx, project, slot, notes)
	}
	if err == nil {
		err = p.noteOthers(ctx, t, slot.Repo)
	}
	prepared.Notes = append(prepared.Notes, notes...)
	if stays != "" { // it could not be laid out, and is not lost
		prepared.Rescued = append(prepared.Rescued, worktree.Rescue{Ref: stays})
	}
	return prepared, err
}

// noteHooks adds a note where no hook of git runs in a worktree that is ready, and hooks run in the person's checkout.
func (p *Pool) noteHooks(ctx context.Context, project task.Project, slot worktree.Slot, notes []string) ([]string,
	error) {
	n, _, err := p.lookAtShared(ctx, project)
	if err != nil {
		return notes, err
	}
	for _, hooksPath := range n.Now.Values["core.hookspath"] {
		lacks, err := slot.LacksHooks(ctx, hooksPath)
		if err != nil {
			return notes, err
		}
		if lacks {
			notes = append(notes, fmt.Sprintf("no hook of git runs in its worktree: they are in %q, which no commit "+
				"has; have them brought along: %s", hooksPath, bringHooks(project, hooksPath)))
		}
	}
	return notes, nil
}
