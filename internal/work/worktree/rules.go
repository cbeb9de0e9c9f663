package worktree

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// attributesFile is where git reads by which rules it compares the files of a folder: one of them can have git take
// other bytes for the committed ones.
const attributesFile = ".gitattributes"

// strayRules are the files of rules in the folders of git's files that are not what git knows of them, sorted: also
// those that git ignores, or takes for unchanged by their own rules. known has git's name for each file that it knows.
func (s Contents) strayRules(known map[string]string) []string {
	folders := map[string]bool{".": true}
	for file := range known {
		for dir := path.Dir(file); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	var strays []string
	for dir := range folders {
		file := path.Join(dir, attributesFile)
		name := filepath.Join(s.Dir, filepath.FromSlash(file))
		// where a folder is a link now, git reads no rules for what it knew there
		if info, err := os.Lstat(name); err == nil && s.isFile(file) && !holdsObject(name, info, known[file]) {
			strays = append(strays, file)
		}
	}
	slices.Sort(strays)
	return strays
}

// holdsObject reports whether a file holds what git knows of it, be it with the line ends of another system.
func holdsObject(name string, info os.FileInfo, object string) bool {
	if object == "" {
		return false
	}
	link := info.Mode()&os.ModeSymlink != 0
	if blobOf(name, link, len(object)) == object {
		return true
	}
	text, err := proc.ReadFile(name)
	return !link && err == nil && git.NameOf(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")),
		len(object)) == object
}

// mostTracked is how many bytes the files have at most that git would read to compare them, and that are on no disk.
const mostTracked = 32 << 30

// readable reports an error where git would read more than it does in a reasonable time: a file can be as long as
// anyone likes without having anything in it.
func (s Contents) readable(files iter.Seq[string]) error {
	var all, largest int64
	worst := ""
	for file := range files {
		var info unix.Stat_t
		name := filepath.Join(s.Dir, filepath.FromSlash(file))
		if unix.Lstat(name, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		const block = 512
		if empty := info.Size - info.Blocks*block; empty > 0 {
			all += empty
			if empty > largest {
				largest, worst = empty, file
			}
		}
	}
	if all > mostTracked {
		return fmt.Errorf("git would read %d GiB that are on no disk to compare the files of %q with its own, of "+
			"which %q has %d; make that one shorter, or move it away", all>>30, s.Dir, worst, largest>>30)
	}
	return nil
}
