package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/proc"
)

// mostEntries is how many entries of folders are looked at for what holds git up.
const mostEntries = 200_000

// mostPacked is how many bytes packed-refs has at most, of which git keeps none in its memory.
const mostPacked = 512 << 20

// usual is what is no file in the place of one that nearly every git in a folder reads, or one that is too large: it is
// known before any git waits for it, or fills the memory with it.
func (r Repo) usual(dir string) error {
	r.Path = cmp.Or(r.Path, dir)
	files := []string{filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".gitattributes")}
	if common, known := r.folder(); known {
		for _, name := range []string{"config", "HEAD", "packed-refs", "info/exclude", "info/attributes", "info/grafts",
			"shallow", "objects/info/alternates",
			"refs/heads/" + r.DefaultBranch} {
			files = append(files, filepath.Join(common, name))
		}
		if own, err := (Slot{Dir: dir}).gitDir(); err == nil && own != common {
			head, _ := proc.ReadFile(filepath.Join(own, "HEAD")) // a git that cannot read it says so
			branch := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
			files = append(files, filepath.Join(dir, ".git"), filepath.Join(own, "commondir"),
				filepath.Join(own, "HEAD"), filepath.Join(common, branch))
		}
	}
	for _, file := range files {
		if isEndless(file) {
			return waitsFor(file)
		}
		most := int64(proc.MostFile)
		if filepath.Base(file) == "packed-refs" {
			most = mostPacked
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > most {
			return fmt.Errorf("git would read all of %q, and that has more than %d MiB; look at what it is, and move "+
				"it away", file, most>>20)
		}
	}
	return waitsForPerson()
}

// isEndless reports whether something is there that no program reads to its end: a pipe, or a device but for the empty
// one.
func isEndless(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
		return false
	}
	empty, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, empty)
}

// othersIn are the repositories on this machine that a git talks to, by the words of its command.
func othersIn(args []string) []Repo {
	var out []Repo
	for _, word := range args {
		if filepath.IsAbs(word) && isGitFolder(word) {
			out = append(out, Repo{Path: word})
		}
	}
	return out
}

// stuckAt is what proc.Run asks when a git takes long in a folder.
func (r Repo) stuckAt(dir string, others []Repo) func() error {
	return func() error {
		for _, other := range others {
			if err := other.stuck(other.Path); err != nil {
				return err
			}
		}
		return r.stuck(dir)
	}
}

// stuck is why a git that takes long in a folder will not end: where it reads a file there is a pipe or a device. It is
// nil where there is none: then git has much to do.
func (r Repo) stuck(dir string) error {
	r.Path = cmp.Or(r.Path, dir)
	left := mostEntries
	common, known := r.folder()
	if known {
		if found := endlessIn(common, func(string) bool { return true }, &left); found != "" {
			return waitsFor(found)
		}
	}
	own := []string{".git", ".gitignore", ".gitattributes", ".gitmodules", ".mailmap"}
	if found := endlessIn(dir, func(name string) bool { return slices.Contains(own, name) }, &left); found != "" {
		return waitsFor(found)
	}
	return waitsForPerson()
}

// waitsForPerson is the same for the files of git's that a person has for all repositories.
func waitsForPerson() error {
	for _, name := range persons() {
		if isEndless(name) {
			return waitsFor(name)
		}
	}
	return nil
}

func waitsFor(file string) error {
	return fmt.Errorf("git waits for %q: %w", file, errEndless)
}

var errEndless = errors.New("that is a pipe or a device, and no file; move it away")

// endlessIn is such a thing in a folder or below it, or a link to one, that has a name which matters.
func endlessIn(folder string, matters func(name string) bool, left *int) string {
	found := ""
	// what cannot be read holds no one up
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if *left--; *left < 0 {
			return fs.SkipAll
		}
		if err != nil || entry.Type()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSymlink) == 0 || !matters(entry.Name()) {
			return nil
		}
		if isEndless(path) {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// persons are the files of git's that a person has for all repositories.
func persons() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config"),
		filepath.Join(config, "git", "ignore"), filepath.Join(config, "git", "attributes")}
}
