package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/task"
)

// MergeRequest says what is to be merged into the default branch, and how.
type MergeRequest struct {
	Branch   string
	Commit   string // of the branch; empty means its tip
	Strategy string // "" (fast-forward where possible, else a merge commit), "ff" or "merge"
	Message  string // of a merge commit

	// Still is asked right before the default branch moves or is pushed, whatever was waited for before. Its
	// error ends the merge with nothing changed. Nil means yes.
	Still func(context.Context) error
}

// Merged says what a merge came to.
type Merged struct {
	Commit string // where the default branch is now
	How    string // "fast-forward", "merge commit" or "already merged"
	Pushed bool   // origin's default branch has the commit
	Beyond string // the tip of the branch, where it is not the commit that was merged
}

// The three ways in which a merge ends well.
const (
	fastForward   = "fast-forward"
	mergeCommit   = "merge commit"
	alreadyMerged = "already merged"
)

// Merge merges the branch into the default branch without a checkout, after a fetch where there is an origin.
// A checkout that has the default branch is fast-forwarded by git itself, which refuses when that would overwrite
// anything; nothing is ever switched, reset or stashed. An error leaves everything as it was, with one exception
// that it names: a merge that is done here and could not be pushed. Run again, it goes on where it stopped.
// An "already merged" that holds on origin only leaves the local default branch where it is.
func (r Repo) Merge(ctx context.Context, m MergeRequest) (done Merged, err error) {
	if m.Strategy != "" && m.Strategy != "ff" && m.Strategy != "merge" {
		return Merged{}, task.Notef(task.ErrUsage,
			"cannot merge with strategy %q: use \"ff\", \"merge\", or none", m.Strategy)
	}
	if err := errors.Join(CheckBranch(ctx, m.Branch), CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return Merged{}, err
	}
	defer explain(&err, "cannot merge %q into %q", m.Branch, r.DefaultBranch)
	remote, err := r.HasRemote(ctx)
	if err != nil {
		return Merged{}, err
	}
	if remote {
		if err := r.fetch(ctx); err != nil {
			return Merged{}, fmt.Errorf("nothing was changed, because what origin has is not known: %w", err)
		}
	}
	name := "refs/heads/" + m.Branch
	known, err := r.refs(ctx, append(r.defaultRefs(), name)...)
	if err != nil {
		return Merged{}, err
	}
	branch, exists := known[name]
	if !exists {
		return Merged{}, task.Notef(task.ErrNotFound, "there is no local branch of that name")
	}
	local, origin := known[r.localDefault()], known[r.originDefault()]
	if !remote {
		origin = ref{}
	}
	start, err := r.mergeStart(ctx, local, origin)
	if err != nil {
		return Merged{}, err
	}
	commit := cmp.Or(m.Commit, branch.commit)
	done, err = r.mergeTarget(ctx, m, start, commit)
	if err != nil {
		return Merged{}, err
	}
	if commit != branch.commit {
		done.Beyond = branch.commit
	}
	if m.Still != nil {
		if err := m.Still(ctx); err != nil {
			return Merged{}, err
		}
	}
	if done.How != alreadyMerged {
		if err := r.advance(ctx, m.Branch, local.commit, done.Commit); err != nil {
			return Merged{}, err
		}
	}
	if remote {
		done.Pushed, err = r.pushDefault(ctx, origin.commit, done.Commit)
	}
	return done, err
}

// mergeStart is where the default branch really is: here, or on origin when that is ahead.
func (r Repo) mergeStart(ctx context.Context, local, origin ref) (string, error) {
	switch {
	case local.commit == "" && origin.commit == "":
		return "", errors.New("there is no such branch to merge into, neither here nor on origin")
	case origin.commit == "" || local.commit == origin.commit:
		return local.commit, nil
	case local.commit == "":
		return origin.commit, nil
	}
	ahead, behind, err := r.compare(ctx, local.commit, origin.commit)
	if err != nil {
		return "", err
	}
	if ahead && behind {
		return "", fmt.Errorf("the local %q and origin's went different ways; bring them together (git -C %s "+
			"pull, with %q checked out), then run this again; nothing was changed",
			r.DefaultBranch, quoted(r.Path), r.DefaultBranch)
	}
	if behind {
		return origin.commit, nil
	}
	return local.commit, nil
}

// mergeTarget finds, or makes, the commit that the default branch is to be at. It moves nothing.
func (r Repo) mergeTarget(ctx context.Context, m MergeRequest, start, branch string) (Merged, error) {
	ahead, behind, err := r.compare(ctx, branch, start)
	if err != nil {
		return Merged{}, err
	}
	if !ahead {
		return Merged{Commit: start, How: alreadyMerged}, nil
	}
	if !behind && m.Strategy != "merge" {
		return Merged{Commit: branch, How: fastForward}, nil
	}
	if m.Strategy == "ff" {
		return Merged{}, fmt.Errorf("%q has commits that the branch has not, so a fast-forward is not "+
			"possible; rebase the branch, or merge with strategy \"merge\"; nothing was changed", r.DefaultBranch)
	}
	tree, err := r.mergeTree(ctx, start, branch)
	if err != nil {
		return Merged{}, err
	}
	commit, err := r.mergeCommit(ctx, tree, strings.TrimRight(m.Message, "\n")+"\n", start, branch)
	return Merged{Commit: commit, How: mergeCommit}, err
}

func (r Repo) mergeTree(ctx context.Context, start, branch string) (string, error) {
	out, err := r.run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", start, branch)
	parts := strings.Split(strings.TrimRight(string(out.Stdout), "\x00"), "\x00")
	if exitCode(err) == 1 && len(parts) > 1 {
		return "", fmt.Errorf("both changed %s; merge %q into the branch and solve it there, then run this "+
			"again; nothing was changed", list(parts[1:]), r.DefaultBranch)
	}
	if err != nil {
		return "", fmt.Errorf("merge the trees (nothing was changed): %w", err)
	}
	return parts[0], nil
}

func list(files []string) string {
	const most = 20
	var b strings.Builder
	for i, file := range files {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(files)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", file)
	}
	return b.String()
}

// mergeCommit is signed by the user, with a key too where the user's configuration says so: commit-tree needs to
// be asked for it.
func (r Repo) mergeCommit(ctx context.Context, tree, message, first, second string) (string, error) {
	signing, err := r.run(ctx, "config", "--type=bool", "--get", "commit.gpgSign")
	if err != nil && exitCode(err) != 1 {
		return "", fmt.Errorf("read commit.gpgSign: %w", err)
	}
	args := []string{"commit-tree", tree, "-p", first, "-p", second, "-F", "-"}
	if signing.Text() == "true" {
		args = append(args, "-S")
	}
	out, err := r.git(ctx, call{dir: r.Path, args: args, stdin: message})
	if err != nil {
		return "", fmt.Errorf(
			"make the merge commit (nothing was changed; git needs your user.name and user.email): %w", err)
	}
	return out.Text(), nil
}

// advance moves the default branch, and the checkout that has it, if one has.
func (r Repo) advance(ctx context.Context, branch, from, to string) error {
	all, err := r.checkouts(ctx, r.Path)
	if err != nil {
		return err
	}
	var having []checkout
	for _, c := range all {
		if c.branch != r.localDefault() {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.path, ".git"))
		if errors.Is(err, os.ErrNotExist) {
			continue // its folder is gone
		}
		if err != nil {
			return fmt.Errorf("look at checkout %q: %w", c.path, err)
		}
		having = append(having, c)
	}
	switch {
	case len(having) > 1:
		return fmt.Errorf("%q is checked out in %q and in %q; switch one of them to another branch, then "+
			"run this again; nothing was changed", r.DefaultBranch, having[0].path, having[1].path)
	case len(having) == 1 && having[0].commit != from:
		return fmt.Errorf("%q moved meanwhile; run this again; nothing was changed", r.DefaultBranch)
	case len(having) == 1:
		return r.forward(ctx, having[0].path, to)
	}
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	if _, err := r.run(ctx, "update-ref", "-m", "orange: merge "+branch, r.localDefault(), to, from); err != nil {
		return fmt.Errorf("move %q (run this again; nothing was changed): %w", r.DefaultBranch, err)
	}
	return nil
}

// forward lets git fast-forward a person's checkout. Nothing of theirs is stashed, and not even ignored files are
// overwritten.
func (r Repo) forward(ctx context.Context, dir, to string) error {
	args := []string{"merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet", to}
	_, err := r.git(ctx, call{dir: dir, args: args})
	if err != nil && exitCode(err) < 0 {
		return fmt.Errorf("git ended in the middle of fast-forwarding %q in %q; look there with \"git "+
			"status\", put back what it left half done, then run this again: %w",
			r.DefaultBranch, dir, err)
	}
	if err != nil {
		return fmt.Errorf("%q is checked out in %q, and git will not fast-forward it there; commit or move "+
			"what is in the way, then run this again; nothing was changed: %w", r.DefaultBranch, dir, err)
	}
	tip, err := r.Tip(ctx, r.DefaultBranch)
	if err != nil {
		return err
	}
	if tip != to {
		return fmt.Errorf("the checkout %q was switched at that very moment, and its new branch was "+
			"fast-forwarded instead; look at it, then run this again", dir)
	}
	return nil
}
