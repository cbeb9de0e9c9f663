package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/proc"
)

// The flags that make git overlook changes of a file, in the words of git update-index.
const (
	skipWorktree    = "skip-worktree"
	assumeUnchanged = "assume-unchanged"
)

// flags are the entries of an index that git overlooks, by the flag that has it do so. An entry can have both.
type flags map[string][]indexEntry

// indexEntry is one of an index. A file has several while a merge of it is not resolved.
type indexEntry struct {
	file  string
	stage string // mode, object and stage, in the words of git ls-files
}

func (f flags) add(flag string, e indexEntry) { f[flag] = append(f[flag], e) }

func (f flags) only(wanted func(flag, file string) bool) flags {
	kept := flags{}
	for flag, entries := range f {
		for _, e := range entries {
			if wanted(flag, e.file) {
				kept.add(flag, e)
			}
		}
	}
	return kept
}

// listed is what "git ls-files -v" tells: a letter for each file, a small one where it is assumed to be unchanged.
type listed struct {
	flags      flags
	others     []string // files that git does not know, where they were asked for
	submodules []string
}

func (s Slot) list(ctx context.Context, more ...string) (listed, error) {
	args := append([]string{"ls-files", "-v", "-z", "--cached", "--stage"}, more...)
	out, err := s.read(ctx, args...)
	if err != nil {
		return listed{}, fmt.Errorf("list the files that git knows in %q: %w", s.Dir, err)
	}
	found := listed{flags: flags{}}
	for line := range strings.SplitSeq(string(out.Stdout), "\x00") {
		letter, file, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		if letter == "?" {
			found.others = append(found.others, file)
			continue
		}
		stage, file, ok := strings.Cut(file, "\t")
		if !ok {
			return listed{}, fmt.Errorf("list the files that git knows in %q: git answered %q", s.Dir, line)
		}
		if strings.HasPrefix(stage, gitlink) {
			found.submodules = append(found.submodules, file)
		}
		if letter == strings.ToLower(letter) {
			found.flags.add(assumeUnchanged, indexEntry{file, stage})
		}
		if strings.EqualFold(letter, "S") {
			found.flags.add(skipWorktree, indexEntry{file, stage})
		}
	}
	return found, nil
}

// hidingFlags are those of the flags behind which there may be something: all but those of files that are not laid out,
// as the slot was prepared.
func (s Slot) hidingFlags(all flags, prepared note) flags {
	var laidOut []pattern
	if prepared.Patterns != nil {
		laidOut = parsePatterns(strings.Split(*prepared.Patterns, "\n"))
	}
	return all.only(func(flag, file string) bool {
		return flag != skipWorktree || prepared.Patterns == nil || matches(laidOut, file) || s.exists(file)
	})
}

func (s Slot) exists(file string) bool {
	_, err := os.Lstat(filepath.Join(s.Dir, filepath.FromSlash(file)))
	return err == nil
}

// present leaves out the files that are not there.
func (s Slot) present(all flags) flags {
	return all.only(func(_, file string) bool { return s.exists(file) })
}

// unflag has git look at the files again: those of the slot's index, or of another one. Each gets a new entry, without
// the times that the file had: they prove nothing once git has written an index in which it overlooked the file.
func (s Slot) unflag(ctx context.Context, index string, f flags) error {
	var entries strings.Builder
	for _, flag := range []string{assumeUnchanged, skipWorktree} {
		for _, e := range f[flag] {
			entries.WriteString(e.stage + "\t" + e.file + "\x00")
		}
	}
	if entries.Len() == 0 {
		return nil
	}
	c := call{dir: s.Dir, args: []string{"update-index", "-z", "--index-info"}, index: index, stdin: entries.String()}
	if _, err := s.Repo.git(ctx, c); err != nil {
		return fmt.Errorf("have git look at the files that it overlooks: %w", err)
	}
	return nil
}

// copyIndex copies the slot's index to a temporary file, in which nothing is overlooked that is there.
func (s Slot) copyIndex(ctx context.Context, gitDir string, f flags) (index string, done func(), err error) {
	folder, err := os.MkdirTemp("", "orange-index-")
	if err != nil {
		return "", nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	done = func() { _ = os.RemoveAll(folder) } // what stays is the system's to clear
	index = filepath.Join(folder, "index")
	err = copyFile(filepath.Join(gitDir, "index"), index)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = s.unflag(ctx, index, f)
	}
	if err != nil {
		done()
		return "", nil, fmt.Errorf("copy the index: %w", err)
	}
	return index, done, nil
}

// statusBehind is the status with what flags hide. gitDir has the index.
func (s Slot) statusBehind(ctx context.Context, gitDir string, f flags, a asked) (status, error) {
	index, done, err := s.copyIndex(ctx, gitDir, f)
	if err != nil {
		return status{}, err
	}
	defer done()
	a.index = index
	return s.status(ctx, a)
}

// fullStatus is the status with what flags in the index hide.
type fullStatus struct {
	status
	flags      flags // behind which there may be something
	hidden     []Hidden
	submodules []string
}

func (s Slot) fullStatus(ctx context.Context, a asked, prepared note) (fullStatus, error) {
	seen, err := s.status(ctx, a)
	if err != nil {
		return fullStatus{}, err
	}
	known, err := s.list(ctx)
	if err != nil {
		return fullStatus{}, err
	}
	all := fullStatus{status: seen, flags: s.hidingFlags(known.flags, prepared), submodules: known.submodules}
	if len(all.flags) == 0 {
		return all, nil
	}
	gitDir, err := s.gitDir()
	if err != nil {
		return fullStatus{}, err
	}
	if all.status, err = s.statusBehind(ctx, gitDir, all.flags, a); err != nil {
		return fullStatus{}, err
	}
	all.hidden = all.flags.hide(all.changes)
	return all, nil
}

// hide are those of the changes that git overlooks because of flags.
func (f flags) hide(changes []change) []Hidden {
	of := map[string][]string{}
	for _, flag := range []string{skipWorktree, assumeUnchanged} {
		for _, e := range f[flag] {
			if !slices.Contains(of[e.file], flag) {
				of[e.file] = append(of[e.file], flag)
			}
		}
	}
	var hidden []Hidden
	for _, c := range changes {
		if len(of[c.path]) > 0 && c.tree != unchanged {
			hidden = append(hidden, Hidden{Path: c.path, Flags: of[c.path]})
		}
	}
	return hidden
}

// leftovers is what is to be cleared before a slot can be used again.
type leftovers struct {
	work    bool  // it holds what no commit has
	visible bool  // git shows that something differs, and be it that it did when the slot was prepared
	flags   flags // that could hide something

	submodules []string
}

func (d leftovers) any() bool { return d.visible || len(d.flags) > 0 }

func (s Slot) leftovers(ctx context.Context, prepared note) (leftovers, error) {
	all, err := s.fullStatus(ctx, asked{untracked: "normal", submodules: "all"}, prepared)
	return leftovers{
		work:    len(s.withoutShown(all.changes, prepared.Shown)) > 0,
		visible: len(all.changes) > 0,
		flags:   all.flags,

		submodules: all.submodules,
	}, err
}

// withoutShown leaves out what the prepared slot showed as modified before anyone worked there, as far as it is
// what it was.
func (s Slot) withoutShown(changes []change, shown map[string]string) []change {
	if len(shown) == 0 {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
		was, noted := shown[c.path]
		return noted && c.index == unchanged && was == s.digest(c.path)
	})
}

// shownNow digests the changes of a slot before any agent has worked in it.
func (s Slot) shownNow(changes []change) map[string]string {
	shown := map[string]string{}
	for _, c := range changes {
		if c.index == unchanged && !c.submodule {
			shown[c.path] = s.digest(c.path)
		}
	}
	return shown
}

// stillAsShown are those of the files that the slot showed as modified which are still what they were. Whether
// git calls them modified at this moment is chance: it looks into a file only where the times tell nothing, or
// tell of a change.
func (s Slot) stillAsShown(shown map[string]string) map[string]string {
	still := maps.Clone(shown)
	maps.DeleteFunc(still, func(file, was string) bool { return s.digest(file) != was })
	return still
}

// digest reports a file's content and of its mode as far as git knows modes.
func (s Slot) digest(file string) string {
	name := filepath.Join(s.Dir, filepath.FromSlash(file))
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return "not there"
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(name)
		return fmt.Sprintf("link %s %v", target, err)
	case !info.Mode().IsRegular():
		return "no file"
	}
	opened, err := proc.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "not to be read"
	}
	defer opened.Close()
	const executable = 0o100
	sum := sha256.New()
	if _, err := io.Copy(sum, opened); err != nil {
		return "not to be read"
	}
	return fmt.Sprintf("%t %s", info.Mode()&executable != 0, hex.EncodeToString(sum.Sum(nil)))
}

// indexFolder is where a submodule's index is; empty where the submodule was not laid out.
func (s Slot) indexFolder() (string, error) {
	inside := filepath.Join(s.Dir, ".git")
	info, err := os.Lstat(inside)
	switch {
	case err != nil:
		return "", nil
	case info.IsDir():
		return inside, nil
	}
	return s.gitDir()
}

// hiddenBelow are the changes in submodules that git overlooks there because of flags: a look at the slot asks the
// index of each submodule, which has flags of its own.
func (s Slot) hiddenBelow(ctx context.Context, submodules []string) ([]Hidden, error) {
	var all []Hidden
	err := s.eachFlagged(ctx, submodules, "", func(sub Slot, name, folder string, f flags) error {
		seen, err := sub.statusBehind(ctx, folder, f, asked{untracked: "no", submodules: "all"})
		for _, h := range f.hide(seen.changes) {
			h.Submodule = name
			all = append(all, h)
		}
		return err
	})
	return all, err
}

// unflagBelow has git look again at what it overlooked in submodules, so that the next task sees what
// is left there.
func (s Slot) unflagBelow(ctx context.Context, submodules []string) error {
	return s.eachFlagged(ctx, submodules, "", func(sub Slot, _, _ string, f flags) error {
		return sub.unflag(ctx, "", f)
	})
}

// eachFlagged does something for each submodule, however deep it lies, in which files are there that git overlooks.
func (s Slot) eachFlagged(ctx context.Context, submodules []string, within string,
	do func(sub Slot, name, folder string, f flags) error) error {
	for _, submodule := range submodules {
		// Of what can be done with a slot, looking at its index and its files is all that fits a submodule.
		sub := Slot{Repo: s.Repo, Dir: filepath.Join(s.Dir, filepath.FromSlash(submodule))}
		name := path.Join(within, submodule)
		folder, err := sub.indexFolder()
		if err == nil && folder == "" {
			continue
		}
		var known listed
		if err == nil {
			known, err = sub.list(ctx)
		}
		if present := sub.present(known.flags); err == nil && len(present) > 0 {
			err = do(sub, name, folder, present)
		}
		if err != nil {
			return fmt.Errorf("look into the submodule %q: %w", name, err)
		}
		if err := sub.eachFlagged(ctx, known.submodules, name, do); err != nil {
			return err
		}
	}
	return nil
}
