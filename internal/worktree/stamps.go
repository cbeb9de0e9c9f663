package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Checkout is one that was made for a single run of a program.
type Checkout struct {
	Dir    string   // where programs start in it
	Env    []string // what is set for them alone
	Stamps Stamps   // of the commit's files, right before the run
	Away   func(context.Context) error
}

// Stamps are how the files of a commit lay in a checkout at one moment, with the time of each one's last change of any
// kind, which no program sets.
type Stamps struct {
	dir   string
	files map[string]stamp
}

type stamp struct {
	mode, ino uint64
	size      int64
	changed   unix.Timespec
}

// Stamps notes how the files of the slot's commit lie in it.
func (s Slot) Stamps(ctx context.Context) (Stamps, error) {
	res, err := s.run(ctx, "ls-tree", "-r", "-z", "--full-tree", "HEAD")
	if err != nil {
		return Stamps{}, err
	}
	files := map[string]stamp{}
	for entry := range strings.SplitSeq(string(res.Stdout), "\x00") {
		about, path, found := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); found && len(fields) > 1 && fields[1] == "blob" {
			files[path] = stampOf(filepath.Join(s.Dir, path))
		}
	}
	return Stamps{dir: s.Dir, files: files}, nil
}

// stampOf is the zero stamp for a file that is not there.
func stampOf(path string) stamp {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil {
		return stamp{}
	}
	return stamp{mode: uint64(info.Mode), ino: info.Ino, size: info.Size, changed: info.Ctim}
}

// Changed lists the files that a program has written, replaced or removed since, also those that are as they were
// again.
func (s Stamps) Changed() []string {
	var out []string
	for path, before := range s.files {
		if stampOf(filepath.Join(s.dir, path)) != before {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
