package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/rules/diff"
	"orange/internal/run/proc"
)

// ErrNoBranch says that there is nothing to compare: the branch was never created, or it was deleted.
var ErrNoBranch = errors.New("there is no such branch")

// BranchDiff shows what a branch changed that has no workspace any more.
func (r Repo) BranchDiff(ctx context.Context, branch string) (string, error) {
	base, err := r.Base(ctx)
	if err != nil {
		return "", err
	}
	exists, err := r.BranchExists(ctx, branch)
	if err != nil {
		return "", err
	}
	if !exists {
		return "", fmt.Errorf("cannot show the changes of %q: %w", branch, ErrNoBranch)
	}
	if err := r.CheckComparable(ctx, r.Path, base.Commit, "refs/heads/"+branch); err != nil {
		return "", fmt.Errorf("show the changes of %q: %w", branch, err)
	}
	return r.Diff(ctx, Call{Dir: r.Path}, base.Commit+"...refs/heads/"+branch, branch, nil)
}

// Bounds of what is shown of a diff: more than this is not read on a screen.
const (
	MostDiff  = 1 << 20 // bytes
	MostFiles = 200     // that are listed, of those that changed and of those that are new
)

// Diff has the list of files and every line in one go, regardless of what a person configured for diffs of their
// own. in says where, and with which index; unknown are files that git does not know yet.
func (r Repo) Diff(ctx context.Context, in Call, of, name string, unknown []string) (string, error) {
	in.Env, in.Most = []string{Reading}, MostDiff
	in.Args = []string{"diff", "--stat", "--patch", fmt.Sprintf("--stat-count=%d", MostFiles), "--no-ext-diff",
		"--no-textconv", "--no-color", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", of, "--"}
	shown, err := r.Do(ctx, in)
	if err != nil {
		return "", fmt.Errorf("show the changes of %q: %w", name, err)
	}
	return joinDiff(shown, unknown), nil
}

// joinDiff puts files that git does not know yet beneath the list of those that it does.
func joinDiff(shown proc.Result, unknown []string) string {
	stat, lines, _ := strings.Cut(string(shown.Stdout), "\n\n")
	var b strings.Builder
	for _, line := range append([]string{strings.TrimRight(stat, "\n")}, unknown...) {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	if shown.More > 0 {
		whole := strings.LastIndexByte(lines, '\n') + 1
		lines = lines[:whole] + fmt.Sprintf("… and %d bytes more: git diff shows all\n", shown.More+len(lines)-whole)
	}
	if lines != "" {
		b.WriteString("\n" + lines)
	}
	return b.String()
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
		at, err := r.Run(ctx, "merge-base", base.Commit, "refs/heads/"+branch)
		if err != nil {
			return p, fmt.Errorf("find where %q left %q: %w", branch, base.Ref, err)
		}
		p.Base, p.From = base.Ref, at.Text()
	} else {
		if err := r.CheckThere(ctx, from); err != nil {
			return p, err
		}
		p.From = from
		if p.Text, err = r.Diff(ctx, Call{Dir: r.Path}, from+"..refs/heads/"+branch, branch, nil); err != nil {
			return p, err
		}
	}
	p.To, err = r.Tip(ctx, branch)
	return p, err
}

// CheckThere reports whether the repository has a commit.
func (r Repo) CheckThere(ctx context.Context, commit string) error {
	if _, err := r.Run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("cannot compare with %.12s: the repository does not have that commit any more: %w", commit,
			err)
	}
	return nil
}
