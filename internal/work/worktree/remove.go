package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Remove takes a workspace away for good, with its ignored files. It refuses one that holds anything:
// uncommitted changes, commits that no branch, tag, remote or rescue has, something that git is in the middle of,
// a document that was not adopted, repositories of submodules. Release it first. One that is not there is no error.
func (r Worktrees) Remove(ctx context.Context, dir string) error {
	s := Slot{Repo: r.Repo, Dir: dir}
	here, present, err := s.look(ctx)
	if err == nil && present {
		err = s.holdsNothing(ctx, here)
	}
	if err == nil && present {
		err = s.discard(ctx, false)
	}
	if err != nil {
		return fmt.Errorf("cannot remove workspace %q: %w", dir, err)
	}
	return nil
}

func (s Slot) holdsNothing(ctx context.Context, here place) error {
	const advice = "; release it first"
	dirty, err := s.anyChange(ctx)
	if err != nil {
		return err
	}
	if !dirty {
		if dirty, err = s.differs(ctx); err != nil {
			return err
		}
	}
	document, err := s.Document().replacedDocument(ctx, here)
	if err != nil {
		return err
	}
	switch {
	case dirty:
		return errors.New("it has uncommitted changes" + advice)
	case git.OperationInProgress(here.gitDir):
		return errors.New("git is in the middle of a merge or a rebase there" + advice)
	case document != "":
		return fmt.Errorf("%q is a file that was not adopted"+advice, document)
	case git.HasFile(here.gitDir, "locked"):
		return errors.New("it is locked; run \"git worktree unlock\" if that is a mistake")
	case git.HasFile(here.gitDir, "modules"):
		return errors.New("it has submodules with repositories of their own; remove them with \"git submodule deinit\"")
	}
	if here.head == "" || here.branch != "" {
		return nil
	}
	args := append([]string{"rev-list", "--max-count=1", here.head, "--not"}, keepingRefs()...)
	out, err := s.run(ctx, append(args, "--glob="+rescueRefs+"*", "--")...)
	if err != nil {
		return fmt.Errorf("check whether its commits are kept somewhere: %w", err)
	}
	if out.Text() != "" {
		return errors.New("it is at a commit that nothing else holds" + advice)
	}
	return nil
}

// anyChange counts nested repositories too: they would go with the folder.
func (s Slot) anyChange(ctx context.Context) (bool, error) {
	out, err := s.Files().readGit(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal")
	if err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	return len(out.Stdout) > 0, nil
}

// differs reports whether there are changes, also those that the slot's own index hides.
func (s Slot) differs(ctx context.Context) (bool, error) {
	prepared, _, err := s.note(ctx)
	if err != nil {
		return false, err
	}
	all, err := s.Files().fullStatus(ctx, depth{untracked: "no", submodules: "all"}, prepared)
	return len(s.Files().withoutShown(all.changes, prepared.Shown)) > 0, err
}

// discard takes the slot out of the pool in one step, a rename, and only then spends time on its files.
// Git forgets this one worktree: a prune would forget every other one that happens to be away, and its commits.
func (s Slot) discard(ctx context.Context, locked bool) error {
	if locked {
		if err := s.waitForGit(ctx); err != nil {
			return err
		}
	}
	trash, err := os.MkdirTemp(filepath.Dir(s.Dir), ".trash-")
	if err != nil {
		return fmt.Errorf("make a folder to move it to: %w", err)
	}
	if err := os.Rename(s.Dir, filepath.Join(trash, "workspace")); err != nil {
		return errors.Join(fmt.Errorf("move it away: %w", err), os.Remove(trash))
	}
	args := []string{"worktree", "remove"}
	if locked {
		args = append(args, "--force", "--force")
	}
	if _, err := s.Repo.Run(ctx, append(args, "--", s.Dir)...); err != nil {
		return fmt.Errorf("make git forget it (its files are in %q): %w", trash, err)
	}
	if err := os.Remove(s.noteFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget what it was prepared with: %w", err)
	}
	if err := errors.Join(s.Extras().forgetExtras(), s.forgetSetUp()); err != nil {
		return err
	}
	if err := git.RemoveAll(trash); err != nil {
		return fmt.Errorf("empty %q: %w; it can be deleted", trash, err)
	}
	return nil
}

// makingPatience is how long a git is waited for that still makes the worktree; makingRest is between two looks.
const (
	makingPatience = 10 * time.Second
	makingRest     = 20 * time.Millisecond
)

// waitForGit waits until no git makes the slot any more: one whose Orange was killed goes on by itself, and would
// write into what is made in its place. Where the system cannot tell, it does not wait.
func (s Slot) waitForGit(ctx context.Context) error {
	ctx, off := context.WithTimeout(ctx, makingPatience)
	defer off()
	tick := time.NewTicker(makingRest)
	defer tick.Stop()
	for {
		others, err := proc.WorkingOn(s.Dir, "git")
		if errors.Is(err, errors.ErrUnsupported) || err == nil && len(others) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("check whether a git is still making it: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("git (process %d) is still making it: try again when that has ended", others[0].PID)
		case <-tick.C:
		}
	}
}

// Scratch makes a checkout of a commit in a folder of its own, with all of the commit's files and nothing else. What an
// earlier one left there, whose maker was killed, is taken away first. It is never put to another use: see
// Unscratch.
func (r Worktrees) Scratch(ctx context.Context, dir, commit string) error {
	err := r.Unscratch(ctx, dir)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(dir), task.PrivateFolder)
	}
	if err == nil {
		_, err = r.Do(ctx, git.Call{Dir: r.Path, Whole: true,
			Args: []string{"worktree", "add", "--quiet", "--detach", "--", dir, commit}})
	}
	if err != nil {
		return fmt.Errorf("cannot make a checkout of %s in %q: %w", commit, dir, err)
	}
	return nil
}

// PlaceAt puts a slot in which no one works at a commit, with the commit's files and those that git ignores. Whatever
// else lies there goes: programs made it that Orange has run there.
func (s Slot) PlaceAt(ctx context.Context, commit string) error {
	if _, present, err := s.look(ctx); err == nil && present {
		_, err = s.run(ctx, "checkout", "--quiet", "--detach", "--force", "--no-recurse-submodules", commit, "--")
		if err == nil {
			_, err = s.run(ctx, "clean", "-ffdq")
		}
		var now Stamps
		if err == nil { // git leaves a file as it is that its index takes for the commit's
			now, err = s.Files().Stamps(ctx)
		}
		if err == nil && len(now.Differ) == 0 {
			return nil
		}
	}
	if err := s.forgetSetUp(); err != nil {
		return err
	}
	return Worktrees{Repo: s.Repo}.Scratch(ctx, s.Dir, commit)
}

// Unscratch takes such a checkout away with all that lies in it. One that is not there is no error.
func (r Worktrees) Unscratch(ctx context.Context, dir string) error {
	if err := (Slot{Repo: r.Repo, Dir: dir}).waitForGit(ctx); err != nil {
		return fmt.Errorf("cannot remove the checkout %q: %w", dir, err)
	}
	_, err := os.Lstat(dir)
	known, knownErr := r.Knows(ctx, dir)
	if knownErr != nil || errors.Is(err, os.ErrNotExist) && !known {
		return knownErr
	}
	if err := Discard(dir); err != nil {
		return err
	}
	if !known {
		return nil
	}
	if _, err := r.Run(ctx, "worktree", "remove", "--force", "--force", "--", dir); err != nil {
		return fmt.Errorf("cannot make git forget the checkout %q: %w", dir, err)
	}
	return nil
}

// Discard removes a checkout that no repository knows.
func Discard(dir string) error {
	if err := git.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove the checkout %q: %w; you can delete it", dir, err)
	}
	return nil
}

// KnowsBelow reports whether git has a worktree on record at a folder, or below it.
func (r Worktrees) KnowsBelow(ctx context.Context, dir string) (bool, error) {
	all, err := r.Checkouts(ctx, r.Path)
	if err != nil {
		return false, fmt.Errorf("cannot look for the checkouts in %q: %w", dir, err)
	}
	return slices.ContainsFunc(all, func(c git.Worktree) bool {
		return git.SamePath(c.Path, dir) || git.SamePath(filepath.Dir(c.Path), dir)
	}), nil
}

// Knows reports whether git has a worktree on record there.
func (r Worktrees) Knows(ctx context.Context, dir string) (bool, error) {
	all, err := r.Checkouts(ctx, r.Path)
	if err != nil {
		return false, fmt.Errorf("cannot look for the checkout %q: %w", dir, err)
	}
	return slices.ContainsFunc(all, func(c git.Worktree) bool { return git.SamePath(c.Path, dir) }), nil
}
