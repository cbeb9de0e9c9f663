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

// Release keeps what would be lost (see Rescue), puts the slot at Base with no branch checked out, and leaves
// a clean tree; branches stay where they are, and ignored files stay, since they keep the slot warm.
// What was changed of the slot's own configuration is taken back, and so are flags with which git overlooks files.
// Of a slot that is not there the commit is kept at which its branch was last, where that is gone too; doing it twice
// is no error.
// The task's programs must have ended: what is written while it clears cannot be kept.
func (s Slot) Release(ctx context.Context, taskID string) (done Cleared, err error) {
	if err := git.CheckTask(taskID); err != nil {
		return Cleared{}, err
	}
	defer git.Explain(&err, "cannot release workspace %q", s.Dir)
	if err := s.sweep().clearOrphan(ctx, taskID, &done); err != nil {
		return done, err
	}
	// Before anything else: git would obey settings that an agent has made there.
	takenBack, prepared, err := s.takeBack(ctx)
	done.TakenBack = takenBack
	if err == nil {
		var cleared Cleared
		cleared, err = s.release(ctx, taskID, prepared)
		done.Rescued, done.Aside = cleared.Rescued, append(done.Aside, cleared.Aside...)
	}
	return done, err
}

// Cleared is what was done to a slot before another task may use it.
type Cleared struct {
	Rescued   []Rescue
	Aside     []record.Aside // what no commit can hold
	TakenBack []string       // of its own configuration: names of settings, and "sparse-checkout"
	Notes     []string       // what a person should know of how the task began
	Fresh     bool           // it was not the task's before: no agent of it has worked there
}

func (s Slot) release(ctx context.Context, taskID string, prepared note) (done Cleared, err error) {
	here, present, err := s.look(ctx)
	if err != nil {
		return done, err
	}
	if !present {
		if known, err := s.Repo.HasCommit(ctx, s.Noted); err != nil || !known {
			return done, err
		}
		done.Rescued, err = Rescues{Repo: s.Repo}.keepCommit(ctx, taskID, "", s.Noted, keepingRefs())
		return done, err
	}
	if s.isInterrupted(here) {
		return done, s.discard(ctx, true)
	}
	if err := s.Extras().takeAway(ctx); err != nil {
		return done, err
	}
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return done, err
	}
	if done.Aside, err = s.sweep().setAsideWorktrees(ctx, here.head, taskID); err != nil {
		return done, err
	}
	d, err := s.sweep().leftoversOfAny(ctx, here, prepared)
	if err != nil {
		return done, err
	}
	if err := s.Files().unflagBelow(ctx, d.submodules); err != nil {
		return done, err
	}
	// Where nothing differs the index is made again all the same: the next task's commits are made of what it says.
	k := toKeep{task: taskID, held: []string{base.Commit, "--remotes"}, work: d.work, clear: true, strays: d.strays}
	if k.document, err = s.Document().replacedDocument(ctx, here); err != nil {
		return done, err
	}
	cleared, gone, err := s.sweep().keepOrSetAside(ctx, here, k)
	done.Rescued, done.Aside = cleared.Rescued, append(done.Aside, cleared.Aside...)
	if err != nil || gone {
		return done, err
	}
	more, err := s.sweep().detachAt(ctx, here.head, base, taskID, prepared)
	if git.RefusedWith(err, "lose untracked files") { // what git does not clear lies where the other commit has a file
		if err = s.sweep().addAside(ctx, taskID, &done); err == nil {
			more, err = s.sweep().detachAt(ctx, here.head, base, taskID, prepared)
		}
	}
	done.Rescued = append(done.Rescued, more...)
	if err == nil {
		err = s.sweep().addAside(ctx, taskID, &done)
	}
	if err == nil {
		err = s.sweep().ignoredFiles(ctx, taskID)
	}
	if err != nil {
		return done, err
	}
	if err := os.Remove(filepath.Join(here.gitDir, taskFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return done, fmt.Errorf("forget the task of the workspace: %w", err)
	}
	return done, nil
}

// addAside sets aside what git has left, and adds it to what was done.
func (s sweep) addAside(ctx context.Context, taskID string, done *Cleared) error {
	left, err := s.setAsideLeft(ctx, taskID)
	done.Aside = append(done.Aside, left...)
	return err
}

// leftoversOfAny are leftovers also of a slot whose index cannot be read: what was in that cannot be kept; the files
// can.
func (s sweep) leftoversOfAny(ctx context.Context, here place, prepared note) (leftovers, error) {
	d, err := s.Files().leftovers(ctx, prepared)
	if !isUnreadableIndex(err) {
		return d, err
	}
	index := filepath.Join(here.gitDir, "index")
	if err = os.Rename(index, index+".unreadable"); err == nil {
		err = s.Files().renewIndex(ctx, here.head)
	}
	if err != nil {
		return d, err
	}
	return s.Files().leftovers(ctx, prepared)
}

// isUnreadableIndex reports whether git could not list what it knows because its index is none.
func isUnreadableIndex(err error) bool {
	refused, is := errors.AsType[*git.Refusal](err)
	if !is || refused.Verb != "ls-files" {
		return false
	}
	return slices.ContainsFunc(strings.Split(refused.Said, "\n"), func(line string) bool {
		return line == "fatal: index file corrupt" || strings.HasSuffix(line, ": index file smaller than expected")
	})
}

// detachAt detaches the slot, which was looked over and cleared, at base. What one commit ignores another may not:
// files that come to light by the move are kept and cleared like all others. No file moves where the slot is at base.
func (s sweep) detachAt(ctx context.Context, head string, base git.Base, taskID string, prepared note) ([]Rescue,
	error) {
	kept, carried, err := s.moveTo(ctx, base.Commit, taskID, "--detach", base.Commit)
	if err != nil || head == base.Commit && !carried {
		return kept, err
	}
	more, err := s.keepUncommitted(ctx, taskID, prepared)
	return append(kept, more...), err
}

// keepUncommitted keeps and clears the uncommitted changes of a slot that has just been moved.
func (s sweep) keepUncommitted(ctx context.Context, taskID string, prepared note) ([]Rescue, error) {
	all, err := s.Files().changes(ctx, "", "normal")
	if err != nil || len(all) == 0 {
		return nil, err
	}
	work := len(s.Files().withoutShown(all, prepared.Shown)) > 0
	here, _, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	return s.keepAndClear(ctx, here, toKeep{task: taskID, work: work, clear: true, held: keepingRefs()})
}

// toKeep says what is to be kept of a slot, and for whom.
type toKeep struct {
	task     string
	work     bool     // there are changes to keep
	clear    bool     // there is something to clear, even when it is no agent's work
	strays   []string // files that are kept and go, though git ignores them
	document string   // the regular file that took the place of the document's link, if any
	held     []string // what else holds commits safely, in the words of git rev-list
}

// keepAndClear keeps what the slot holds, then clears it. When something cannot be kept, nothing is cleared.
func (s sweep) keepAndClear(ctx context.Context, here place, k toKeep) ([]Rescue, error) {
	kept, err := s.keep(ctx, here, k)
	if err != nil {
		return kept, err
	}
	if k.clear || git.OperationInProgress(here.gitDir) {
		if err := s.endOperation(ctx, here); err != nil {
			return kept, err
		}
		if err := s.Files().renewIndex(ctx, here.head); err != nil {
			return kept, err
		}
		if _, err := s.run(ctx, "reset", "--hard", "--quiet"); err != nil {
			return kept, fmt.Errorf("clear the workspace: %w", err)
		}
		// One -f only: a nested repository holds work that no commit of Orange's can hold.
		if _, err := s.run(ctx, "clean", "-d", "-f", "-q"); err != nil {
			left, listErr := s.stillUntracked(ctx)
			return kept, errors.Join(&heldFiles{left, unremovable, fmt.Errorf("clear the workspace: %w", err)}, listErr)
		}
		if err := s.removeUnknown(ctx, k.strays); err != nil {
			return kept, err
		}
	}
	if k.document != "" {
		if err := os.Remove(filepath.Join(s.Dir, k.document)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return kept, fmt.Errorf("clear the workspace: %w", err)
		}
	}
	return kept, s.Document().unlink(here)
}

// removeUnknown removes those of the files that git does not know.
func (s sweep) removeUnknown(ctx context.Context, files []string) error {
	for _, file := range files {
		out, err := s.run(ctx, "--literal-pathspecs", "ls-files", "-z", "--", file)
		if err == nil && len(out.Stdout) == 0 {
			err = os.Remove(filepath.Join(s.Dir, filepath.FromSlash(file)))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("clear the workspace: %w", err)
		}
	}
	return nil
}

func (s sweep) endOperation(ctx context.Context, here place) error {
	for _, o := range git.Operations() {
		if !git.HasFile(here.gitDir, o.File) {
			continue
		}
		if _, err := s.run(ctx, o.Quit...); err != nil {
			return fmt.Errorf("end what git was in the middle of: %w", err)
		}
	}
	return nil
}

// tips are the commits that only a half-done operation may know of.
func (p place) tips() []string {
	var all []string
	for _, file := range []string{
		"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/orig-head", "rebase-apply/orig-head",
	} {
		text, err := proc.ReadFile(filepath.Join(p.gitDir, file))
		if err == nil {
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// moveTo switches a slot that was looked over. Git would overwrite ignored files that the commit has a place for
// silently; here they are kept first. It reports whether git may have taken local changes along:
// git names them on its standard output, which it uses for next to nothing else.
func (s sweep) moveTo(ctx context.Context, commit, taskID string,
	to ...string) (kept []Rescue, carried bool, err error) {
	out, err := s.run(ctx, append([]string{"switch", "--no-overwrite-ignore"}, to...)...)
	if err == nil {
		return nil, len(out.Stdout) > 0, nil
	}
	if !git.RefusedWith(err, "would be overwritten") && !git.RefusedWith(err, "lose untracked files") {
		return nil, false, fmt.Errorf("switch the workspace: %w", err)
	}
	here, _, lookErr := s.look(ctx)
	if lookErr != nil {
		return nil, false, lookErr
	}
	hidden, listErr := s.inTheWay(ctx, commit)
	if listErr != nil {
		return nil, false, listErr
	}
	if len(hidden) == 0 {
		return nil, false, fmt.Errorf("switch the workspace: %w", err)
	}
	kept, keepErr := s.keepTree(ctx, here, taskID, hidden)
	if keepErr != nil {
		return nil, false, fmt.Errorf("keep ignored files that are in the way: %w", keepErr)
	}
	if out, err = s.run(ctx, append([]string{"switch"}, to...)...); err != nil {
		return kept, false, fmt.Errorf("switch the workspace: %w", err)
	}
	return kept, len(out.Stdout) > 0, nil
}

// inTheWay lists the ignored files that lie where the commit has a file, or a folder.
func (s sweep) inTheWay(ctx context.Context, commit string) ([]string, error) {
	ignored, err := s.run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	tree, err := s.run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", commit, err)
	}
	taken := make(map[string]bool)
	for _, file := range strings.Split(string(tree.Stdout), "\x00") {
		for ; file != "" && file != "."; file = filepath.Dir(file) {
			taken[file] = true
		}
	}
	folders := func(file string) bool { // a file of the commit where the ignored one has a folder
		for dir := filepath.Dir(file); dir != "."; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(filepath.Join(s.Dir, dir)); taken[dir] && err == nil && info.IsDir() {
				return true
			}
		}
		return false
	}
	var all []string
	for _, file := range strings.Split(string(ignored.Stdout), "\x00") {
		if file != "" && (taken[file] || folders(file)) {
			all = append(all, file)
		}
	}
	return all, nil
}
