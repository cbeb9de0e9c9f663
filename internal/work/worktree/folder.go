package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folder is git's own folder of the repository, by its files alone: .git in the main checkout, the folder that a .git
// file there leads to, as in a submodule, or the bare repository itself. It is not known where the files do not tell.
func (r Repo) folder() (dir string, known bool) {
	plain := filepath.Join(r.Path, ".git")
	info, err := os.Stat(plain)
	switch {
	case err == nil && info.IsDir():
		return plain, true
	case errors.Is(err, fs.ErrNotExist):
		return r.Path, isGitFolder(r.Path)
	case err != nil:
		return "", false
	}
	dir, err = Slot{Dir: r.Path}.gitDir()
	if err != nil {
		return "", false
	}
	_, linked := os.Lstat(filepath.Join(dir, "commondir")) // a worktree's folder has that file, and is no whole one
	return dir, errors.Is(linked, fs.ErrNotExist) && isGitFolder(dir)
}

// isGitFolder reports whether a folder is a repository without a checkout around it.
func isGitFolder(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// bare reports whether the repository has no main checkout.
func (r Repo) bare() bool {
	dir, known := r.folder()
	return known && dir == r.Path
}

// Name is what people call the repository: the name of its folder. That of a bare one goes without .git, and where it
// is hidden, as .bare is, it is the name of the folder around it.
func (r Repo) Name() string {
	name := filepath.Base(r.Path)
	if !r.bare() {
		return name
	}
	if name = strings.TrimSuffix(name, ".git"); name == "" || strings.HasPrefix(name, ".") {
		return filepath.Base(filepath.Dir(r.Path))
	}
	return name
}

// Files is the person's checkout that worktrees are furnished from: the main one, or, of a bare repository, the one
// that has the default branch. It is empty where there is none.
func (r Repo) Files(ctx context.Context) (string, error) {
	if !r.bare() {
		return r.Path, nil
	}
	all, err := r.checkouts(ctx, r.Path)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if _, err := os.Lstat(filepath.Join(c.path, ".git")); err == nil && c.branch == r.localDefault() {
			return c.path, nil
		}
	}
	return "", nil
}

// whole has the path of the main checkout where git names its own folder in its place, as it does for a submodule.
func (r Repo) whole(ctx context.Context, main checkout, dir string) (checkout, error) {
	if main.bare {
		return main, nil
	}
	if _, err := os.Lstat(filepath.Join(main.path, ".git")); !errors.Is(err, fs.ErrNotExist) ||
		!isGitFolder(main.path) {
		return main, nil
	}
	configured, err := r.git(ctx, call{dir: main.path, args: []string{"config", "--get", "core.worktree"}})
	switch {
	case exitCode(err) == 1 && dir == r.Path && dir != "":
		main.path = dir // a repository that was made with a folder of its own elsewhere
	case exitCode(err) == 1:
	case err != nil:
		return main, fmt.Errorf("find the main checkout of %q: %w", main.path, err)
	default:
		top := configured.Text()
		if !filepath.IsAbs(top) {
			top = filepath.Join(main.path, top)
		}
		main.path = top
	}
	return main, nil
}
