package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// setAsideLeft moves out of a cleared slot what git has left there though it does not ignore it: repositories inside of
// it, submodules with work, folders that cannot be read. Pipes and sockets hold nothing and go.
func (s sweep) setAsideLeft(ctx context.Context, taskID string) (all []record.Aside, err error) {
	left, err := s.findRemains(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range left {
		if one.why == "" {
			if err := os.Remove(filepath.Join(s.Dir, one.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return all, fmt.Errorf("clear the workspace: %w", err)
			}
			continue
		}
		if one.why == aSubmodule {
			if err := s.embody(ctx, filepath.Join(s.Dir, one.path)); err != nil {
				return all, err
			}
		}
		a, err := s.setAside(ctx, taskID, filepath.ToSlash(one.path), one.why)
		if err != nil {
			return all, err
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil, nil
	}
	// Files of the commit may have lain in such a folder, and git calls a submodule without a folder deleted.
	if _, err := s.run(ctx, "reset", "--hard", "--quiet"); err != nil {
		return all, fmt.Errorf("clear the workspace: %w", err)
	}
	return all, nil
}

// remains is something that git leaves in a slot. It is to be removed where there is no reason to keep it.
type remains struct{ path, why string }

// findRemains walks through a slot for what git does not tell of.
func (s sweep) findRemains(ctx context.Context) ([]remains, error) {
	submodules, err := s.submodulePaths(ctx)
	if err != nil {
		return nil, err
	}
	var apart, other []remains // what lies in the place of a submodule git is not asked about: it would refuse
	err = filepath.WalkDir(s.Dir, func(path string, entry fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(s.Dir, path)
		switch {
		case errors.Is(err, os.ErrNotExist): // a program removes its own files
			return nil
		case err != nil && entry == nil || relErr != nil:
			return errors.Join(err, relErr)
		case err != nil:
			other = append(other, remains{name, unreadable})
			return fs.SkipDir
		case name == "." || name == ".git": // a file; see look
			return nil
		case entry.IsDir() && submodules[filepath.ToSlash(name)] != "":
			why, err := s.whySubmodule(ctx, name, submodules[filepath.ToSlash(name)])
			if why != "" {
				apart = append(apart, remains{name, why})
			}
			return cmp.Or(err, fs.SkipDir)
		case entry.IsDir():
			if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
				other = append(other, remains{name, aRepository})
				return fs.SkipDir
			}
		case entry.Type()&fs.ModeSymlink == 0 && !entry.Type().IsRegular():
			other = append(other, remains{path: name})
		}
		return nil
	})
	if err != nil || len(other) == 0 {
		return apart, err
	}
	ignored, err := s.ignoredRemains(ctx, other)
	if err != nil {
		return nil, err
	}
	return append(apart, slices.DeleteFunc(other, func(one remains) bool { return ignored[one.path] })...), nil
}

// whySubmodule is the reason to set the folder of a submodule aside; empty where there is none. Git shows nothing of a
// folder that has no repository, whatever lies in it.
func (s sweep) whySubmodule(ctx context.Context, path, commit string) (string, error) {
	dir := filepath.Join(s.Dir, path)
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	if errors.Is(err, os.ErrNotExist) {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 {
			return "", err
		}
		return inPlace, nil
	}
	if err != nil {
		return unreadable, nil
	}
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return "", err
	}
	repository, own := ownModule(dir, filepath.Join(gitDir, "modules"))
	if own && plainConfig(filepath.Join(repository, "config")) && !hasOwnTags(repository) &&
		!s.submoduleHasWork(ctx, dir, commit) {
		return "", nil
	}
	return aSubmodule, nil
}

// plainConfig reports whether a repository's configuration has nothing by which git starts a program or reads another
// file: an agent can write it.
func plainConfig(file string) bool {
	text, err := proc.ReadFile(file)
	lower := strings.ToLower(string(text))
	return err == nil && !strings.Contains(lower, "[filter") && !strings.Contains(lower, "[include")
}

// literalHere begins a name that git would read as a pattern otherwise.
const literalHere = "./"

// ignoredRemains tells which of the remains git ignores: these keep a slot warm.
func (s sweep) ignoredRemains(ctx context.Context, all []remains) (map[string]bool, error) {
	var names strings.Builder
	for _, one := range all {
		names.WriteString(literalHere + filepath.ToSlash(one.path) + "\x00")
	}
	out, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: []string{"check-ignore", "-z", "--stdin"},
		Stdin: names.String()})
	const none = 1 // git's status where it ignores none of them
	if err != nil && git.ExitCode(err) != none {
		return nil, fmt.Errorf("ask what git ignores: %w", err)
	}
	found := map[string]bool{}
	for _, name := range strings.Split(string(out.Stdout), "\x00") {
		found[filepath.FromSlash(strings.TrimPrefix(name, literalHere))] = name != ""
	}
	return found, nil
}

// submodulePaths are the paths at which the slot's index has submodules, with the commit of each.
func (s sweep) submodulePaths(ctx context.Context) (map[string]string, error) {
	out, err := s.run(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, fmt.Errorf("list the submodules: %w", err)
	}
	found := map[string]string{}
	for _, line := range strings.Split(string(out.Stdout), "\x00") {
		what, path, _ := strings.Cut(line, "\t")
		if commit, is := strings.CutPrefix(what, git.SubmoduleMode+" "); is {
			found[path], _, _ = strings.Cut(commit, " ")
		}
	}
	return found, nil
}

// hasOwnTags reports whether a repository has tags that it did not get when it was cloned: those are in one file.
func hasOwnTags(repository string) bool {
	tags, err := os.ReadDir(filepath.Join(repository, "refs", "tags"))
	return len(tags) > 0 || err != nil && !errors.Is(err, os.ErrNotExist)
}

// submoduleHasWork reports whether the repository of a submodule has changed files, files of which git overlooks
// changes, or commits that neither a remote nor the slot's own commit names. What git cannot look at counts as work.
func (s sweep) submoduleHasWork(ctx context.Context, dir, commit string) bool {
	in := Slot{Repo: s.Repo, Dir: dir}
	changed, err := in.Files().readGit(ctx, "status", "--porcelain", "-z", "--untracked-files=normal",
		"--ignore-submodules=none")
	if err != nil || len(changed.Stdout) > 0 {
		return true
	}
	known, err := in.Files().list(ctx)
	if err != nil || len(known.flags) > 0 {
		return true
	}
	own, err := in.Files().readGit(ctx, "rev-list", "--max-count=1", "HEAD", "--branches", "--glob=refs/stas[h]",
		"--not", "--remotes", commit, "--")
	return err != nil || own.Text() != ""
}

// ownModule is the repository that the .git file of a folder leads to, where that lies below the folder with the slot's
// own repositories of submodules, and is one by itself.
func ownModule(dir, modules string) (repository string, own bool) {
	text, err := proc.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return "", false
	}
	path, leads := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !leads {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, filepath.FromSlash(path))
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	root, err := filepath.EvalSymlinks(modules)
	if err != nil || !strings.HasPrefix(real, root+string(filepath.Separator)) {
		return "", false
	}
	_, shared := os.Lstat(filepath.Join(real, "commondir"))
	return real, errors.Is(shared, os.ErrNotExist) && git.IsGitFolder(real)
}

// embody gives a submodule its repository: the folder of git's that lies with the worktree moves into it, and so do
// those of its own submodules. It can be moved then, and stays a repository.
func (s sweep) embody(ctx context.Context, dir string) error {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return err
	}
	modules := filepath.Join(gitDir, "modules")
	if _, err := os.Lstat(modules); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var inner []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" && entry.Type().IsRegular() {
			inner = append(inner, filepath.Dir(path))
		}
		if err != nil && entry != nil && entry.IsDir() {
			return fs.SkipDir // what cannot be looked into is moved as it is
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, one := range slices.Backward(inner) { // the innermost first
		repository, own := ownModule(one, modules)
		if !own {
			continue // an agent can write any path there: what is not the slot's own stays where it is
		}
		link := filepath.Join(one, ".git")
		if err := relocate(ctx, repository, link+".orange"); err != nil {
			return err
		}
		if err := errors.Join(os.Remove(link), os.Rename(link+".orange", link)); err != nil {
			return err
		}
		config := filepath.Join(link, "config")
		unset := git.Call{Dir: s.Repo.Path, Args: []string{"config", "--file", config, "--unset-all", "core.worktree"}}
		const absent = 5 // git's status where there is no such key
		if _, err := s.Repo.Do(ctx, unset); err != nil && git.ExitCode(err) != absent {
			return fmt.Errorf("let the submodule %q have its repository: %w", one, err)
		}
	}
	return nil
}
