package snapshots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/worktree"
)

// Restore brings a task back from its snapshot in a repository, a remote of the project's or an address: its folder,
// its workflow, its branch, and, in a workspace of this home, what was uncommitted. Its history is verified. From then
// on the repository refuses snapshots of the home that had the task.
func (k Keeper) Restore(ctx context.Context, project, id, from string) (record.Adopted, error) {
	if err := worktree.CheckTask(id); err != nil {
		return record.Adopted{}, err
	}
	_, err := k.Load(ctx, id)
	if err == nil {
		return record.Adopted{}, task.Notef(task.ErrUsage, "cannot restore task %s: it is on record here", id)
	}
	if !errors.Is(err, task.ErrNotFound) {
		return record.Adopted{}, err
	}
	dir := k.Files.Dir(project, id)
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return record.Adopted{}, errors.Join(err, task.Notef(task.ErrUsage, "cannot restore task %s: there is a "+
			"folder %q; bring the task back from it (orange doctor --rebuild), or move it away", id, dir))
	}
	slot, err := k.Slots.Slot(task.Task{ID: id, Project: project})
	if err != nil {
		return record.Adopted{}, err
	}
	release, err := k.Files.Lock(ctx, id+".snapshot")
	if err != nil {
		return record.Adopted{}, err
	}
	defer release()
	shipped, err := slot.Repo.Fetched(ctx, from, id)
	if err != nil {
		return record.Adopted{}, err
	}
	files, texts, err := slot.Repo.Unfold(ctx, shipped.Record)
	if err != nil {
		return record.Adopted{}, err
	}
	said, err := k.told(texts, project, id)
	if err == nil {
		err = k.Workflows.SaveWorkflow(ctx, said.Workflow, texts[workflowName])
	}
	if err == nil && shipped.Work != "" {
		err = slot.Repo.Begin(ctx, said.Branch, shipped.Work)
	}
	if err != nil {
		return record.Adopted{}, err
	}
	mine := held{Epoch: said.Epoch + 1, Acknowledged: map[string]string{from: shipped.Record}}
	if err := k.hold(id, mine); err != nil {
		return record.Adopted{}, err
	}
	return k.adopt(ctx, project, id, dir, files)
}

// told is what a snapshot says of its task, where it is that of the task and has the workflow that it names.
func (k Keeper) told(texts map[string][]byte, project, id string) (about, error) {
	var said about
	if err := json.Unmarshal(texts[aboutName], &said); err != nil {
		return said, fmt.Errorf("cannot restore task %s: the snapshot does not say whose it is: %w", id, err)
	}
	sum := sha256.Sum256(texts[workflowName])
	switch {
	case said.Task != id || said.Project != project:
		return said, task.Notef(task.ErrUsage, "cannot restore task %s of %q: the snapshot is of task %s of %q", id,
			project, said.Task, said.Project)
	case hex.EncodeToString(sum[:]) != said.Workflow.Digest:
		return said, fmt.Errorf("cannot restore task %s: the workflow in the snapshot is not the one that it names", id)
	}
	return said, nil
}

// adopt writes the folder next to its place, verifies what it says, and takes the task over.
func (k Keeper) adopt(ctx context.Context, project, id, dir string, files map[string][]byte) (record.Adopted, error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, task.PrivateFolder); err != nil {
		return record.Adopted{}, fmt.Errorf("make the folder of the project's tasks: %w", err)
	}
	half := filepath.Join(parent, "."+id+".restored") // no one takes it for a task's folder
	err := os.RemoveAll(half)
	for name, text := range files { // each its own file
		if err == nil {
			err = writeFile(filepath.Join(half, filepath.FromSlash(name)), text)
		}
	}
	if err == nil {
		err = os.Rename(half, dir)
	}
	if err != nil {
		return record.Adopted{}, errors.Join(fmt.Errorf("write the task's folder: %w", err), os.RemoveAll(half))
	}
	told, err := k.Adopter.Tell(ctx, project, id, files["history.jsonl"])
	if err != nil { // what cannot be verified is no task
		return record.Adopted{}, errors.Join(fmt.Errorf("cannot restore task %s: %w", id, err), os.RemoveAll(dir))
	}
	all := k.Adopter.Adopt(ctx, []record.Adoption{told}, func(int) {})
	return all[0], all[0].Err
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	return os.WriteFile(path, text, task.PrivateFile)
}
