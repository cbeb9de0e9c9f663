package pool

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"orange/internal/rules/task"
	"orange/internal/work/worktree"
)

// documents are the documents of tasks, and the links to them in their worktrees.
type documents struct {
	*places
	settings *settings
	files    Files
}

func (d *documents) document(t task.Task) string { return d.files.Document(t.Project, t.ID) }

// Replaced checks whether a program put a file where the link to the document was, and answers its content. Where it
// was git, with a TASK.md of the repository's own, the link is made next to that one.
func (d *documents) Replaced(ctx context.Context, t task.Task) ([]byte, bool, error) {
	slot := worktree.Slot{Dir: d.Dir(t.Workspace)} // whose repository it is does not matter for that
	if info, err := os.Lstat(filepath.Join(slot.Dir, ".git")); err != nil || !info.Mode().IsRegular() {
		return nil, false, nil // its workspace is not there, or is no worktree of git's any more: a look at it says so
	}
	content, replaced, err := slot.Document().Replaced()
	if err != nil || !replaced {
		return nil, false, err
	}
	if slot, err = d.slot(t); err != nil {
		return nil, false, err
	}
	own, err := slot.Document().ReplacedByGit(ctx)
	if err == nil && own {
		_, err = d.link(ctx, t, slot)
	}
	if err != nil || own {
		return nil, false, err
	}
	return content, true, nil
}

// Relink puts the link to the document back.
func (d *documents) Relink(ctx context.Context, t task.Task) error {
	slot, err := d.slot(t)
	if err != nil {
		return err
	}
	_, err = d.link(ctx, t, slot)
	return err
}

// link makes the link to the task's document.
func (d *documents) link(ctx context.Context, t task.Task, slot worktree.Slot) (file string, err error) {
	err = d.settings.asOwn(ctx, t, false, func(task.Project) (err error) {
		file, err = slot.Document().Link(ctx, d.document(t))
		return err
	})
	return file, err
}

// Touched is when the task's document or branch last changed.
func (d *documents) Touched(_ context.Context, t task.Task) (time.Time, error) {
	slot, err := d.slot(t)
	if err != nil {
		return time.Time{}, err
	}
	last, err := slot.Touched()
	if err != nil {
		return time.Time{}, err
	}
	if info, err := os.Stat(d.document(t)); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	return last, nil
}
