// Package git runs git in a person's repository and reads what is there: its refs and commits, its worktrees, what git
// has in its own folder, and what origin has.
//
// It owns how git is run: over settings that an agent can write, past locks of gits that were killed, and not at all
// where something is in the place of a file that git would wait for. It does not own worktrees of tasks (worktree),
// merging (merge), what worktrees share (shared), nor snapshots (ship).
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Repo is a user's repository.
type Repo struct {
	Path          string // the top folder of its main checkout, or the bare repository
	DefaultBranch string // the branch that work is merged into, without refs/heads/

	Key string // the private ssh key that commits of Orange's own are signed with; empty signs none

	Overrules []string // NAME=VALUE, that git gets over the repository's own
}

// merge-tree --write-tree came with this version.
const (
	oldestMajor = 2
	oldestMinor = 38
)

// ErrNoRepository says that a folder is in no repository, as opposed to in one that nothing can be done with.
var ErrNoRepository = errors.New("no repository")

// ErrNoCommit says that a repository has no commit yet.
var ErrNoCommit = errors.New("no commit")

// Inspect finds the repository at path, which may also be a folder inside it or one of its linked worktrees,
// and its default branch: origin's where origin/HEAD is set, else init.defaultBranch, main or master
// where there is one, else the present branch. It changes nothing.
func Inspect(ctx context.Context, path string) (Repo, error) {
	var r Repo
	if err := r.checkGit(ctx); err != nil {
		return Repo{}, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Repo{}, fmt.Errorf("cannot inspect %q: %w", path, err)
	}
	info, err := os.Stat(abs)
	if errors.Is(err, os.ErrNotExist) || (err == nil && !info.IsDir()) {
		return Repo{}, task.Notef(task.ErrUsage, "cannot inspect %q: there is no such folder", path)
	}
	if err != nil {
		return Repo{}, fmt.Errorf("cannot inspect %q: %w", path, err)
	}
	top, err := r.mainCheckout(ctx, abs)
	if err != nil {
		return Repo{}, fmt.Errorf("cannot inspect %q: %w", path, err)
	}
	r.Path = top
	if r.DefaultBranch, err = r.findDefault(ctx); err != nil {
		return Repo{}, fmt.Errorf("cannot find the default branch of %q: %w", top, err)
	}
	return r, nil
}

func (r Repo) checkGit(ctx context.Context) error {
	if _, err := proc.Find("git", proc.Getenv(ctx, "PATH")); err != nil {
		return fmt.Errorf("cannot work without git: %w; install git %d.%d or newer", err, oldestMajor, oldestMinor)
	}
	out, err := r.Do(ctx, Call{Dir: "/", Args: []string{"version"}})
	if err != nil {
		return fmt.Errorf("cannot ask git for its version: %w", err)
	}
	if !newEnough(out.Text()) {
		return fmt.Errorf("cannot work with %q: git %d.%d or newer is needed", out.Text(), oldestMajor, oldestMinor)
	}
	return nil
}

// newEnough reports whether this program can work with a git that says so of its version.
func newEnough(version string) bool {
	numbers := strings.SplitN(strings.TrimPrefix(version, "git version "), ".", 3)
	if len(numbers) < 2 {
		return false
	}
	major, majorErr := strconv.Atoi(numbers[0])
	minor, minorErr := strconv.Atoi(strings.TrimRight(numbers[1], " -abcdefghijklmnopqrstuvwxyz()"))
	if majorErr != nil || minorErr != nil {
		return false
	}
	return major > oldestMajor || (major == oldestMajor && minor >= oldestMinor)
}

// mainCheckout leads from any folder of a repository to the top of its main checkout, or to the bare repository.
func (r Repo) mainCheckout(ctx context.Context, path string) (string, error) {
	lines, err := r.RevParse(ctx, path, 3, "--git-dir", "--git-common-dir", "--is-bare-repository")
	if RefusedWith(err, "not a git repository") {
		said := errors.New(`it is not in a git repository; run "git init" there and commit, or name another folder`)
		return "", task.Notef(errors.Join(task.ErrUsage, ErrNoRepository), "%s",
			Repo{Path: path}.WithMisplaced(path, said).Error())
	}
	if err != nil {
		return "", err
	}
	if lines[2] == "true" {
		return filepath.EvalSymlinks(lines[1])
	}
	from := path
	if lines[0] != lines[1] {
		places, err := r.Checkouts(ctx, path)
		if err != nil {
			return "", err
		}
		if places[0].bare {
			return filepath.EvalSymlinks(lines[1])
		}
		from = places[0].Path
	} else if filepath.Base(lines[1]) == ".git" && isWithin(path, lines[1]) {
		from = filepath.Dir(lines[1])
	}
	top, err := r.RevParse(ctx, from, 1, "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("find the top of its main checkout: %w", err)
	}
	return top[0], nil
}

func isWithin(path, folder string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	return real == folder || strings.HasPrefix(real, folder+string(filepath.Separator))
}

// RevParse asks for so many lines; a path with a newline in it gives more, and is refused.
func (r Repo) RevParse(ctx context.Context, dir string, want int, what ...string) ([]string, error) {
	args := append([]string{"rev-parse", "--path-format=absolute"}, what...)
	out, err := r.Do(ctx, Call{Dir: dir, Args: args, upwards: true})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out.Stdout), "\n"), "\n")
	if len(lines) != want {
		return nil, fmt.Errorf("git rev-parse: %d lines where %d were expected; a folder with a newline in "+
			"its name cannot be used", len(lines), want)
	}
	return lines, nil
}

func (r Repo) findDefault(ctx context.Context) (string, error) {
	const originHead = "refs/remotes/origin/HEAD"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", originHead)
	if err != nil && ExitCode(err) != 1 {
		return "", fmt.Errorf("read %s: %w", originHead, err)
	}
	if name, ok := strings.CutPrefix(out.Text(), "refs/remotes/origin/"); ok {
		if known, err := r.knows(ctx, name); err != nil || known {
			return name, err
		}
	}
	out, err = r.Run(ctx, "config", "--get", "init.defaultBranch")
	if err != nil && ExitCode(err) != 1 {
		return "", fmt.Errorf("read init.defaultBranch: %w", err)
	}
	for _, name := range []string{out.Text(), "main", "master"} {
		if CheckBranch(ctx, name) != nil {
			continue // what a configuration holds need not be a name
		}
		if exists, err := r.BranchExists(ctx, name); err != nil || exists {
			return name, err
		}
	}
	out, err = r.Run(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && ExitCode(err) != 1 {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	name, ok := strings.CutPrefix(out.Text(), "refs/heads/")
	if !ok {
		return "", task.Notef(task.ErrUsage, "HEAD is detached and there is no branch main or master; run "+
			"\"git switch\" to the branch that work is merged into")
	}
	if known, err := r.knows(ctx, name); err != nil || known {
		return name, err
	}
	return "", task.Notef(errors.Join(task.ErrUsage, ErrNoCommit), "%s",
		r.WithMisplaced(r.Path, errors.New("the repository has no commit yet; make the first one")).Error())
}

// knows reports whether the branch is here or was seen on origin.
func (r Repo) knows(ctx context.Context, name string) (bool, error) {
	known, err := r.Refs(ctx, "refs/heads/"+name, "refs/remotes/origin/"+name)
	return len(known) > 0, err
}

// A branch is a file, below the folder of its repository, and git makes a lock next to it.
const (
	longestBranch = 1000
	longestPart   = 255 - len(".lock")
)

// CheckBranch accepts exactly the names that "git check-ref-format --branch" accepts and that mean themselves
// (not @{-1}). Any other name is a task.ErrUsage.
func CheckBranch(ctx context.Context, name string) error {
	refused := task.Notef(task.ErrUsage,
		"cannot use %q as a branch: git does not accept that name; choose another one", name)
	if name == "" || strings.ContainsRune(name, 0) {
		return refused
	}
	if len(name) > longestBranch || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return len(part) > longestPart
	}) {
		return task.Notef(task.ErrUsage, "cannot use %.60q… as a branch: it has %d bytes, and git takes at most %d, "+
			"and %d between two slashes; choose a shorter one", name, len(name), longestBranch, longestPart)
	}
	if plain(name) {
		return nil
	}
	// Outside any repository, so that nothing there can be meant by the name.
	out, err := Repo{}.Do(ctx, Call{Dir: "/", Args: []string{"check-ref-format", "--branch", name}})
	if ExitCode(err) > 0 {
		return refused
	}
	if err != nil {
		return fmt.Errorf("cannot check the branch name %q: %w", name, err)
	}
	if string(out.Stdout) != name+"\n" {
		return refused
	}
	return nil
}

// plain reports whether a name is so simple that git need not be asked: words of letters, digits, "-" and "_",
// with single slashes between them.
func plain(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	strange := func(r rune) bool { return !strings.ContainsRune(letters, r) }
	for _, word := range strings.Split(name, "/") {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, strange) {
			return false
		}
	}
	return name != "HEAD"
}

// BranchExists reports whether the repository has a local branch of that name.
func (r Repo) BranchExists(ctx context.Context, name string) (bool, error) {
	if err := CheckBranch(ctx, name); err != nil {
		return false, err
	}
	known, err := r.Refs(ctx, "refs/heads/"+name)
	if err != nil {
		return false, fmt.Errorf("cannot look for branch %q: %w", name, err)
	}
	return len(known) > 0, nil
}
