package worktree

import (
	"context"
	"fmt"

	"orange/internal/rules/diff"
	"orange/internal/work/git"
)

// Patch is what the workspace changed since a commit, or since it left the base where none is named, with what that is
// a change of.
func (s Contents) Patch(ctx context.Context, from string) (p diff.Patch, err error) {
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return p, err
	}
	head, err := s.readGit(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return p, fmt.Errorf("look which commit %q is on: %w", s.Dir, err)
	}
	p = diff.Patch{From: from, To: head.Text(), Dir: s.Dir}
	if from == "" {
		p.Base = base.Ref
		if p.From, err = s.mergeBase(ctx); err != nil {
			return p, err
		}
	} else if err := s.Repo.CheckThere(ctx, from); err != nil {
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
	_, err = s.Repo.Do(ctx, git.Call{Dir: s.Dir, Index: index.file, Env: []string{git.Reading},
		Args: []string{"diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--"}})
	if p.Loose = git.ExitCode(err) == 1; err != nil && !p.Loose {
		return p, fmt.Errorf("look for what is not committed in %q: %w", s.Dir, err)
	}
	return p, nil
}
