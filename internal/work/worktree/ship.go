package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/work/git"
)

// WorkCommit is a commit of the slot's files as they are, uncommitted and new ones too, with HEAD as its parent, and
// the new files that keep leaves out of it. Ignored files are never in it. It changes nothing in the slot.
func (s Slot) WorkCommit(ctx context.Context, taskID string, keep func(file string, size int64) bool) (
	commit string, left []string, err error) {
	defer git.Explain(&err, "cannot take a snapshot of workspace %q", s.Dir)
	here, present, err := s.look(ctx)
	if err == nil && (!present || here.head == "") {
		err = s.Repo.WithMisplaced(s.Dir, errors.New("there is no worktree with a commit"))
	}
	if err != nil {
		return "", nil, err
	}
	return s.commitWork(ctx, here, taskID, keep)
}

// commitWork is WorkCommit for a slot that was looked at.
func (s Slot) commitWork(ctx context.Context, here place, taskID string, keep func(file string, size int64) bool) (
	commit string, left []string, err error) {
	known, err := s.Files().list(ctx)
	if err != nil {
		return "", nil, err
	}
	index, err := s.Files().newIndex(ctx, known, s.Files().present(known.flags))
	if err != nil {
		return "", nil, err
	}
	defer index.remove()
	_, addErr := s.runWithIndex(ctx, index.file, "add", "--all", "--sparse", "--ignore-errors")
	if addErr != nil && git.ExitCode(addErr) < 0 {
		return "", nil, addErr
	}
	if left, err = s.leaveOut(ctx, index.file, here.head, keep); err != nil {
		return "", nil, err
	}
	if addErr != nil { // files that cannot be read stop no snapshot of the others
		all, err := s.Files().changes(ctx, index.file, "all")
		if err != nil {
			return "", nil, err
		}
		for _, c := range all {
			if c.tree != unchanged && !slices.Contains(left, c.path) {
				left = append(left, c.path)
			}
		}
	}
	tree, err := s.Files().writeTree(ctx, index.file)
	if err != nil {
		return "", nil, err
	}
	commit, err = s.sweep().commitTree(ctx, tree, "Orange: the work of task "+taskID+"\n", []string{"-p", here.head})
	return commit, left, err
}

// leaveOut takes new files out of an index that keep does not want.
func (s Slot) leaveOut(ctx context.Context, index, head string, keep func(string, int64) bool) ([]string, error) {
	added, err := s.runWithIndex(ctx, index, "diff-index", "--cached", "--name-only", "--no-renames",
		"--diff-filter=A", "-z", head)
	if err != nil {
		return nil, fmt.Errorf("list new files: %w", err)
	}
	var left []string
	for file := range strings.SplitSeq(string(added.Stdout), "\x00") {
		if file == "" {
			continue
		}
		size := int64(0)
		if info, err := os.Lstat(filepath.Join(s.Dir, file)); err == nil {
			size = info.Size()
		}
		if !keep(file, size) {
			left = append(left, file)
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	_, err = s.Repo.Do(ctx, git.Call{Dir: s.Dir, Index: index, Stdin: strings.Join(left, "\x00") + "\x00",
		Args: []string{"update-index", "--force-remove", "-z", "--stdin"}})
	return left, err
}

// Restore lays out in the slot what was uncommitted of a task whose snapshot was fetched, and lets go of the snapshot.
// It does so where the slot is at the commit that the worktree had and has no changes of its own; else the snapshot
// stays under its ref, which is returned. Without a snapshot it does nothing.
func (s Slot) Restore(ctx context.Context, taskID string) (stays string, err error) {
	if err := git.CheckTask(taskID); err != nil {
		return "", err
	}
	ref := git.RestoreRefs + taskID + "/work"
	known, err := s.Repo.Refs(ctx, ref)
	if err != nil || len(known) == 0 {
		return "", err
	}
	defer git.Explain(&err, "cannot restore the uncommitted work of task %s in workspace %q", taskID, s.Dir)
	here, present, err := s.look(ctx)
	if err != nil || !present {
		return ref, err
	}
	parent, err := s.run(ctx, "rev-parse", "--verify", ref+"^1")
	if err != nil {
		return ref, err
	}
	changed, err := s.Files().changes(ctx, "", "all")
	if err != nil {
		return ref, err
	}
	if parent.Text() != here.head || len(changed) > 0 {
		return ref, nil
	}
	same, err := s.run(ctx, "rev-parse", ref+"^{tree}", "HEAD^{tree}")
	if err != nil {
		return ref, err
	}
	// Where nothing was uncommitted there is nothing to lay out, and git takes no path where there is no file at all.
	if trees := strings.Fields(same.Text()); len(trees) != 2 || trees[0] != trees[1] {
		_, err = s.run(ctx, "restore", "--worktree", "--no-overlay", "--source="+ref, "--", ":/")
	}
	if err != nil {
		return ref, err
	}
	return "", s.Repo.UpdateRefs(ctx, "delete "+ref+"\n")
}
