package worktree

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/proc"
)

// Identity is who the person is by their own global configuration of git; both are empty where it does not say.
// The repository's own is never asked: an agent can write it. So git stands in no repository here.
func Identity(ctx context.Context) (name, address string, err error) {
	result, err := proc.Run(ctx, withoutInherited(proc.Command{
		Name: "git", Args: []string{"config", "--global", "--includes", "--null", "--get-regexp", `^user\.(name|email)$`},
		Dir: "/", Env: []string{"LC_ALL=C", "GIT_CEILING_DIRECTORIES=/"},
	}))
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
