package cli

import (
	"context"
	"errors"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/work/git"
)

// looksLikeBranch reports whether a word that is a branch or a summary is taken for a branch: it is ASCII without a
// blank, git takes it as a name, and it has a slash or no capital letter.
func looksLikeBranch(ctx context.Context, word string) (bool, error) {
	other := func(r rune) bool { return r <= ' ' || r > '~' }
	if strings.ContainsFunc(word, other) || !strings.Contains(word, "/") && word != strings.ToLower(word) {
		return false, nil
	}
	err := git.CheckBranch(ctx, word)
	if errors.Is(err, task.ErrUsage) {
		return false, nil
	}
	return err == nil, err
}
