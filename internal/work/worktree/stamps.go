package worktree

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Checkout is one that was made for a single run of a program.
type Checkout struct {
	Dir    string   // where programs start in it
	Env    []string // what is set for them alone
	Stamps Stamps   // of the commit's files, right before the run
	Away   func(context.Context) error
}

// Stamps are how the files of a commit lay in a checkout at one moment: what each held, and the time of its last
// change of any kind, which no program sets. Neither is enough alone: a file can be changed and put back, and one that
// a program has mapped in its memory can change without a time. Of a file that ReadFile does not read, the time alone
// counts.
type Stamps struct {
	dir   string
	files map[string]stamp
	// Differ are the files that held something else than in the commit, whatever git's index said of them; those
	// that the set-up of the slot had changed apart.
	Differ []string
}

type stamp struct {
	mode, ino uint64
	size      int64
	changed   unix.Timespec
	holds     string // in git's name for it, without filters; empty where it could not be read
}

// Stamps notes how the files of the slot's commit lie in it.
func (s Contents) Stamps(ctx context.Context) (out Stamps, err error) {
	defer git.Explain(&err, "compare the files of %q with their commit", s.Dir)
	files, folders, err := s.committedFiles(ctx)
	if err == nil {
		err = s.readable(maps.Keys(files))
	}
	if err == nil {
		err = s.Repo.CheckNames(ctx, s.Dir, folders)
	}
	if err != nil {
		return Stamps{}, err
	}
	out = Stamps{dir: s.Dir, files: map[string]stamp{}}
	var differ, absent, others []string // others hold something else than the commit, and git's filters may be why
	named := map[string]string{}
	for path, file := range files {
		if err := ctx.Err(); err != nil {
			return Stamps{}, err
		}
		now := stampOf(filepath.Join(s.Dir, path), len(file.object))
		out.files[path], named[path] = now, file.object
		switch {
		case now.holds == file.object:
		case now == stamp{}:
			absent = append(absent, path)
		case now.holds == "" || file.mode == git.LinkMode || now.isLink():
			differ = append(differ, path)
		default:
			others = append(others, path)
		}
	}
	filtered, err := s.changedWhenCleaned(ctx, others, named)
	if err != nil {
		return Stamps{}, err
	}
	if absent, err = s.notLeftOut(ctx, absent); err != nil {
		return Stamps{}, err
	}
	out.Differ, err = s.changedSinceSetUp(ctx, slices.Concat(differ, absent, filtered, s.strayRules(named)))
	return out, err
}

// committedFile is a file or a link of a commit.
type committedFile struct{ mode, object string }

// committedFiles has the files of the slot's commit, and the objects of the commit and of its folders.
func (s Contents) committedFiles(ctx context.Context) (files map[string]committedFile, folders []string, err error) {
	res, err := s.run(ctx, "ls-tree", "-r", "-t", "-z", "--full-tree", "HEAD")
	if err != nil {
		return nil, nil, err
	}
	files, folders = map[string]committedFile{}, []string{"HEAD", "HEAD^{tree}"}
	for entry := range strings.SplitSeq(string(res.Stdout), "\x00") {
		about, path, found := strings.Cut(entry, "\t")
		fields := strings.Fields(about) // mode, type, object
		switch {
		case !found || len(fields) != 3:
		case fields[1] == "tree":
			folders = append(folders, fields[2])
		case fields[1] == "blob":
			files[path] = committedFile{mode: fields[0], object: fields[2]}
		}
	}
	return files, folders, nil
}

// changedWhenCleaned are those of the files that hold something else than in the commit also when git has cleaned them.
func (s Contents) changedWhenCleaned(ctx context.Context, files []string, named map[string]string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var ask strings.Builder
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, file := range files {
		ask.WriteString(`"` + quoted.Replace(file) + "\"\n")
	}
	out, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: []string{"hash-object", "--stdin-paths"},
		Stdin: ask.String()})
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(out.Stdout))
	if len(names) != len(files) {
		return nil, fmt.Errorf("git named %d of %d files", len(names), len(files))
	}
	var differ []string
	for i, file := range files {
		if names[i] != named[file] {
			differ = append(differ, file)
		}
	}
	return differ, nil
}

// changedSinceSetUp leaves out the files that are as the set-up of the slot left them.
func (s Contents) changedSinceSetUp(ctx context.Context, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	prepared, _, err := s.note(ctx)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(files, func(file string) bool {
		was, noted := prepared.Shown[file]
		return noted && was == s.digest(file)
	})
	slices.Sort(left)
	return slices.Compact(left), nil
}

// notLeftOut are those of the absent files that the slot was not prepared without.
func (s Contents) notLeftOut(ctx context.Context, absent []string) ([]string, error) {
	if len(absent) == 0 {
		return nil, nil
	}
	prepared, written, err := s.note(ctx)
	if err != nil || !written {
		return absent, err
	}
	return slices.DeleteFunc(absent, prepared.leavesOut()), nil
}

// stampOf is the zero stamp for a file that is not there. Names that git gives have so many letters.
func stampOf(path string, letters int) stamp {
	var info unix.Stat_t
	if unix.Lstat(path, &info) != nil {
		return stamp{}
	}
	now := stamp{mode: uint64(info.Mode), ino: info.Ino, size: info.Size, changed: info.Ctim}
	now.holds = blobOf(path, now.isLink(), letters)
	return now
}

func (s stamp) isLink() bool { return s.mode&unix.S_IFMT == unix.S_IFLNK }

// blobOf is git's name for what a file or a link holds.
func blobOf(path string, link bool, letters int) string {
	if link {
		to, err := os.Readlink(path)
		if err != nil {
			return ""
		}
		return git.NameOf([]byte(to), letters)
	}
	file, err := proc.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	sum := git.NewSum(letters)
	fmt.Fprintf(sum, "blob %d\x00", info.Size())
	if read, err := io.Copy(sum, file); err != nil || read != info.Size() {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Changed lists the files that a program has written, replaced or removed since, also those that are as they were
// again.
func (s Stamps) Changed() []string {
	var out []string
	for path, before := range s.files {
		if stampOf(filepath.Join(s.dir, path), len(before.holds)) != before {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
