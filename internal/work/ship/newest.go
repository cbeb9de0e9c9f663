package ship

import (
	"context"
	"errors"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/work/git"
)

// NewestRecord is the commit of the newest record of a task in a repository of snapshots. Unless it is the known one,
// its objects are here afterwards, under no ref. No record is a task.ErrNotFound.
func (r Snapshots) NewestRecord(ctx context.Context, at, taskID, known string) (commit string, err error) {
	if err := errors.Join(git.CheckTask(taskID), git.CheckRemote(at)); err != nil {
		return "", err
	}
	defer git.Explain(&err, "cannot look at the snapshot of task %s at %q", taskID, at)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return "", err
	}
	ref := recordRef(taskID)
	commit, err = r.ShippedAt(ctx, at, ref, env)
	switch {
	case err != nil || commit == known && commit != "":
		return commit, err
	case commit == "":
		return "", task.Notef(task.ErrNotFound, "there is none")
	}
	_, err = r.Do(ctx, git.Call{Dir: r.Path, Env: env, Args: []string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", at, ref}})
	return commit, err
}

// RecordText is a text next to the task's folder in a record that is here.
func (r Snapshots) RecordText(ctx context.Context, record, name string) (text []byte, err error) {
	defer git.Explain(&err, "cannot read %q in the snapshot %.12s", name, record)
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"cat-file", "blob", record + ":" + name},
		Most: mostOfUnfolded})
	return out.Stdout, err
}

// SameWork reports whether two commits of the files of a worktree have the same files at the same HEAD. It is false
// where one of them is not here any more.
func (r Snapshots) SameWork(ctx context.Context, a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	out, err := r.Run(ctx, "rev-parse", a+"^{tree}", b+"^{tree}", a+"^1", b+"^1")
	found := strings.Fields(out.Text())
	return err == nil && len(found) == 4 && found[0] == found[1] && found[2] == found[3]
}
