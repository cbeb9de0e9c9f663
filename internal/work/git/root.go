package git

import (
	"context"
	"fmt"
	"strings"
)

// Root is the commit that the default branch began with, by which a repository is known again wherever it is; empty
// where that commit is not here, or there is none yet.
func (r Repo) Root(ctx context.Context) (string, error) {
	shallow, err := r.Run(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return "", fmt.Errorf("look at the repository %q: %w", r.Path, err)
	}
	if shallow.Text() == "true" {
		return "", nil
	}
	tip, err := r.Tip(ctx, r.DefaultBranch)
	if err != nil || tip == "" {
		return "", err
	}
	out, err := r.Run(ctx, "rev-list", "--first-parent", "--max-parents=0", tip)
	if err != nil {
		return "", fmt.Errorf("look for the first commit of %q: %w", r.Path, err)
	}
	root, _, _ := strings.Cut(out.Text(), "\n")
	return root, nil
}
