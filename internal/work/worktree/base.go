package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Base is what a task's work is compared with.
type Base struct {
	Ref    string // short and unambiguous, such as "origin/main" or "main"; for "git diff REF...HEAD"
	Commit string
}

// Base picks between origin's default branch and the local one: the one that contains the other;
// origin's when they diverged, the local one when there is no origin. It looks at what was fetched last.
func (r Repo) Base(ctx context.Context) (base Base, err error) {
	defer explain(&err, "cannot find the base of %q", r.Path)
	known, err := r.refs(ctx, r.defaultRefs()...)
	if err != nil {
		return Base{}, err
	}
	return r.chooseBase(ctx, known)
}

func (r Repo) localDefault() string  { return "refs/heads/" + r.DefaultBranch }
func (r Repo) originDefault() string { return "refs/remotes/origin/" + r.DefaultBranch }
func (r Repo) defaultRefs() []string { return []string{r.localDefault(), r.originDefault()} }

func (r Repo) chooseBase(ctx context.Context, known map[string]ref) (Base, error) {
	local, here := known[r.localDefault()]
	origin, there := known[r.originDefault()]
	switch {
	case !here && !there:
		return Base{}, r.withMisplaced(r.Path, fmt.Errorf(
			"there is no branch %q, neither here nor on origin; set the project's default branch", r.DefaultBranch))
	case !there:
		return local.base(), nil
	case !here || local.commit == origin.commit:
		return origin.base(), nil
	}
	ahead, behind, err := r.compare(ctx, local.commit, origin.commit)
	if err != nil {
		return Base{}, err
	}
	if ahead && !behind {
		return local.base(), nil
	}
	if ahead && behind {
		// What a remote that was taken away left behind has no say.
		if remote, err := r.HasRemote(ctx); err != nil || !remote {
			return local.base(), err
		}
	}
	return origin.base(), nil
}

// compare reports whether the first commit has what the second has not, and the reverse.
func (r Repo) compare(ctx context.Context, first, second string) (ahead, behind bool, err error) {
	more, fewer, err := r.Between(ctx, first, second)
	return fewer > 0, more > 0, err
}

// contains reports whether the history of the commit holds the other one.
func (r Repo) contains(ctx context.Context, commit, other string) (bool, error) {
	_, err := r.run(ctx, "merge-base", "--is-ancestor", other, commit)
	if exitCode(err) == 1 {
		return false, r.comparable(ctx, r.Path, commit, other)
	}
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", other, commit, err)
	}
	return true, nil
}

// checkout is one worktree that git has on record; the main one comes first.
type checkout struct {
	path   string
	commit string
	branch string // full name; empty when detached
	bare   bool
	locked string // why git or a person locked it; empty when it is not locked
}

func (r Repo) checkouts(ctx context.Context, dir string) ([]checkout, error) {
	out, err := r.git(ctx, call{dir: dir, args: []string{"worktree", "list", "--porcelain", "-z"},
		upwards: dir != r.Path})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var all []checkout
	for _, line := range strings.Split(string(out.Stdout), "\x00") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			all = append(all, checkout{path: value})
		}
		if len(all) == 0 {
			continue
		}
		last := &all[len(all)-1]
		switch key {
		case "HEAD":
			last.commit = value
		case "branch":
			last.branch = value
		case "bare":
			last.bare = true
		case "locked":
			last.locked = value
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("list worktrees: git named none in %q", dir)
	}
	all[0], err = r.whole(ctx, all[0], dir)
	return all, err
}

// HasRemote reports whether the repository has a remote called origin.
func (r Repo) HasRemote(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, "remote")
	if err != nil {
		return false, fmt.Errorf("cannot look for origin in %q: %w", r.Path, err)
	}
	return slices.Contains(strings.Split(out.Text(), "\n"), "origin"), nil
}

// Fetch brings what is known of origin's default branch up to date; without an origin it does nothing,
// and neither does it when origin answers that it has no such branch. It never asks a person for anything,
// and leaves the user's FETCH_HEAD and tags alone.
func (r Repo) Fetch(ctx context.Context) error {
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return err
	}
	return r.fetch(ctx)
}

// fetch is Fetch where there is an origin.
func (r Repo) fetch(ctx context.Context) error {
	if err := CheckBranch(ctx, r.DefaultBranch); err != nil {
		return err
	}
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return fmt.Errorf("cannot fetch from origin: %w", err)
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"origin", "+refs/heads/" + r.DefaultBranch + ":" + r.originDefault(),
	}
	_, err = r.git(ctx, call{dir: r.Path, args: args, env: env})
	if refusedWith(err, "couldn't find remote ref refs/heads/"+r.DefaultBranch) {
		return nil
	}
	if name := named(err, worktreeInTheWay); name != "" {
		return fmt.Errorf("cannot fetch %q from origin: %w; that worktree of the repository has no commit: check one "+
			"out there, or remove it (git -C %s worktree list), then run this again", r.DefaultBranch, err,
			quoted(r.Path))
	}
	if err != nil {
		return fmt.Errorf("cannot fetch %q from origin: %w; see that origin can be reached without a "+
			"password, then run this again", r.DefaultBranch, err)
	}
	return nil
}

// Ahead reports whether a local branch, or one commit of it where that is named, holds a commit that neither the
// default branch here nor the one on origin has.
func (r Repo) Ahead(ctx context.Context, branch, commit string) (bool, error) {
	exists, err := r.BranchExists(ctx, branch)
	if err != nil {
		return false, err
	}
	if !exists {
		return false, fmt.Errorf("cannot read the commits of branch %q: there is no such branch", branch)
	}
	if commit == "" {
		commit = "refs/heads/" + branch
	}
	args := []string{"rev-list", "--max-count=1", commit, "--not"}
	found, err := r.refs(ctx, r.defaultRefs()...)
	if err != nil {
		return false, fmt.Errorf("look for the default branch: %w", err)
	}
	for _, name := range r.defaultRefs() {
		if _, there := found[name]; there {
			args = append(args, name)
		}
	}
	out, err := r.run(ctx, append(args, "--")...)
	if err != nil {
		return false, fmt.Errorf("read the commits of branch %q: %w", branch, err)
	}
	if out.Text() == "" {
		return false, nil
	}
	for _, one := range found {
		if err := r.comparable(ctx, r.Path, one.commit, commit); err != nil {
			return false, fmt.Errorf("read the commits of branch %q: %w", branch, err)
		}
	}
	return true, nil
}
