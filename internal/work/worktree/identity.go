package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Identity is who the person is by their own global configuration of git; both are empty where it does not say.
// The repository's own is never asked: an agent can write it. So git runs outside of any repository here.
func Identity(ctx context.Context) (name, address string, err error) {
	if err := git.WaitsForPerson(ctx); err != nil {
		return "", "", err
	}
	result, err := proc.Run(ctx, proc.Command{
		Name: "git", Args: []string{"config", "--global", "--includes", "--null", "--get-regexp",
			`^user\.(name|email)$`},
		Dir: "/", Env: []string{"LC_ALL=C", "GIT_CEILING_DIRECTORIES=/"}, Watched: "git",
		Whole: git.WholeFor(ctx),
	})
	const none = 1 // git's status where no key fits
	if err != nil && result.Code != none {
		return "", "", fmt.Errorf("ask git who you are: %w", err)
	}
	for _, entry := range strings.Split(string(result.Stdout), "\x00") {
		switch key, value, _ := strings.Cut(entry, "\n"); key { // the last one counts, as for git
		case "user.name":
			name = value
		case "user.email":
			address = value
		}
	}
	return name, address, nil
}

// HasIdentity reports whether git knows the author of commits in a folder, by its configuration or by variables that
// are laid over those of this process. A name that git would guess from the machine's is none.
func HasIdentity(ctx context.Context, dir string, env []string) (bool, error) {
	if _, err := proc.Find("git", proc.Getenv(ctx, "PATH")); err != nil {
		return false, task.Notef(task.ErrNotFound, "there is no git: %v", err)
	}
	if err := git.WaitsForPerson(ctx); err != nil {
		return false, err
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		result, err := proc.Run(ctx, proc.Command{
			Name: "git", Args: []string{"-c", "user.useConfigOnly=true", "var", who},
			Dir: dir, Env: append(slices.Clone(env), "LC_ALL=C"),
			Watched: "git", Whole: git.WholeFor(ctx),
		})
		said := string(result.Stderr)
		switch {
		case err == nil:
		case strings.Contains(said, "tell me who you are"), strings.Contains(said, "empty ident name"),
			strings.Contains(said, "disallowed characters"):
			return false, nil
		default:
			return false, fmt.Errorf("ask git for the author of commits in %q: %w", dir, err)
		}
	}
	return true, nil
}
