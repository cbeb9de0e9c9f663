package worktree

import (
	"context"
	"fmt"

	"orange/internal/rules/diff"
)

// Patch is what the workspace changed since a commit, or since it left the base where none is named, with what that is
// a change of.
func (s Slot) Patch(ctx context.Context, from string) (p diff.Patch, err error) {
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return p, err
	}
	head, err := s.read(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return p, fmt.Errorf("look which commit %q is on: %w", s.Dir, err)
	}
	p = diff.Patch{From: from, To: head.Text(), Dir: s.Dir}
	if from == "" {
		p.Base = base.Ref
		if p.From, err = s.mergeBase(ctx); err != nil {
			return p, err
		}
	} else if err := s.Repo.there(ctx, from); err != nil {
		return p, err
	}
	index, err := s.indexWithoutFlags(ctx)
	if err != nil {
		return p, err
	}
	defer index.remove()
	if p.Text, err = s.diffSince(ctx, index.file, p.From); err != nil {
		return p, err
	}
	_, err = s.Repo.git(ctx, call{dir: s.Dir, index: index.file, env: []string{reading},
		args: []string{"diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--"}})
	if p.Loose = exitCode(err) == 1; err != nil && !p.Loose {
		return p, fmt.Errorf("look for what is not committed in %q: %w", s.Dir, err)
	}
	return p, nil
}

// BranchPatch is what a branch changed that has no workspace any more, since a commit or since it left the base.
func (r Repo) BranchPatch(ctx context.Context, branch, from string) (p diff.Patch, err error) {
	if from == "" {
		p.Text, err = r.BranchDiff(ctx, branch)
		if err != nil {
			return p, err
		}
		base, err := r.Base(ctx)
		if err != nil {
			return p, err
		}
		at, err := r.run(ctx, "merge-base", base.Commit, "refs/heads/"+branch)
		if err != nil {
			return p, fmt.Errorf("find where %q left %q: %w", branch, base.Ref, err)
		}
		p.Base, p.From = base.Ref, at.Text()
	} else {
		if err := r.there(ctx, from); err != nil {
			return p, err
		}
		p.From = from
		if p.Text, err = r.diff(ctx, call{dir: r.Path}, from+"..refs/heads/"+branch, branch, nil); err != nil {
			return p, err
		}
	}
	p.To, err = r.Tip(ctx, branch)
	return p, err
}

// there reports whether the repository has a commit.
func (r Repo) there(ctx context.Context, commit string) error {
	if _, err := r.run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("cannot compare with %.12s: the repository does not have that commit any more: %w", commit,
			err)
	}
	return nil
}
