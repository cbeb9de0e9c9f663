package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Snapshot is the state of a slot at one moment: what it has checked out, and which files differ from that.
type Snapshot struct {
	Head   string // commit; empty where the branch has none, as one whose ref was deleted
	Branch string // empty when it is on none
	// paths that git knows and that differ from the commit, sorted; not those that differed when it was prepared
	Modified []string
	New      []string // paths that it does not know, sorted; what does not count for Clean is in neither
	// those at another commit than the one that is recorded, or with changes of tracked files, sorted
	Submodules []string
	Unpushed   []string // see Slot.Unpushed
	Hidden     []Hidden // those of Modified, or in Submodules, that git overlooks because of flags
	// what is not as it was prepared of the slot's own configuration: names of settings, and "sparse-checkout"
	Setup []string
}

// Hidden is a change that git overlooks because of flags.
type Hidden struct {
	Path      string
	Flags     []string // "skip-worktree", "assume-unchanged"
	Submodule string   // in which it lies, and from which Path goes; empty for a file of the slot itself
}

// Snapshot reads the state of the slot. The second result is false for a slot that does not exist.
func (s Contents) Snapshot(ctx context.Context) (Snapshot, bool, error) {
	if _, err := os.Lstat(filepath.Join(s.Dir, ".git")); errors.Is(err, os.ErrNotExist) {
		return Snapshot{}, false, nil
	}
	here, own := s.ownPlace(ctx)
	if gone := s.Repo.Gone(); !own && gone != nil {
		return Snapshot{}, false, fmt.Errorf("cannot look at workspace %q: %w", s.Dir, gone)
	}
	if !own {
		return Snapshot{}, false, s.Repo.WithMisplaced(s.Dir, fmt.Errorf("cannot look at workspace %q: it is no "+
			"worktree of %q any more; save what is in it and move it away", s.Dir, s.Repo.Path))
	}
	prepared, _, err := s.note(ctx)
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("cannot look at workspace %q: %w", s.Dir, err)
	}
	seen, err := s.fullStatus(ctx, depth{untracked: "no", submodules: "untracked"}, prepared)
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("cannot tell whether the workspace is clean: %w", err)
	}
	if seen.head != "" {
		commits := []string{seen.head}
		if base, err := s.Repo.Base(ctx); err == nil { // else nothing is left out
			commits = append(commits, "^"+base.Commit)
		}
		if err := s.Repo.CheckIntact(ctx, commits...); err != nil {
			return Snapshot{}, false, fmt.Errorf("cannot look at workspace %q: %w", s.Dir, err)
		}
	}
	at := Snapshot{Head: seen.head, Branch: seen.branch, Hidden: seen.hidden}
	for _, c := range s.withoutShown(seen.changes, prepared.Shown) {
		switch {
		case c.submodule:
			at.Submodules = append(at.Submodules, c.path)
		default:
			at.Modified = append(at.Modified, c.path)
		}
	}
	if at.New, err = s.newFiles(ctx, seen.known); err != nil {
		return Snapshot{}, false, fmt.Errorf("cannot tell whether the workspace is clean: %w", err)
	}
	at.New = slices.DeleteFunc(at.New, func(file string) bool { return slices.Contains(seen.strays, file) })
	below, err := s.hiddenBelow(ctx, seen.submodules)
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("cannot tell whether the workspace is clean: %w", err)
	}
	for _, h := range below {
		at.Hidden = append(at.Hidden, h)
		at.Submodules = append(at.Submodules, outermost(seen.submodules, h.Submodule))
	}
	slices.Sort(at.Modified)
	slices.Sort(at.Submodules)
	at.Submodules = slices.Compact(at.Submodules)
	if len(seen.submodules) > 0 && seen.head != "" {
		if at.Unpushed, err = s.Unpushed(ctx, seen.head); err != nil {
			return Snapshot{}, false, err
		}
	}
	if at.Setup, _, err = s.changedSetup(ctx, here.gitDir, prepared.setup); err != nil {
		return Snapshot{}, false, fmt.Errorf("cannot look at workspace %q: %w", s.Dir, err)
	}
	return at, true, nil
}

// outermost is the submodule of the slot in which another one lies, or itself.
func outermost(submodules []string, name string) string {
	at := slices.IndexFunc(submodules, func(s string) bool { return s == name || strings.HasPrefix(name, s+"/") })
	return submodules[at]
}
