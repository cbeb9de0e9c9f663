// Package merge merges branches of tasks into the default branch, without a checkout, and tries merges without a trace.
//
// It owns that a merge is whole or changes nothing, here and on origin, and that a person's checkout follows only where
// git itself fast-forwards it. It does not own when something is merged, nor what is checked before.
package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
)

// Into is the default branch of a repository, which work is merged into.
type Into struct {
	git.Repo
	Patience time.Duration // with a push of it; 0 is two minutes
}

// Plan says what is to be merged into the default branch, and how.
type Plan struct {
	record.MergeOrder
	Branch  string
	Message string   // of a commit that the merge makes
	Marks   []string // variables by which its push is found, each NAME=value

	// Begin is called right before the default branch moves, here or on origin, with the commit that it gets. Its error
	// ends the merge with nothing changed. It is called again where the default branch has moved meanwhile.
	Begin func(ctx context.Context, result string) error
	// Check looks at the commit that the default branch is to be at, before anything moves. Nil means that it is good.
	Check func(ctx context.Context, commit string) error
}

// Merged says what a merge came to.
type Merged struct {
	Commit string // where the default branch is now
	How    string // "fast-forward", "merge commit", "squash" or "already merged"
	Pushed bool   // origin's default branch has the commit
	Beyond string // the tip of the branch, where it is not the commit that was merged
	Landed string // the result of an earlier try, where that is what is merged already
	Squash bool   // the commit has the branch's work and none of its commits
	Behind string // why the local default branch is not there, although origin's is; empty where it is
}

// The four ways in which a merge ends well.
const (
	fastForward = "fast-forward"
	mergeCommit = "merge commit"
	squashed    = "squash"
	// AlreadyMerged is the merge that moves nothing: the default branch, here or on origin, has the work.
	AlreadyMerged = "already merged"
)

// mergeTries is how often a merge is made, where the default branch moves meanwhile.
const mergeTries = 3

// errMoved is why a merge is made once more.
var errMoved = errors.New("moved meanwhile; run this again; nothing was changed")

// Merge merges the branch into the default branch without a checkout, after a fetch where there is an origin. Where
// it is pushed, origin gets it first, and the local default branch follows. A checkout that has the default branch is
// fast-forwarded by git itself, which refuses when that would overwrite anything; nothing is ever switched, reset or
// stashed. An error leaves everything as it was. Run again after it was cut short, it goes on where it stopped.
// An "already merged" that holds on origin only leaves the local default branch where it is.
func (r Into) Merge(ctx context.Context, m Plan) (done Merged, err error) {
	if !slices.Contains([]string{"", "ff", "merge", "squash"}, m.Strategy) {
		return Merged{}, task.Notef(task.ErrUsage,
			"cannot merge with strategy %q: use \"ff\", \"merge\", \"squash\", or none", m.Strategy)
	}
	if err := errors.Join(git.CheckBranch(ctx, m.Branch), git.CheckBranch(ctx, r.DefaultBranch)); err != nil {
		return Merged{}, err
	}
	defer git.Explain(&err, "cannot merge %q into %q", m.Branch, r.DefaultBranch)
	for range mergeTries {
		if done, err = r.mergeOnce(ctx, m); !errors.Is(err, errMoved) {
			break
		}
	}
	return done, err
}

// tips are where the branches of a merge are.
type tips struct {
	branch, local, origin string // empty where there is none
	remote                bool
}

func (r Into) tipsFor(ctx context.Context, branch string) (tips, error) {
	remote, err := r.HasRemote(ctx)
	if err != nil {
		return tips{}, err
	}
	if remote {
		if err := r.FetchOrigin(ctx); err != nil {
			return tips{}, fmt.Errorf("nothing was changed, because what origin has is not known: %w", err)
		}
	}
	name := "refs/heads/" + branch
	known, err := r.Refs(ctx, append(r.DefaultRefs(), name)...)
	if err != nil {
		return tips{}, err
	}
	if _, exists := known[name]; !exists {
		return tips{}, task.Notef(task.ErrNotFound, "there is no local branch of that name; if it was renamed, say "+
			"how it is called now: orange task update ID --branch NAME; if it was deleted, make it again: git -C %s "+
			"branch %s COMMIT; nothing was changed", git.Quote(r.Path), git.Quote(branch))
	}
	at := tips{branch: known[name].Commit, local: known[r.LocalDefault()].Commit, remote: remote}
	if remote { // what an origin that was taken away has left behind has no say
		at.origin = known[r.OriginDefault()].Commit
	}
	return at, nil
}

// mergeOnce makes one try. It changes nothing before Begin.
func (r Into) mergeOnce(ctx context.Context, m Plan) (done Merged, err error) {
	at, err := r.tipsFor(ctx, m.Branch)
	if err != nil {
		return Merged{}, err
	}
	start, err := r.mergeStart(ctx, at.local, at.origin)
	if err != nil {
		return Merged{}, err
	}
	commit := cmp.Or(m.Commit, at.branch)
	if done, err = r.mergeTarget(ctx, m, start, commit); err != nil {
		return Merged{}, err
	}
	if commit != at.branch {
		done.Beyond = at.branch
	}
	push := m.Push && at.remote
	if push {
		if done.Pushed, err = r.holds(ctx, at.origin, done.Commit); err != nil {
			return Merged{}, err
		}
	}
	if done.How == AlreadyMerged && (!push || done.Pushed) {
		return done, nil
	}
	where, err := r.mayMove(ctx, m, at, done, push)
	if err != nil {
		return Merged{}, err
	}
	if m.Begin != nil {
		if err := m.Begin(ctx, done.Commit); err != nil {
			return Merged{}, err
		}
	}
	if push && !done.Pushed {
		if err := r.pushDefault(ctx, at.origin, done.Commit, m.Marks); err != nil {
			return Merged{}, err
		}
		done.Pushed = true
	}
	if done.How == AlreadyMerged {
		return done, nil
	}
	err = r.advance(ctx, where, m.Branch, at.local, done.Commit)
	if err != nil && done.Pushed { // the merge is done, where it counts
		done.Behind, err = cause(err), nil
	}
	return done, err
}

// mayMove looks for all that is known to be in the way before anything moves, and answers which checkout has the
// default branch; none may.
func (r Into) mayMove(ctx context.Context, m Plan, at tips, done Merged, push bool) (dir string, err error) {
	if push {
		unpushed, err := r.CountUnpushed(ctx, at.local, at.origin)
		if err != nil {
			return "", err
		}
		if unpushed != m.With {
			return "", fmt.Errorf("the local %q has %d commits that origin has not, and %d of them were to go there "+
				"with the merge; run this again; nothing was changed", r.DefaultBranch, unpushed, m.With)
		}
	}
	if done.How == AlreadyMerged {
		return "", nil
	}
	if dir, err = r.checkoutOfDefault(ctx, at.local); err != nil {
		return "", err
	}
	if dir != "" && push { // else git itself refuses, with nothing changed
		if err := r.Fits(ctx, dir, at.local, done.Commit); err != nil {
			return "", err
		}
	}
	if dir != "" {
		if err := r.passes(ctx, dir, at.local, done.Commit); err != nil {
			return "", err
		}
	}
	if m.Check != nil {
		return dir, m.Check(ctx, done.Commit)
	}
	return dir, nil
}

// cause is what git said, without what this package advises.
func cause(err error) string {
	if said, is := errors.AsType[*git.Refusal](err); is {
		return said.Error()
	}
	return err.Error()
}

// holds reports whether a commit, or none, has another one in its history.
func (r Into) holds(ctx context.Context, commit, other string) (bool, error) {
	if commit == "" {
		return false, nil
	}
	return r.Contains(ctx, commit, other)
}

// mergeStart is where the default branch really is: here, or on origin when that is ahead.
func (r Into) mergeStart(ctx context.Context, local, origin string) (string, error) {
	switch {
	case local == "" && origin == "":
		return "", fmt.Errorf("there is no such branch to merge into, neither here nor on origin; if it was renamed, " +
			"say how it is called now: orange project update NAME --default-branch BRANCH; nothing was changed")
	case origin == "" || local == origin:
		return local, nil
	case local == "":
		return origin, nil
	}
	ahead, behind, err := r.Compare(ctx, local, origin)
	if err != nil {
		return "", err
	}
	if ahead && behind {
		return "", fmt.Errorf("the local %q and origin's have diverged; bring them together (git -C %s "+
			"pull, with %q checked out), then run this again; nothing was changed",
			r.DefaultBranch, git.Quote(r.Path), r.DefaultBranch)
	}
	if behind {
		return origin, nil
	}
	return local, nil
}

// mergeTarget finds, or makes, the commit that the default branch is to be at. It moves nothing.
func (r Into) mergeTarget(ctx context.Context, m Plan, start, branch string) (Merged, error) {
	for _, result := range m.Results {
		if landed, err := r.HasLanded(ctx, start, result); err != nil || landed {
			return Merged{Commit: start, How: AlreadyMerged, Landed: result, Squash: m.Strategy == "squash"}, err
		}
	}
	ahead, behind, err := r.Compare(ctx, branch, start)
	if err != nil {
		return Merged{}, err
	}
	if !ahead {
		return Merged{Commit: start, How: AlreadyMerged}, nil
	}
	if err := r.CheckIntact(ctx, start+"..."+branch); err != nil {
		return Merged{}, fmt.Errorf("nothing was changed: %w", err)
	}
	if m.Strategy == "squash" {
		return r.squash(ctx, m, start, branch, behind)
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
	commit, err := r.mergeCommit(ctx, tree, m.Message, start, branch)
	return Merged{Commit: commit, How: mergeCommit}, err
}

// squash makes one commit of all that the branch changes.
func (r Into) squash(ctx context.Context, m Plan, start, branch string, behind bool) (Merged, error) {
	tree, err := r.Tree(ctx, branch)
	if behind {
		tree, err = r.mergeTree(ctx, start, branch)
	}
	if err != nil {
		return Merged{}, err
	}
	was, err := r.Tree(ctx, start)
	if err != nil {
		return Merged{}, err
	}
	if tree == was {
		return Merged{Commit: start, How: AlreadyMerged}, nil
	}
	commit, err := r.mergeCommit(ctx, tree, m.Message, start)
	return Merged{Commit: commit, How: squashed, Squash: true}, err
}

func (r Into) mergeTree(ctx context.Context, start, branch string) (string, error) {
	out, err := r.Run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", start, branch)
	parts := strings.Split(strings.TrimRight(string(out.Stdout), "\x00"), "\x00")
	if git.ExitCode(err) == 1 && len(parts) > 1 {
		return "", &record.Unmerged{Files: parts[1:]}
	}
	if err != nil {
		return "", fmt.Errorf("merge the trees (nothing was changed): %w", err)
	}
	return parts[0], nil
}

// mergeCommit is signed by the user, with a key too where the user's configuration says so: commit-tree needs to
// be asked for it.
func (r Into) mergeCommit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	signing, err := r.Run(ctx, "config", "--type=bool", "--get", "commit.gpgSign")
	if err != nil && git.ExitCode(err) != 1 {
		return "", fmt.Errorf("read commit.gpgSign: %w", err)
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	if signing.Text() == "true" {
		args = append(args, "-S")
	}
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: args, Stdin: strings.TrimRight(message, "\n") + "\n"})
	if err != nil {
		return "", fmt.Errorf(
			"make the merge commit (nothing was changed; git needs your user.name and user.email): %w", err)
	}
	return out.Text(), nil
}
