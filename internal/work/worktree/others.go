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

	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

// Others are the branches, tags, notes and stashes of a repository: what all worktrees share, and an agent can lose for
// others.
type Others struct {
	Refs    map[string]string `json:"refs"`    // commits by the refs' names, without "refs/"
	Stashes map[string]string `json:"stashes"` // messages by commits
}

// mostRefs is how many refs of a kind are noted. With more of them nothing is said of what became of that kind.
const mostRefs = 5000

// Kinds of refs that are noted, as folders in git's own.
const (
	ofBranches = "heads/"
	ofTags     = "tags/"
	ofNotes    = "notes/"
)

// Others reads them from the repository's files. Where these do not tell, or there are very many, it has none.
func (r Repo) Others() (Others, error) {
	all := Others{Refs: map[string]string{}, Stashes: map[string]string{}}
	common, usual := r.usualFolder()
	if !usual {
		return all, nil
	}
	for _, kind := range []string{ofBranches, ofTags, ofNotes} {
		refs := map[string]string{}
		err := packedOf(filepath.Join(common, "packed-refs"), kind, refs)
		if err == nil {
			err = looseOf(filepath.Join(common, "refs"), kind, refs)
		}
		if err != nil {
			return all, fmt.Errorf("look at the branches and tags of %q: %w", r.Path, err)
		}
		if len(refs) <= mostRefs {
			maps.Copy(all.Refs, refs)
		}
	}
	return all, stashes(filepath.Join(common, "logs", "refs", "stash"), all.Stashes)
}

func looseOf(top, kind string, into map[string]string) error {
	return filepath.WalkDir(filepath.Join(top, kind), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone meanwhile, or git has no such folder yet
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if commit, err := looseRef(path); err == nil { // what is none, git names where it is used
			into[filepath.ToSlash(name)] = commit
		}
		return nil
	})
}

func packedOf(file, kind string, into map[string]string) error {
	text, err := proc.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ref, is := strings.CutPrefix(name, "refs/"); is && strings.HasPrefix(ref, kind) && isCommit(commit) {
			into[ref] = commit
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

// LostSince tells what of others' branches, tags, notes and stashes is gone since they were noted, each with the
// command that brings it back. Own branches, and branches and notes of which git says that the earlier commit is part
// of the present one, it leaves out.
func (r Repo) LostSince(ctx context.Context, was Others, own []string) ([]string, error) {
	now, err := r.Others()
	if err != nil || len(now.Refs) == 0 {
		return nil, err
	}
	var out []string
	for _, ref := range slices.Sorted(maps.Keys(was.Refs)) {
		before, present := was.Refs[ref], now.Refs[ref]
		branch, is := strings.CutPrefix(ref, ofBranches)
		if before == present || is && slices.Contains(own, branch) {
			continue
		}
		kept := false
		if present != "" && !strings.HasPrefix(ref, ofTags) {
			_, err := r.run(ctx, "merge-base", "--is-ancestor", before, present)
			if kept = err == nil; !kept && exitCode(err) != 1 {
				return out, fmt.Errorf("ask git what became of %q: %w", ref, err)
			}
		}
		if !kept {
			out = append(out, lostOf(ref, before, present))
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

// lostOf tells of a ref that is gone, or that has gone another way, with the command that brings back what it had.
func lostOf(ref, before, present string) string {
	kind, name, _ := strings.Cut(ref, "/")
	now, back := "is gone", fmt.Sprintf("git update-ref %s %.12s", quoted("refs/"+ref), before)
	if present != "" {
		now = fmt.Sprintf("is without it at %.12s", present)
	}
	if kind+"/" == ofBranches {
		branch := quoted(name)
		if present != "" {
			branch = "NAME"
		}
		kind, back = "branch", fmt.Sprintf("git branch %s %.12s", branch, before)
	}
	return fmt.Sprintf("the %s %q was at %.12s, and %s: %s", strings.TrimSuffix(kind, "s"), name, before, now, back)
}
