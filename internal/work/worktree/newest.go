package worktree

import (
	"context"
	"errors"
	"strings"

	"orange/internal/rules/task"
)

// NewestRecord is the commit of the newest record of a task in a repository of snapshots. Unless it is the known one,
// its objects are here afterwards, under no ref. No record is a task.ErrNotFound.
func (r Repo) NewestRecord(ctx context.Context, at, taskID, known string) (commit string, err error) {
	if err := errors.Join(CheckTask(taskID), checkRemote(at)); err != nil {
		return "", err
	}
	defer explain(&err, "cannot look at the snapshot of task %s at %q", taskID, at)
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return "", err
	}
	ref := recordRef(taskID)
	commit, err = r.shippedAt(ctx, at, ref, env)
	switch {
	case err != nil || commit == known && commit != "":
		return commit, err
	case commit == "":
		return "", task.Notef(task.ErrNotFound, "there is none")
	}
	_, err = r.git(ctx, call{dir: r.Path, env: env, args: []string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", at, ref}})
	return commit, err
}

// RecordText is a text next to the task's folder in a record that is here.
func (r Repo) RecordText(ctx context.Context, record, name string) (text []byte, err error) {
	defer explain(&err, "cannot read %q in the snapshot %.12s", name, record)
	out, err := r.git(ctx, call{dir: r.Path, args: []string{"cat-file", "blob", record + ":" + name},
		most: mostOfUnfolded})
	return out.Stdout, err
}

// SameWork reports whether two commits of the files of a worktree have the same files at the same HEAD. It is false
// where one of them is not here any more.
func (r Repo) SameWork(ctx context.Context, a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	out, err := r.run(ctx, "rev-parse", a+"^{tree}", b+"^{tree}", a+"^1", b+"^1")
	found := strings.Fields(out.Text())
	return err == nil && len(found) == 4 && found[0] == found[1] && found[2] == found[3]
}
