package git

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
	defer Explain(&err, "cannot find the base of %q", r.Path)
	known, err := r.Refs(ctx, r.DefaultRefs()...)
	if err != nil {
		return Base{}, err
	}
	return r.ChooseBase(ctx, known)
}

// LocalDefault is the full name of the default branch here.
func (r Repo) LocalDefault() string { return "refs/heads/" + r.DefaultBranch }

// OriginDefault is the full name of the default branch as it was seen on origin.
func (r Repo) OriginDefault() string { return "refs/remotes/origin/" + r.DefaultBranch }

// DefaultRefs are both.
func (r Repo) DefaultRefs() []string { return []string{r.LocalDefault(), r.OriginDefault()} }

// ChooseBase is Base for refs that were read.
func (r Repo) ChooseBase(ctx context.Context, known map[string]Ref) (Base, error) {
	local, here := known[r.LocalDefault()]
	origin, there := known[r.OriginDefault()]
	switch {
	case !here && !there:
		return Base{}, r.WithMisplaced(r.Path, fmt.Errorf(
			"there is no branch %q, neither here nor on origin; set the project's default branch", r.DefaultBranch))
	case !there:
		return local.base(), nil
	case !here || local.Commit == origin.Commit:
		return origin.base(), nil
	}
	ahead, behind, err := r.Compare(ctx, local.Commit, origin.Commit)
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

// Compare reports whether the first commit has what the second has not, and the reverse.
func (r Repo) Compare(ctx context.Context, first, second string) (ahead, behind bool, err error) {
	more, fewer, err := r.Between(ctx, first, second)
	return fewer > 0, more > 0, err
}

// Contains reports whether the history of the commit holds the other one.
func (r Repo) Contains(ctx context.Context, commit, other string) (bool, error) {
	_, err := r.Run(ctx, "merge-base", "--is-ancestor", other, commit)
	if ExitCode(err) == 1 {
		return false, r.CheckComparable(ctx, r.Path, commit, other)
	}
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", other, commit, err)
	}
	return true, nil
}

// Worktree is one worktree that git has on record; the main one comes first.
type Worktree struct {
	Path   string
	Commit string
	Branch string // full name; empty when detached
	bare   bool
	Locked string // why git or a person locked it; empty when it is not locked
}

// Checkouts are the worktrees that git has on record, the main one first.
func (r Repo) Checkouts(ctx context.Context, dir string) ([]Worktree, error) {
	out, err := r.Do(ctx, Call{Dir: dir, Args: []string{"worktree", "list", "--porcelain", "-z"},
		upwards: dir != r.Path})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var all []Worktree
	for _, line := range strings.Split(string(out.Stdout), "\x00") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			all = append(all, Worktree{Path: value})
		}
		if len(all) == 0 {
			continue
		}
		last := &all[len(all)-1]
		switch key {
		case "HEAD":
			last.Commit = value
		case "branch":
			last.Branch = value
		case "bare":
			last.bare = true
		case "locked":
			last.Locked = value
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("list worktrees: git named none in %q", dir)
	}
	all[0], err = r.withMainCheckout(ctx, all[0], dir)
	return all, err
}

// HasRemote reports whether the repository has a remote called origin.
func (r Repo) HasRemote(ctx context.Context) (bool, error) {
	out, err := r.Run(ctx, "remote")
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
	return r.FetchOrigin(ctx)
}

// FetchOrigin is Fetch where there is an origin.
func (r Repo) FetchOrigin(ctx context.Context) error {
	if err := CheckBranch(ctx, r.DefaultBranch); err != nil {
		return err
	}
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return fmt.Errorf("cannot fetch from origin: %w", err)
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"origin", "+refs/heads/" + r.DefaultBranch + ":" + r.OriginDefault(),
	}
	_, err = r.Do(ctx, Call{Dir: r.Path, Args: args, Env: env})
	if RefusedWith(err, "couldn't find remote ref refs/heads/"+r.DefaultBranch) {
		return nil
	}
	if name := nameIn(err, worktreeInTheWay); name != "" {
		return fmt.Errorf("cannot fetch %q from origin: %w; that worktree of the repository has no commit: check one "+
			"out there, or remove it (git -C %s worktree list), then run this again", r.DefaultBranch, err,
			Quote(r.Path))
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
	if err := CheckBranch(ctx, branch); err != nil {
		return false, err
	}
	full := HeadRefs + branch
	found, err := r.Refs(ctx, append(r.DefaultRefs(), full)...)
	if err != nil {
		return false, fmt.Errorf("cannot look for branch %q: %w", branch, err)
	}
	if _, exists := found[full]; !exists {
		return false, fmt.Errorf("cannot read the commits of branch %q: there is no such branch", branch)
	}
	if commit == "" {
		commit = full
	}
	args := []string{"rev-list", "--max-count=1", commit, "--not"}
	var defaults []string
	for _, name := range r.DefaultRefs() {
		if one, there := found[name]; there {
			args, defaults = append(args, name), append(defaults, one.Commit)
		}
	}
	out, err := r.Run(ctx, append(args, "--")...)
	if err != nil {
		return false, fmt.Errorf("read the commits of branch %q: %w", branch, err)
	}
	if out.Text() == "" {
		return false, nil
	}
	for _, one := range defaults {
		if err := r.CheckComparable(ctx, r.Path, one, commit); err != nil {
			return false, fmt.Errorf("read the commits of branch %q: %w", branch, err)
		}
	}
	return true, nil
}
