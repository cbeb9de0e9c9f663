package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// setAside moves a folder of the task's artifacts to set-aside/EVENT-FOLDER, so that they are not lost and move
// nothing any more. What an agent has put in its place since an earlier attempt stays.
func (h *Executor) setAside(_ context.Context, job record.Job) (record.Effect, error) {
	dir, folder := h.Setup.TaskDir(job.Task), job.Hook.Folder
	name := task.AsideName(job.Hook.Event, folder)
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return record.Effect{Said: folder + " is in " + name}, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return record.Effect{Said: "nothing in " + folder}, nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, task.AsideFolder), task.PrivateFolder)
	}
	if err == nil {
		err = os.Rename(filepath.Join(dir, filepath.FromSlash(folder)), filepath.Join(dir, name))
	}
	if err != nil {
		return record.Effect{}, fmt.Errorf("set %q aside: %w", folder, err)
	}
	return record.Effect{Said: folder + " is in " + name}, nil
}
