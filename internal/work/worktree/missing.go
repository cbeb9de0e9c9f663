package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// What Missing says of a worktree.
const (
	worktreeGone     = "its worktree is gone"
	worktreeOrphaned = "git does not know its worktree any more"
)

// Missing is what is not there any more of a slot that was on a branch.
type Missing struct {
	What string // its worktree, or that branch; empty where both are there, or the branch was renamed in the slot
	Left bool   // agents which lived in it have no folder any more
	Err  error  // why it could not be looked at
}

// Missing looks at slots, which the branches are by the paths of, and asks git once.
func (r Worktrees) Missing(ctx context.Context, branches map[string]string) map[string]Missing {
	found, due := make(map[string]Missing, len(branches)), map[string]string{}
	var names []string
	for dir, branch := range branches { // each by itself
		one, here := Slot{Repo: r.Repo, Dir: dir}.missingOnDisk(ctx, branch)
		if found[dir] = one; here {
			due[dir], names = git.HeadRefs+branch, append(names, git.HeadRefs+branch)
		}
	}
	if len(names) == 0 {
		return found
	}
	known, err := r.Refs(ctx, names...)
	for dir, name := range due { // each by itself
		if _, there := known[name]; err != nil {
			found[dir] = Missing{Err: err}
		} else if now, err := (Slot{Repo: r.Repo, Dir: dir}).headBranch(ctx); !there && err == nil &&
			now != "" && now != branches[dir] {
			continue // it was renamed meanwhile
		} else if !there {
			found[dir] = Missing{What: fmt.Sprintf("its branch %q is gone", branches[dir])}
		}
	}
	return found
}

// missingOnDisk is what the slot's own files tell, and whether its branch has to be there.
func (s Slot) missingOnDisk(ctx context.Context, branch string) (m Missing, here bool) {
	_, err := os.Lstat(filepath.Join(s.Dir, ".git"))
	if errors.Is(err, fs.ErrNotExist) {
		return Missing{What: worktreeGone, Left: true}, false
	}
	if err == nil && s.unknownToGit() {
		return Missing{What: worktreeOrphaned, Left: true}, false
	}
	on := ""
	if err == nil {
		on, err = s.headBranch(ctx)
	}
	if err != nil {
		if entries, unread := os.ReadDir(s.Dir); unread == nil && s.addInterrupted(entries) {
			return Missing{What: worktreeGone, Left: true}, false // it was only begun
		}
		return Missing{Err: fmt.Errorf("look whether workspace %q is there: %w", s.Dir, err)}, false
	}
	return m, on == "" || on == branch
}

// MissingFolder is what Missing says of a slot in which agents have no folder any more; empty where they have one. It
// looks at files alone.
func (s Slot) MissingFolder(ctx context.Context, branch string) string {
	if m, _ := s.missingOnDisk(ctx, branch); m.Left {
		return m.What
	}
	return ""
}

// unknownToGit reports whether the slot has the files of a worktree of the repository, and git's own folder for it is
// gone.
func (s Slot) unknownToGit() bool {
	text, err := proc.ReadFile(filepath.Join(s.Dir, ".git"))
	dir, leads := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	common, known := s.Repo.Folder()
	if err != nil || !leads || !known || !git.SamePath(filepath.Dir(dir), filepath.Join(common, "worktrees")) {
		return false
	}
	_, err = os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// clearOrphan sets the files of such a slot aside as a whole: git can make no commit of them. The slot is not there
// then.
func (s sweep) clearOrphan(ctx context.Context, taskID string, done *Cleared) error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil || !s.unknownToGit() || s.addInterrupted(entries) {
		return nil // what a look at the slot says of it, it says itself
	}
	one, err := s.setAside(ctx, taskID, ".", "a worktree that git does not know any more")
	if err == nil {
		done.Aside = append(done.Aside, one)
	}
	return err
}

// restoreBranch makes the branch again that a task has in the slot and that is gone, where HEAD does not tell that it
// was renamed: at the newest commit that is known of it. The slot's files and its index stay as they are. A branch of
// which no commit is known stays gone.
func (s Slot) restoreBranch(ctx context.Context, here *place, present bool, branch, taskID string) (notes []string,
	err error) {
	if !present || here.branch == branch && here.head != "" {
		return nil, nil
	}
	owner, err := here.owner()
	if err != nil || owner != taskID || here.branch != "" && here.branch != branch {
		return nil, err
	}
	if _, err := s.Repo.ObjectOf(ctx, "refs/heads/"+branch); err == nil || !errors.Is(err, git.ErrNoRef) {
		return nil, err
	}
	known := append(s.sweep().lostCommits(ctx, *here), here.origHead(), here.head, s.Noted)
	at := slices.IndexFunc(known, func(commit string) bool {
		there, err := s.Repo.HasCommit(ctx, commit)
		return err == nil && there
	})
	if at < 0 {
		return nil, nil
	}
	_, err = s.Repo.Run(ctx, "update-ref", "-m", "orange: made again", "refs/heads/"+branch, known[at],
		strings.Repeat("0", len(known[at])))
	if err != nil {
		return nil, fmt.Errorf("make branch %q again: %w", branch, err)
	}
	if here.branch == branch {
		here.head = known[at]
	}
	return []string{again(branch, known[at])}, nil
}

// origHead is where the branch was that is being rebased; empty where none is.
func (p place) origHead() string {
	for _, folder := range []string{"rebase-merge", "rebase-apply"} {
		if text, err := proc.ReadFile(filepath.Join(p.gitDir, folder, "orig-head")); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

// again tells people of a branch that was made again.
func again(branch, commit string) string {
	return fmt.Sprintf("branch %q was gone: it was made again at %.12s, the newest commit of it that is known; "+
		"commits after that, if there were any, are among those that \"git fsck --lost-found\" lists", branch, commit)
}

// startOf is where the branch of a slot begins that is not here: at the last commit that is known of it, where origin
// has none or an older one, else where origin has it, else at the base. Where origin's branch has gone another way,
// that commit is kept.
func (s Slot) startOf(ctx context.Context, branch, taskID string, base git.Base, origin git.Ref, onOrigin bool,
	done *Cleared) (string, error) {
	at := base.Commit
	if onOrigin {
		at = origin.Commit
	}
	if s.Noted == "" {
		return at, nil // it is new
	}
	known, err := s.Repo.HasCommit(ctx, s.Noted)
	has := false
	if err == nil && known {
		has, err = s.Repo.Contains(ctx, at, s.Noted)
	}
	if err != nil || onOrigin && has { // nothing of it is lost
		return at, err
	}
	done.Notes = []string{again(branch, at)}
	if !known || has {
		return at, nil
	}
	if onOrigin {
		older, err := s.Repo.Contains(ctx, s.Noted, at)
		if err == nil && !older {
			done.Rescued, err = Rescues{Repo: s.Repo}.keepCommit(ctx, taskID, branch, s.Noted, keepingRefs())
		}
		if err != nil || !older {
			return at, err
		}
	}
	done.Notes = []string{again(branch, s.Noted)}
	return s.Noted, nil
}
