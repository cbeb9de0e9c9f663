package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// asideSlot moves the slot itself aside, where something in it can be neither kept nor moved: files of another account
// above all. Git locks it there; the next task gets a new one.
func (s sweep) asideSlot(ctx context.Context, taskID string) (record.Aside, error) {
	head, err := s.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if err == nil { // no other worktree could have the branch that this one has
		_, err = s.run(ctx, "update-ref", "--no-deref", "HEAD", head.Text())
	}
	if err != nil && git.ExitCode(err) != 1 { // git's status where the branch has no commit
		return record.Aside{}, fmt.Errorf("let the workspace %q go from its branch: %w", s.Dir, err)
	}
	a, err := s.moveWorktree(ctx, git.Worktree{Path: s.Dir}, ".", taskID)
	if err == nil {
		if err = os.Remove(s.noteFile()); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		err = errors.Join(err, s.Extras().forgetExtras(), s.forgetSetUp())
	}
	if err != nil {
		return a, fmt.Errorf("set the workspace %q aside as a whole: %w", s.Dir, err)
	}
	return a, nil
}

// heldFiles are files of a slot that stop its being kept and cleared.
type heldFiles struct {
	paths []string
	why   string // what is said of them once they are set aside
	err   error
}

func (h *heldFiles) Error() string { return h.err.Error() }
func (h *heldFiles) Unwrap() error { return h.err }

// cannotRead reports whether this account may not read a file or a folder of the slot.
func (s sweep) cannotRead(path string) bool {
	file, err := proc.OpenFile(filepath.Join(s.Dir, filepath.FromSlash(path)), os.O_RDONLY, 0)
	if err == nil {
		_ = file.Close()
	}
	return errors.Is(err, os.ErrPermission)
}

// stillUntracked are the files, and folders without a file of git's, that a clean was to remove.
func (s sweep) stillUntracked(ctx context.Context) ([]string, error) {
	out, err := s.run(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(string(out.Stdout), "\x00"), func(path string) bool {
		return path == "" || s.isRepository(path)
	}), nil
}

// keepOrSetAside is keepAndClear, which goes on without what can be neither read nor removed: that is set aside. gone
// reports that the slot itself had to be.
func (s sweep) keepOrSetAside(ctx context.Context, here place, k toKeep) (done Cleared, gone bool, err error) {
	const rounds = 3
	for range rounds {
		var kept []Rescue
		kept, err = s.keepAndClear(ctx, here, k)
		done.Rescued = append(done.Rescued, kept...)
		held := new(heldFiles)
		if !errors.As(err, &held) {
			return done, false, err
		}
		for _, path := range held.paths {
			a, failed := s.setAside(ctx, k.task, path, held.why)
			if failed != nil && errors.Is(failed, os.ErrPermission) {
				a, failed = s.asideSlot(ctx, k.task)
				gone = failed == nil
			}
			if failed != nil {
				return done, false, errors.Join(err, failed)
			}
			done.Aside = append(done.Aside, a)
			if gone {
				return done, true, nil
			}
		}
	}
	return done, false, err
}
