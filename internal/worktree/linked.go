package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// MainOf is the top of the main checkout of the linked worktree that a folder is in, by git's files alone. It is empty
// where the folder is in none, or where the files do not tell.
func MainOf(dir string) string {
	for {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && info.IsDir() {
			return "" // it is in the main checkout itself
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
	private, err := Slot{Dir: dir}.gitDir()
	if err != nil {
		return ""
	}
	text, err := readFile(filepath.Join(private, "commondir"))
	if err != nil {
		return "" // a submodule has a .git file too, and is no worktree of another checkout
	}
	shared := strings.TrimSpace(string(text))
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(private, shared)
	}
	if filepath.Base(shared) != ".git" {
		return ""
	}
	main := filepath.Dir(shared)
	if real, err := filepath.EvalSymlinks(main); err == nil {
		main = real
	}
	return main
}
