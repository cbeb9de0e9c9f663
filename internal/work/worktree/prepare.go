package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// taskFile remembers, in the worktree's private folder, for which task a slot was prepared:
// what is found in it later is kept under that name.
const taskFile = "orange-task"

// unknownTask is the name under which is kept what no task is known for.
const unknownTask = "unknown"

// Prepare makes the worktree where it is missing, or takes the warm one, and puts it on the branch.
// A local branch is checked out as it is; one that is only known on origin is started from there, and one that is gone
// at the last commit that is known of it; any other starts at Base. Whatever is left over in the slot is kept under its
// own task first.
// On a slot that is on the branch already it changes nothing, so it may run twice, and under an agent's hands.
// A branch that is checked out elsewhere is an error that names where. It does not fetch.
func (s Slot) Prepare(ctx context.Context, branch, taskID string) (done Cleared, err error) {
	if err := errors.Join(git.CheckBranch(ctx, branch), git.CheckTask(taskID)); err != nil {
		return Cleared{}, err
	}
	defer git.Explain(&err, "cannot prepare workspace %q for branch %q", s.Dir, branch)
	local, origin := "refs/heads/"+branch, "refs/remotes/origin/"+branch
	if err := s.sweep().clearOrphan(ctx, taskID, &done); err != nil {
		return done, err
	}
	here, present, err := s.look(ctx)
	if err != nil {
		return done, err
	}
	var prepared note
	if done.Notes, err = s.restoreBranch(ctx, &here, present, branch, taskID); err != nil {
		return done, err
	}
	if present && !here.on(branch) {
		if done.TakenBack, prepared, err = s.takeBack(ctx); err == nil {
			err = s.Extras().takeAway(ctx)
		}
		if err != nil {
			return done, err
		}
	}
	v, err := s.inspectBefore(ctx, here.isReleased(present),
		append([]string{local, origin}, s.Repo.DefaultRefs()...)...)
	if err != nil {
		return done, err
	}
	base, err := s.Repo.ChooseBase(ctx, v.known)
	if err != nil {
		return done, err
	}
	if present && s.isInterrupted(here) {
		if err := s.discard(ctx, true); err != nil {
			return done, err
		}
		present = false
	}
	if present && here.on(branch) {
		return done, here.remember(taskID)
	}
	done.Fresh = true
	start, exists := v.known[local]
	to := []string{"--no-guess", branch}
	if !exists {
		there, onOrigin := v.known[origin]
		if start.Commit, err = s.startOf(ctx, branch, taskID, base, there, onOrigin, &done); err != nil {
			return done, err
		}
		to = []string{"--no-track", "--create", branch, start.Commit}
	} else if at, err := s.Repo.CheckoutOf(ctx, branch); err != nil || at != "" && !git.SamePath(at, s.Dir) {
		return done, cmp.Or(err, fmt.Errorf("it is checked out in %q; switch that one to another branch, or remove it "+
			"with \"git worktree remove\", then run this again", at))
	}
	if present {
		var left Cleared
		left, present, err = s.leftover(ctx, here, v, prepared, len(done.TakenBack) > 0)
		done.Rescued, done.Aside = append(done.Rescued, left.Rescued...), append(done.Aside, left.Aside...)
	}
	if err == nil && !present {
		var rescued []Rescue
		prepared, rescued, err = s.add(ctx, start.Commit)
		done.Rescued = append(done.Rescued, rescued...)
	}
	if err != nil {
		return done, err
	}
	more, err := s.checkOutBranch(ctx, start.Commit, to, prepared, !present)
	done.Rescued = append(done.Rescued, more...)
	if err != nil {
		return done, err
	}
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return done, err
	}
	return done, place{gitDir: gitDir}.remember(taskID)
}

// inspection is what Prepare has to know before it moves anything.
type inspection struct {
	known    map[string]git.Ref
	released bool // the slot was left by Release
	// of a released slot: files that are not git's, and flags with which git overlooks those that are
	listed indexList
}

// inspectBefore asks both questions at once, since a person waits. Of a slot that Release left clean it asks for
// untracked and flagged files only: changed ones are seen by the switch, which looks at every file anyway. That
// halves the time in a large repository.
func (s Slot) inspectBefore(ctx context.Context, released bool, names ...string) (inspection, error) {
	v := inspection{released: released}
	var knownErr, listErr error
	var both sync.WaitGroup
	both.Go(func() { v.known, knownErr = s.Repo.Refs(ctx, names...) })
	if released {
		both.Go(func() {
			v.listed, listErr = s.Files().list(ctx, "--others", "--exclude-standard", "--directory",
				"--no-empty-directory")
		})
	}
	both.Wait()
	return v, errors.Join(knownErr, listErr)
}

// checkOutBranch puts a slot that was looked over on a branch, which is or will be at the commit.
func (s Slot) checkOutBranch(ctx context.Context, commit string, to []string, prepared note,
	fresh bool) ([]Rescue, error) {
	kept, carried, err := s.sweep().moveTo(ctx, commit, unknownTask, to...)
	if err != nil {
		// Changed files of a released slot come to light here, when the branch has others of their names.
		more, sweepErr := s.sweep().keepUncommitted(ctx, unknownTask, prepared)
		kept = append(kept, more...)
		if sweepErr != nil || len(more) == 0 {
			return kept, errors.Join(err, sweepErr)
		}
		var again []Rescue
		if again, _, err = s.sweep().moveTo(ctx, commit, unknownTask, to...); err != nil {
			return append(kept, again...), err
		}
		kept = append(kept, again...)
	}
	shown := map[string]string{}
	if carried {
		var more []Rescue
		more, shown, err = s.clearCarriedAlong(ctx, prepared, fresh)
		kept = append(kept, more...)
		if err != nil {
			return kept, err
		}
	}
	maps.Copy(shown, s.Files().stillAsShown(prepared.Shown))
	if !maps.Equal(shown, prepared.Shown) {
		prepared.Shown = shown
		err = s.writeNote(prepared)
	}
	return kept, err
}

// clearCarriedAlong keeps and clears what was changed in a slot before it was put on the branch. What git calls
// changed even then, and all of it in a slot that was made just now, is no agent's work: it is noted, so that it
// does not count as work later.
func (s Slot) clearCarriedAlong(ctx context.Context, prepared note, fresh bool) ([]Rescue, map[string]string, error) {
	all, err := s.Files().changes(ctx, "", "normal")
	if err != nil || fresh || len(s.Files().withoutShown(all, prepared.Shown)) == 0 {
		return nil, s.Files().shownNow(all), err
	}
	kept, err := s.sweep().keepUncommitted(ctx, unknownTask, prepared)
	if err == nil {
		all, err = s.Files().changes(ctx, "", "normal")
	}
	return kept, s.Files().shownNow(all), err
}

// add makes the worktree at a commit. Where the folder was deleted by hand, git still knows its HEAD:
// commits that only this HEAD holds are kept before the record is replaced.
func (s Slot) add(ctx context.Context, commit string) (note, []Rescue, error) {
	if err := os.MkdirAll(filepath.Dir(s.Dir), task.PrivateFolder); err != nil {
		return note{}, nil, fmt.Errorf("make the folder of the workspaces: %w", err)
	}
	if err := s.waitForGit(ctx); err != nil {
		return note{}, nil, err
	}
	entries, err := os.ReadDir(s.Dir)
	if err == nil && s.addInterrupted(entries) {
		err = s.removeInterrupted()
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return note{}, nil, fmt.Errorf("make the folder of the workspace: %w", err)
	}
	all, err := s.Repo.Checkouts(ctx, s.Repo.Path)
	if err != nil {
		return note{}, nil, err
	}
	var kept []Rescue
	args := []string{"worktree", "add", "--quiet", "--detach"}
	for _, c := range all {
		if !git.SamePath(c.Path, s.Dir) {
			continue
		}
		args = append(args, "--force")
		if c.Locked == git.Initializing {
			args = append(args, "--force") // git locked it for itself, and was killed
		}
		if c.Branch == "" && strings.Trim(c.Commit, "0") != "" {
			if kept, err = (Rescues{Repo: s.Repo}).keepCommit(ctx, unknownTask, "", c.Commit,
				keepingRefs()); err != nil {
				return note{}, kept, err
			}
		}
	}
	if err := os.Remove(s.noteFile()); err != nil && !errors.Is(err, os.ErrNotExist) { // see interrupted
		return note{}, kept, fmt.Errorf("forget what an earlier worktree was prepared with: %w", err)
	}
	if _, err := s.Repo.Run(ctx, append(args, "--", s.Dir, commit)...); err != nil {
		return note{}, kept, fmt.Errorf("make the worktree: %w", err)
	}
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return note{}, kept, err
	}
	// As git made it, so it is to be.
	var made note
	if made.setup, err = readSetup(gitDir); err == nil {
		err = errors.Join(s.writeNote(made), s.Extras().forgetExtras(), s.forgetSetUp())
	}
	return made, kept, err
}

// removeInterrupted takes away what a killed git left where there is no worktree yet. Git's own folder goes
// first: without it, what is left is addInterrupted still. And git takes an empty folder, and no other.
func (s Slot) removeInterrupted() error {
	dir, err := git.DirOf(s.Dir)
	common, known := s.Repo.Folder()
	if err == nil && known && git.Unfinished(dir) &&
		git.SamePath(filepath.Dir(dir), filepath.Join(common, "worktrees")) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(s.Dir, ".git"))
}

// leftover looks a warm slot over, and keeps, sets aside and clears what it holds. still reports whether the slot is
// there then: it may have to be set aside as a whole.
func (s Slot) leftover(ctx context.Context, here place, v inspection, prepared note, force bool) (
	done Cleared, still bool, err error) {
	owner, err := here.owner()
	if err != nil {
		return done, true, err
	}
	odd := !v.released || slices.ContainsFunc(v.listed.others, s.isRepository)
	if odd {
		if done.Aside, err = s.sweep().setAsideWorktrees(ctx, here.head, owner); err != nil {
			return done, true, err
		}
	}
	cleared, gone, err := s.clearLeftover(ctx, here, v, prepared, owner, force)
	done.Rescued, done.Aside = cleared.Rescued, append(done.Aside, cleared.Aside...)
	if err != nil || gone || !odd {
		return done, !gone, err
	}
	left, err := s.sweep().setAsideLeft(ctx, owner)
	done.Aside = append(done.Aside, left...)
	return done, true, err
}

// clearLeftover keeps what a warm slot holds, and clears it. gone reports that the slot had to be set aside.
func (s Slot) clearLeftover(ctx context.Context, here place, v inspection, prepared note, owner string, force bool) (
	done Cleared, gone bool, err error) {
	strays := slices.ContainsFunc(v.listed.others, func(file string) bool { return !s.isRepository(file) })
	d := leftovers{visible: strays, flags: s.Files().hidingFlags(v.listed.flags, prepared)}
	d.work = d.any()
	if !v.released {
		if d, err = s.Files().leftovers(ctx, prepared); err != nil {
			return done, false, err
		}
	}
	replaced, err := s.Document().replacedDocument(ctx, here)
	if err != nil {
		return done, false, err
	}
	if d.any() || force || git.OperationInProgress(here.gitDir) || here.unborn() || replaced != "" {
		k := toKeep{task: owner, work: d.work, clear: d.any() || force, strays: d.strays, document: replaced,
			held: keepingRefs()}
		return s.sweep().keepOrSetAside(ctx, here, k)
	}
	if err := s.Document().unlink(here); err != nil {
		return done, false, err
	}
	if here.branch != "" || here.head == "" {
		return done, false, nil // its branch holds the commits
	}
	for _, r := range v.known {
		if r.Commit == here.head {
			return done, false, nil // as Release left it: no need to ask git
		}
	}
	done.Rescued, err = Rescues{Repo: s.Repo}.keepCommit(ctx, owner, "", here.head, keepingRefs())
	return done, false, err
}

// on reports whether the slot is on the branch, or in the middle of a rebase of it, which detaches HEAD for a while.
func (p place) on(branch string) bool {
	if p.branch == branch {
		return p.head != ""
	}
	if p.branch != "" {
		return false
	}
	for _, folder := range []string{"rebase-merge", "rebase-apply"} {
		name, err := proc.ReadFile(filepath.Join(p.gitDir, folder, "head-name"))
		if err == nil && strings.TrimSpace(string(name)) == "refs/heads/"+branch {
			return true
		}
	}
	return false
}

// isInterrupted reports whether "git worktree add" was killed in the slot, which no agent can have worked in then: the
// note of what it was prepared with is written after that.
func (s Slot) isInterrupted(here place) bool {
	_, err := os.Lstat(s.noteFile())
	return git.AddInProgress(here.gitDir) && errors.Is(err, os.ErrNotExist)
}

func (p place) remember(task string) error {
	file := filepath.Join(p.gitDir, taskFile)
	if have, err := proc.ReadFile(file); err == nil && string(have) == task+"\n" {
		return nil
	}
	if err := proc.ReplaceCopy(file, []byte(task+"\n")); err != nil {
		return fmt.Errorf("note the task of the workspace: %w", err)
	}
	return nil
}

// owner is the task that the slot was last prepared for.
func (p place) owner() (string, error) {
	text, err := proc.ReadFile(filepath.Join(p.gitDir, taskFile))
	if errors.Is(err, os.ErrNotExist) {
		return unknownTask, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the task of the workspace: %w", err)
	}
	name := strings.TrimSpace(string(text))
	if git.CheckTask(name) != nil {
		return unknownTask, nil
	}
	return name, nil
}

// isReleased reports whether Release was the last that was done here: nothing checked out, and no task on record.
func (p place) isReleased(present bool) bool {
	return present && p.branch == "" && p.head != "" && !git.HasFile(p.gitDir, taskFile) &&
		!git.AddInProgress(p.gitDir) &&
		!git.OperationInProgress(p.gitDir)
}
