package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/run/proc"
)

// SharedOf is git's own folder of the repository that a folder is in, be it in a linked worktree; by git's files alone.
// It is empty where the folder is in none, or where the files do not tell.
func SharedOf(dir string) string {
	for {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && info.IsDir() {
			return filepath.Join(dir, ".git")
		}
		if err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	private, err := DirOf(dir)
	if err != nil {
		return ""
	}
	text, err := proc.ReadFile(filepath.Join(private, "commondir"))
	if errors.Is(err, fs.ErrNotExist) && IsGitFolder(private) {
		return filepath.Clean(private)
	}
	if err != nil {
		return ""
	}
	shared := strings.TrimSpace(string(text))
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(private, shared)
	}
	return shared
}

// Has reports whether a folder is git's own one of the repository.
func (r Repo) Has(shared string) bool {
	dir, known := r.Folder()
	return known && shared != "" && SamePath(dir, shared)
}
