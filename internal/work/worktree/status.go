package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// status is what one look of git at a worktree told.
type status struct {
	head    string // commit; empty before a branch's first one
	branch  string // without refs/heads/; empty when detached
	changes []change
}

// change is one file that differs, as git status names it.
type change struct {
	index, tree byte // what git calls X and Y
	path        string
	submodule   bool // a submodule, and nothing else, before and after
}

// Some of git's letters.
const (
	unchanged = '.'
	modified  = 'M'
	untracked = '?'
)

// depth says how far a look goes.
type depth struct {
	index      string // an index other than the slot's own
	untracked  string // "normal" names a new folder and not what is in it; "all" names every file
	submodules string // what is overlooked in submodules: "all", or "untracked"
}

// status asks git once for commit, branch and every file that differs from HEAD. Ignored files and nested
// repositories are none.
func (s Contents) status(ctx context.Context, a depth) (status, error) {
	args := []string{"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--no-renames",
		"--ignore-submodules=" + a.submodules, "--untracked-files=" + a.untracked}
	out, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: args, Index: a.index, Env: []string{git.Reading}})
	if err != nil {
		return status{}, fmt.Errorf("look for changes in %q: %w", s.Dir, err)
	}
	var seen status
	for _, line := range strings.Split(string(out.Stdout), "\x00") {
		if line == "" {
			continue
		}
		if err := seen.add(line); err != nil {
			return status{}, fmt.Errorf("look for changes in %q: %w", s.Dir, err)
		}
	}
	if seen.branch == detached && !s.onBranchNamedDetached() {
		seen.branch = ""
	}
	seen.changes = slices.DeleteFunc(seen.changes, func(c change) bool { return s.isRepository(c.path) })
	return seen, nil
}

// detached is what git calls the branch of a worktree that is on none. It can be a branch's name, too.
const detached = "(detached)"

func (s Contents) onBranchNamedDetached() bool {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return false
	}
	head, err := proc.ReadFile(filepath.Join(gitDir, "HEAD"))
	return err == nil && strings.TrimSpace(string(head)) == "ref: refs/heads/"+detached
}

// add reads one line of the second version of git's porcelain format.
func (st *status) add(line string) error {
	const pathOfChanged, pathOfUnmerged = 8, 10 // fields before the path
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "#":
		key, value, _ := strings.Cut(rest, " ")
		switch {
		case key == "branch.oid" && value != "(initial)":
			st.head = value
		case key == "branch.head":
			st.branch = strings.TrimPrefix(value, "refs/heads/")
		}
		return nil
	case "?":
		st.changes = append(st.changes, change{index: untracked, tree: untracked, path: rest})
		return nil
	}
	before := pathOfChanged
	if kind == "u" {
		before = pathOfUnmerged
	}
	fields := strings.SplitN(line, " ", before+1)
	if kind != "1" && kind != "u" || len(fields) <= before || len(fields[1]) != len("XY") {
		return fmt.Errorf("git answered %q", line)
	}
	c := change{index: fields[1][0], tree: fields[1][1], path: fields[before]}
	c.submodule = kind == "1" && onlySubmodule(fields[3:6])
	st.changes = append(st.changes, c)
	return nil
}

// onlySubmodule reports whether the modes in HEAD, in the index and in the worktree are those of a submodule,
// where there are any.
func onlySubmodule(modes []string) bool {
	const absent = "000000"
	found := false
	for _, mode := range modes {
		if mode != git.SubmoduleMode && mode != absent {
			return false
		}
		found = found || mode == git.SubmoduleMode
	}
	return found
}

// changes lists what differs from HEAD, ignored files, nested repositories and submodules apart:
// those are left alone by everything that is done here. An index of its own may be given.
func (s Contents) changes(ctx context.Context, index, untracked string) ([]change, error) {
	seen, err := s.status(ctx, depth{index: index, untracked: untracked, submodules: "all"})
	return seen.changes, err
}
