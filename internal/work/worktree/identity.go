package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Identity is who the person is by their own global configuration of git; both are empty where it does not say.
// The repository's own is never asked: an agent can write it. So git runs outside of any repository here.
func Identity(ctx context.Context) (name, address string, err error) {
	if name, address, known := plainIdentity(globalFile(ctx)); known { // a program less for every request of a person
		return name, address, nil
	}
	return askIdentity(ctx)
}

// globalFile is the person's own configuration, as git finds it.
func globalFile(ctx context.Context) string {
	if file, set := proc.LookupEnv(ctx, "GIT_CONFIG_GLOBAL"); set {
		return file
	}
	home := proc.UserHome(ctx)
	file := filepath.Join(home, ".gitconfig")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		config := cmp.Or(proc.Getenv(ctx, "XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		return filepath.Join(config, "git", "config")
	}
	return file
}

// plainIdentity reads a file that says it in the plainest way, as nearly all do; one that is not there says nothing.
// known is false where only git can tell: where it includes others, quotes, continues lines, or cannot be read.
func plainIdentity(file string) (name, address string, known bool) {
	text, err := proc.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && filepath.IsAbs(file) {
		return "", "", true
	}
	if err != nil || !filepath.IsAbs(file) || !utf8.Valid(text) || bytes.HasPrefix(text, []byte("\ufeff")) {
		return "", "", false
	}
	header := regexp.MustCompile(`^\[([A-Za-z0-9.-]+)(?: "[^"\\]*")?\]$`)
	user := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			found := header.FindStringSubmatch(line)
			if found == nil || strings.HasPrefix(strings.ToLower(found[1]), "include") {
				return "", "", false
			}
			user = strings.EqualFold(line, "[user]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		mine := user && (key == "name" || key == "email")
		if strings.HasSuffix(line, `\`) || mine && (value == "" || strings.ContainsAny(value, "\"\\#;\x00")) {
			return "", "", false
		}
		switch {
		case mine && key == "name":
			name = value
		case mine:
			address = value
		}
	}
	return name, address, true
}

// askIdentity has git read them.
func askIdentity(ctx context.Context) (name, address string, err error) {
	if err := waitsForPerson(ctx); err != nil {
		return "", "", err
	}
	result, err := proc.Run(ctx, proc.Command{
		Name: "git", Args: []string{"config", "--global", "--includes", "--null", "--get-regexp",
			`^user\.(name|email)$`},
		Dir: "/", Env: []string{"LC_ALL=C", "GIT_CEILING_DIRECTORIES=/"}, Watched: "git",
		Whole: wholeFor(ctx),
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
	if err := waitsForPerson(ctx); err != nil {
		return false, err
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		result, err := proc.Run(ctx, proc.Command{
			Name: "git", Args: []string{"-c", "user.useConfigOnly=true", "var", who},
			Dir: dir, Env: append(slices.Clone(env), "LC_ALL=C"),
			Watched: "git", Whole: wholeFor(ctx),
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
