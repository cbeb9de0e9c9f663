package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// keptRefs is where, in a submodule of a slot, a commit is kept that nothing else there holds.
const keptRefs = "refs/orange/kept/"

// Submodules lays out the submodules of the slot, and theirs, at the commits that its own commit names. Where they are
// so already it changes nothing. What was checked out in one is kept in it first, and git refuses to overwrite
// changed files. What git itself refuses, such as a submodule at a local path, is refused here.
func (s Slot) Submodules(ctx context.Context) (err error) {
	defer git.Explain(&err, "cannot lay out the submodules in workspace %q", s.Dir)
	if _, err := os.Lstat(filepath.Join(s.Dir, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := s.run(ctx, "submodule", "status", "--recursive")
	if err != nil {
		return err
	}
	due := false
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if line == "" || line[0] == ' ' {
			continue
		}
		due = true
		if line[0] == '+' {
			if err := s.keepSubmodule(ctx, line[1:]); err != nil {
				return err
			}
		}
	}
	if !due {
		return nil
	}
	env, err := s.Repo.RemoteEnv(ctx)
	if err != nil {
		return err
	}
	// an agent can write another way of updating into the configuration, which may be a program
	_, err = s.Repo.Do(ctx, git.Call{Dir: s.Dir, Env: env,
		Args: []string{"submodule", "update", "--init", "--recursive", "--checkout", "--quiet"}})
	return err
}

// Unpushed lists the submodules that a commit of the slot's branch names at other commits than the base, and at such
// that no branch and no tag which was cloned has: a clone of what is merged would lack them. One whose
// repository is not laid out in the slot it cannot look at, and leaves out.
func (s Slot) Unpushed(ctx context.Context, head string) (found []string, err error) {
	defer git.Explain(&err, "cannot look at the submodules in workspace %q", s.Dir)
	if _, err := os.Lstat(filepath.Join(s.Dir, ".gitmodules")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.Files().readGit(ctx, "diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
		base.Commit+"..."+head, "--")
	if err != nil {
		return nil, err
	}
	words := strings.Split(string(out.Stdout), "\x00")
	for ; len(words) > 1; words = words[2:] {
		change := strings.Fields(words[0]) // :MODE MODE COMMIT COMMIT LETTER
		if len(change) != 5 || change[1] != git.SubmoduleMode {
			continue
		}
		sub := Slot{Repo: s.Repo, Dir: filepath.Join(s.Dir, filepath.FromSlash(words[1]))}
		if _, err := os.Lstat(filepath.Join(sub.Dir, ".git")); err != nil {
			continue
		}
		args := append([]string{"rev-list", "--max-count=1", change[3], "--not", "--remotes"}, sub.clonedTags()...)
		own, err := sub.Files().readGit(ctx, append(args, "--")...)
		if err != nil && git.ExitCode(err) < 0 {
			return nil, err
		}
		if err != nil || own.Text() != "" { // a commit that is not there is nowhere
			found = append(found, words[1])
		}
	}
	return found, nil
}

// mostTags is how many tags of a submodule are looked at.
const mostTags = 5000

// clonedTags are the commits of the tags that a submodule got when it was cloned: those are in one file. A tag that was
// made there, no one else has.
func (s Slot) clonedTags() (commits []string) {
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		return nil
	}
	packed, err := proc.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(packed)) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(name, "refs/tags/") && git.IsCommit(commit) {
			commits = append(commits, commit)
		}
	}
	if len(commits) > mostTags {
		return nil
	}
	return commits
}

// keepSubmodule keeps the commit that a submodule is at. The line is git's: the commit, the path, and in brackets a
// name of the commit.
func (s Slot) keepSubmodule(ctx context.Context, line string) error {
	commit, path, _ := strings.Cut(line, " ")
	if i := strings.LastIndex(path, " ("); i > 0 {
		path = path[:i]
	}
	dir := filepath.Join(s.Dir, filepath.FromSlash(path))
	_, err := s.Repo.Do(ctx, git.Call{Dir: dir, Args: []string{"update-ref", keptRefs + commit, commit}})
	if err != nil {
		return fmt.Errorf("keep what is checked out in %q: %w", path, err)
	}
	return nil
}
