// Package worktree is the worktrees of a repository that agents work in: made, checked, kept, cleared and removed.
//
// It owns preparing a worktree, keeping what would be lost, the link to the task's document, and taking a worktree
// away. It does not own which task has which one, nor whether an agent still lives in it: end it before Release.
//
// The rule: no one's work is ever destroyed, and the user's own checkout is never switched, reset or dirtied.
// Local branches are never deleted. What is about to be cleared is kept under refs/orange/rescue/TASK/N first;
// when it cannot be kept, nothing is cleared.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Slot is one worktree of the pool.
type Slot struct {
	Repo git.Repo
	Dir  string // absolute
	// the last commit that is known of the branch that is checked out or is to be; asked only where git has no such
	// branch
	Noted string
	// patterns, as in a .gitignore, of new files that are no one's work
	Generated []string
	// whether Release removes what git ignores
	CleanIgnored bool
}

// place is the checkout of a slot. An absent one has only its folder.
type place struct {
	gitDir  string // the worktree's private folder in the repository
	exclude string // the exclude file that all worktrees of the repository share
	head    string // commit; empty before a branch's first one
	branch  string // without refs/heads/; empty when detached
}

// look reads what the slot has checked out, and whether the slot exists.
// Everything that changes a slot begins here: what is not a linked worktree of this very repository is never touched.
func (s Slot) look(ctx context.Context) (place, bool, error) {
	if !filepath.IsAbs(s.Dir) {
		return place{}, false, fmt.Errorf("look at workspace %q: its path is not absolute", s.Dir)
	}
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return place{}, false, nil
	}
	if err != nil {
		return place{}, false, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
	}
	if len(entries) == 0 || s.addInterrupted(entries) {
		return place{}, false, nil
	}
	if here, own := s.ownPlace(ctx); own {
		// settings of its own, which may lead git elsewhere, have no say in what a detached one has
		if here.head, err = git.HeadOf(here.gitDir); err == nil && git.IsCommit(here.head) {
			return here, true, nil
		}
	}
	here, present, err := s.askGit(ctx)
	if err != nil && s.addInterrupted(entries) { // what was only begun here has just been taken away
		return place{}, false, nil
	}
	return here, present, err
}

// addInterrupted reports whether a "git worktree add" was killed here before there was a worktree: nothing lies
// besides a .git that is empty, or leads to a folder that is not there.
func (s Slot) addInterrupted(entries []os.DirEntry) bool {
	if len(entries) != 1 || entries[0].Name() != ".git" || !entries[0].Type().IsRegular() {
		return false
	}
	text, err := proc.ReadFile(filepath.Join(s.Dir, ".git"))
	if err != nil {
		return false
	}
	dir, leads := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !leads || !filepath.IsAbs(dir) {
		return len(text) == 0
	}
	_, err = os.Stat(dir)
	return errors.Is(err, os.ErrNotExist) || git.LeftUnfinished(dir, time.Now()) ||
		git.Unfinished(dir) && s.isOrphaned()
}

// isOrphaned reports whether it is known that no git is making the slot.
func (s Slot) isOrphaned() bool {
	others, err := proc.WorkingOn(s.Dir, "git")
	return err == nil && len(others) == 0
}

// askGit has git say what the slot has checked out.
func (s Slot) askGit(ctx context.Context) (place, bool, error) {
	out, err := s.run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir",
		"--git-path", "info/exclude", "HEAD")
	lines := strings.Split(string(out.Stdout), "\n")
	const paths, all = 4, 5
	unborn := git.RefusedWith(err, "ambiguous argument 'HEAD'") && len(lines) > paths
	if gone := s.Repo.Gone(); err != nil && gone != nil {
		return place{}, false, fmt.Errorf("look at workspace %q: %w", s.Dir, gone)
	}
	if git.RefusedWith(err, "not a git repository") {
		return place{}, false, s.Repo.WithMisplaced(s.Dir, fmt.Errorf("look at workspace %q: the folder holds "+
			"something else than a worktree; save what is in it and move it away", s.Dir))
	}
	if err != nil && !unborn {
		return place{}, false, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
	}
	if !unborn && len(lines) != all+1 {
		return place{}, false, fmt.Errorf("look at workspace %q: git gave %d lines; a folder with a newline "+
			"in its name cannot be used", s.Dir, len(lines))
	}
	here := place{gitDir: lines[1], exclude: lines[3]}
	if err := s.checkOurs(ctx, lines[0], here.gitDir, lines[2]); err != nil {
		return place{}, false, err
	}
	if unborn {
		here.branch, err = s.symbolicHead(ctx)
		return here, true, err
	}
	here.head = lines[4]
	// a branch or a tag called HEAD makes that word ambiguous to rev-parse
	here.branch, err = s.headBranch(ctx)
	return here, true, err
}

// checkOurs refuses the user's own checkout, another repository's worktree, and a folder inside something larger.
func (s Slot) checkOurs(ctx context.Context, top, gitDir, common string) error {
	shared, err := s.Repo.CommonDir(ctx)
	if err != nil {
		return err
	}
	if git.SamePath(gitDir, common) {
		return fmt.Errorf("look at workspace %q: it is a repository of its own, not a worktree of %q; save "+
			"what is in it and move it away", s.Dir, s.Repo.Path)
	}
	if !git.SamePath(common, shared) || !git.SamePath(top, s.Dir) {
		return fmt.Errorf("look at workspace %q: it belongs to %q, not to %q; save what is in it and move it "+
			"away", s.Dir, common, s.Repo.Path)
	}
	return nil
}

func (s Slot) symbolicHead(ctx context.Context) (string, error) {
	out, err := s.run(ctx, "symbolic-ref", "--quiet", "HEAD")
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read HEAD of %q: %w", s.Dir, err)
	}
	return strings.TrimPrefix(out.Text(), "refs/heads/"), nil
}

// isRepository reports whether a folder is a repository of its own, which "git clean -f" leaves alone.
func (s Slot) isRepository(path string) bool {
	if !strings.HasSuffix(path, "/") {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.Dir, path, ".git"))
	return err == nil
}

// Branch is the branch that the slot is on, and "" when it is on none.
func (s Slot) Branch(ctx context.Context) (string, error) {
	name, err := s.headBranch(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot read the branch of workspace %q: %w", s.Dir, err)
	}
	return name, nil
}

// Rename gives a branch another name; no other branch is overwritten. Doing it again is no error.
func (s Slot) Rename(ctx context.Context, from, to string) error {
	if err := errors.Join(git.CheckBranch(ctx, from), git.CheckBranch(ctx, to)); err != nil {
		return err
	}
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = fmt.Errorf("the workspace %q is not there", s.Dir)
	}
	if err != nil {
		return fmt.Errorf("cannot rename branch %q: %w", from, err)
	}
	known, err := s.Repo.Refs(ctx, "refs/heads/"+from)
	if err != nil {
		return fmt.Errorf("cannot rename branch %q: %w", from, err)
	}
	if len(known) == 0 && here.branch == to {
		return nil
	}
	if _, err := s.run(ctx, "branch", "-m", "--", from, to); err != nil {
		return fmt.Errorf("cannot rename branch %q to %q: %w", from, to, err)
	}
	return nil
}

// Switch puts the slot on an existing branch. It refuses when changed files would be overwritten.
func (s Slot) Switch(ctx context.Context, branch string) error {
	if err := git.CheckBranch(ctx, branch); err != nil {
		return err
	}
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = fmt.Errorf("the workspace %q is not there", s.Dir)
	}
	replaced := ""
	if err == nil {
		replaced, err = s.Document().replacedDocument(ctx, here)
	}
	if replaced != "" { // git would overwrite an excluded file that holds a person's or an agent's words
		err = fmt.Errorf("a program replaced the link %q by a file of its own; adopt it first", replaced)
	}
	if err != nil {
		return fmt.Errorf("cannot switch to branch %q: %w", branch, err)
	}
	if _, err := s.run(ctx, "switch", "--quiet", "--no-guess", branch); err != nil {
		return fmt.Errorf("cannot switch workspace %q to branch %q: %w; commit what is there, then run this "+
			"again", s.Dir, branch, err)
	}
	return nil
}

// runWithIndex is git in the slot with an index of its own.
func (s Slot) runWithIndex(ctx context.Context, index string, args ...string) (proc.Result, error) {
	return s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: args, Index: index})
}

// Make makes the worktree at Base, on no branch, where it is missing: ahead of time, for a task that comes later.
// One that is there stays as it is.
func (s Slot) Make(ctx context.Context) error {
	_, present, err := s.look(ctx)
	if err != nil || present {
		return err
	}
	base, err := s.Repo.Base(ctx)
	if err == nil {
		_, _, err = s.add(ctx, base.Commit)
	}
	if err != nil {
		return fmt.Errorf("cannot make workspace %q: %w", s.Dir, err)
	}
	return nil
}

// Touched is when something was last committed, staged or checked out in the slot, or made or removed in its top
// folder. No program is run for it.
// A slot that is not there was never touched.
func (s Slot) Touched() (time.Time, error) {
	gitDir, err := git.DirOf(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
	}
	var last time.Time
	for _, path := range []string{filepath.Join(gitDir, "index"), filepath.Join(gitDir, "HEAD"),
		filepath.Join(gitDir, "logs", "HEAD"), s.Dir} {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, nil
}

// View is a workspace as an agent sees it.
type View struct {
	Dir       string
	Start     string   // the folder in it in which programs start; empty for Dir itself
	Env       []string // what is set for the programs of its task alone
	GitDir    string   // the repository's git folder, into which its commits are written
	OwnGitDir string   // the folder in that one which is the worktree's own
	Base      string   // what its branch is compared with
	TaskFile  string   // the document, relative to where programs start
}

// Cwd is the folder in which programs start.
func (v View) Cwd() string { return cmp.Or(v.Start, v.Dir) }

// Holds reports whether the slot exists and is a task's: whether it was prepared for that one last, and not given back.
// One that was prepared for no task that is known holds that of its branch.
func (s Slot) Holds(ctx context.Context, taskID, branch string) (bool, error) {
	here, present, err := s.look(ctx)
	if err != nil || !present {
		return false, err
	}
	owner, err := here.owner()
	return owner == taskID || owner == unknownTask && here.on(branch), err
}
