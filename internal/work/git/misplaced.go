package git

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// gitHasFolder and gitHasFile are the names in git's own folder of which git makes a folder, or a file, and nothing
// else.
var (
	gitHasFolder = regexp.MustCompile(`^(objects|objects/[0-9a-f]{2}|objects/pack|objects/info|refs|refs/heads|` +
		`refs/tags|refs/remotes|info|worktrees|worktrees/[^/]+)$`)
	gitHasFile = regexp.MustCompile(`^(worktrees/[^/]+/)?(HEAD|[A-Z_]+_HEAD|MERGE_[A-Z]+|config|config\.worktree|` +
		`index|packed-refs|shallow|commondir|gitdir|locked)$|^objects/[0-9a-f]{2}/[0-9a-f]{38,}$|` +
		`^info/(exclude|attributes|grafts)$`)
)

// WithMisplaced is an error with a sentence about what is in git's own folder, or in the place of dir's .git, and of
// another kind than git makes there: git's own words seldom name it. It is the error alone where nothing is.
func (r Repo) WithMisplaced(dir string, err error) error {
	if found := r.misplacedIn(dir); found != "" && err != nil {
		return fmt.Errorf("%w; %s", err, found)
	}
	return err
}

// misplacedIn is that sentence, and empty where there is nothing of the kind.
func (r Repo) misplacedIn(dir string) string {
	r.Path = cmp.Or(r.Path, dir)
	for _, path := range []string{r.Path, filepath.Join(r.Path, ".git"), dir, filepath.Join(dir, ".git")} {
		if kind := unusual(path); kind != "" {
			return isMisplaced(path, kind)
		}
	}
	common, known := r.Folder()
	if !known {
		return ""
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(common, name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%q is no repository of git's any more: it has no %q", common, name)
		}
	}
	const most = 50_000
	looked, found := 0, ""
	_ = filepath.WalkDir(common, func(path string, entry fs.DirEntry, err error) error {
		looked++
		name, relErr := filepath.Rel(common, path)
		switch {
		case errors.Join(err, relErr) != nil:
			return nil //nolint:nilerr // what cannot be read is in git's own words
		case looked > most:
			return fs.SkipAll
		case path != common && strings.HasPrefix(entry.Name(), "."):
			return nil // a stranger's, such as .DS_Store
		case entry.IsDir() && slices.Contains([]string{"lfs", "modules"}, name):
			return fs.SkipDir
		}
		if kind := oddKind(path, name, entry); kind != "" {
			found = isMisplaced(path, kind)
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func isMisplaced(path, kind string) string {
	return fmt.Sprintf("%q is %s; look at what it is, and move it away", path, kind)
}

// oddKind is what something in git's own folder is that git would not have made there; empty where it may be git's.
func oddKind(path, name string, entry fs.DirEntry) string {
	name = filepath.ToSlash(name)
	folder := entry.IsDir()
	if entry.Type()&fs.ModeSymlink != 0 {
		if info, err := os.Stat(path); err == nil {
			folder = info.IsDir()
		}
	}
	fits := func(pattern *regexp.Regexp) bool { return pattern.MatchString(name) }
	switch {
	case !entry.Type().IsRegular() && !folder && !strings.HasSuffix(name, ".ipc"): // git's own watcher has a socket
		return unusual(path)
	case folder && fits(gitHasFile):
		return "a folder, and git makes a file there"
	case !folder && fits(gitHasFolder):
		return "no folder, and git makes one there"
	}
	return ""
}

// unusual is what something is that is neither a file nor a folder nor a link to one; empty for those.
func unusual(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	kind, linked := "", ""
	switch mode := info.Mode(); {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		return ""
	}
	if own, err := os.Lstat(path); err == nil && own.Mode()&fs.ModeSymlink != 0 {
		linked = "a link to "
	}
	return linked + kind + ", and git makes none there"
}
