package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/printable"
	"orange/internal/proc"
)

// Others are the branches of a repository, and its stashes: what all worktrees share, and an agent can lose for others.
type Others struct {
	Branches map[string]string `json:"branches"` // commits by the branches' names
	Stashes  map[string]string `json:"stashes"`  // messages by commits
}

// mostBranches is how many branches are noted. With more of them nothing is said of what became of them.
const mostBranches = 5000

// Others reads them from the repository's files. Where these do not tell, or there are very many, it has none.
func (r Repo) Others() (Others, error) {
	all := Others{Branches: map[string]string{}, Stashes: map[string]string{}}
	common, usual := r.usualFolder()
	if !usual {
		return all, nil
	}
	if err := packedBranches(filepath.Join(common, "packed-refs"), all.Branches); err != nil {
		return all, err
	}
	top := filepath.Join(common, "refs", "heads")
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone meanwhile
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if commit, err := looseRef(path); err == nil { // what is none, git names where it is used
			all.Branches[filepath.ToSlash(name)] = commit
		}
		return nil
	})
	if err != nil {
		return all, fmt.Errorf("look at the branches of %q: %w", r.Path, err)
	}
	if len(all.Branches) > mostBranches {
		clear(all.Branches)
	}
	return all, stashes(filepath.Join(common, "logs", "refs", "stash"), all.Stashes)
}

func packedBranches(file string, into map[string]string) error {
	text, err := proc.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the packed branches: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if branch, is := strings.CutPrefix(name, "refs/heads/"); is && isCommit(commit) {
			into[branch] = commit
		}
	}
	return nil
}

// stashes reads the log of the ref that has them: each line is one, with its commit and, after a tab, its message.
func stashes(file string, into map[string]string) error {
	log, err := proc.OpenFile(file, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the stashes: %w", err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		ids, message, _ := strings.Cut(lines.Text(), "\t")
		if fields := strings.Fields(ids); len(fields) > 1 && isCommit(fields[1]) {
			into[fields[1]] = message
		}
	}
	return lines.Err()
}

// LostSince tells what of others' branches and stashes is gone since they were noted, each with the command that brings
// it back. Own branches, and those of which git says that the earlier commit is part of the present one, it leaves out.
func (r Repo) LostSince(ctx context.Context, was Others, own []string) ([]string, error) {
	now, err := r.Others()
	if err != nil || len(now.Branches) == 0 {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(was.Branches)) {
		before, present := was.Branches[name], now.Branches[name]
		if before == present || slices.Contains(own, name) {
			continue
		}
		if present == "" {
			out = append(out, fmt.Sprintf("the branch %q is gone, which was at %.12s: git branch %s %.12s", name,
				before, quoted(name), before))
			continue
		}
		_, err := r.run(ctx, "merge-base", "--is-ancestor", before, present)
		switch {
		case err == nil:
		case exitCode(err) == 1:
			out = append(out, fmt.Sprintf("the branch %q was at %.12s, and is without it at %.12s: "+
				"git branch NAME %.12s", name, before, present, before))
		default:
			return out, fmt.Errorf("ask git what became of the branch %q: %w", name, err)
		}
	}
	for _, commit := range slices.Sorted(maps.Keys(was.Stashes)) {
		if _, there := now.Stashes[commit]; !there {
			message := printable.Line(was.Stashes[commit])
			out = append(out, fmt.Sprintf("the stash %q is gone: git stash store -m %s %.12s", message, quoted(message),
				commit))
		}
	}
	return out, nil
}
