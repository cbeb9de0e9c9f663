package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is git's own folder of the repository, by its files alone: .git in the main checkout, the folder that a .git
// file there leads to, as in a submodule, or the bare repository itself. It is not known where the files do not tell.
func (r Repo) Folder() (dir string, known bool) {
	plain := filepath.Join(r.Path, ".git")
	info, err := os.Stat(plain)
	switch {
	case err == nil && info.IsDir():
		return plain, true
	case errors.Is(err, fs.ErrNotExist):
		return r.Path, IsGitFolder(r.Path)
	case err != nil:
		return "", false
	}
	dir, err = DirOf(r.Path)
	if err != nil {
		return "", false
	}
	_, linked := os.Lstat(filepath.Join(dir, "commondir")) // a worktree's folder has that file, and is no whole one
	return dir, errors.Is(linked, fs.ErrNotExist) && IsGitFolder(dir)
}

// IsGitFolder reports whether a folder is a repository without a checkout around it.
func IsGitFolder(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// bare reports whether the repository has no main checkout.
func (r Repo) bare() bool {
	dir, known := r.Folder()
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
	all, err := r.Checkouts(ctx, r.Path)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if _, err := os.Lstat(filepath.Join(c.Path, ".git")); err == nil && c.Branch == r.LocalDefault() {
			return c.Path, nil
		}
	}
	return "", nil
}

// withMainCheckout has the path of the main checkout where git names its own folder in its place, as it does for a
// submodule.
func (r Repo) withMainCheckout(ctx context.Context, main Worktree, dir string) (Worktree, error) {
	if main.bare {
		return main, nil
	}
	if _, err := os.Lstat(filepath.Join(main.Path, ".git")); !errors.Is(err, fs.ErrNotExist) ||
		!IsGitFolder(main.Path) {
		return main, nil
	}
	configured, err := r.Do(ctx, Call{Dir: main.Path, Args: []string{"config", "--get", "core.worktree"}})
	switch {
	case ExitCode(err) == 1 && dir == r.Path && dir != "":
		main.Path = dir // a repository that was made with a folder of its own elsewhere
	case ExitCode(err) == 1:
	case err != nil:
		return main, fmt.Errorf("find the main checkout of %q: %w", main.Path, err)
	default:
		top := configured.Text()
		if !filepath.IsAbs(top) {
			top = filepath.Join(main.Path, top)
		}
		main.Path = top
	}
	return main, nil
}
