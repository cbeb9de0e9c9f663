package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
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

// indexList is what "git ls-files -v" tells: a letter for each file, a small one where it is assumed to be unchanged.
type indexList struct {
	entries    []indexEntry
	flags      flags
	others     []string // files that git does not know, where they were asked for
	submodules []string
}

func (s Contents) list(ctx context.Context, more ...string) (indexList, error) {
	args := append([]string{"ls-files", "-v", "-z", "--cached", "--stage"}, more...)
	out, err := s.readGit(ctx, args...)
	if err != nil {
		return indexList{}, fmt.Errorf("list the files that git knows in %q: %w", s.Dir, err)
	}
	found := indexList{flags: flags{}}
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
			return indexList{}, fmt.Errorf("list the files that git knows in %q: git answered %q", s.Dir, line)
		}
		entry := indexEntry{file, stage}
		found.entries = append(found.entries, entry)
		if strings.HasPrefix(stage, git.SubmoduleMode) {
			found.submodules = append(found.submodules, file)
		}
		if letter == strings.ToLower(letter) {
			found.flags.add(assumeUnchanged, entry)
		}
		if strings.EqualFold(letter, "S") {
			found.flags.add(skipWorktree, entry)
		}
	}
	return found, nil
}

// hidingFlags are those of the flags behind which there may be something: all but those of files that are not laid out,
// as the slot was prepared.
func (s Contents) hidingFlags(all flags, prepared note) flags {
	leavesOut := prepared.leavesOut()
	return all.only(func(flag, file string) bool {
		return flag != skipWorktree || !leavesOut(file) || s.exists(file)
	})
}

func (s Contents) exists(file string) bool {
	_, err := os.Lstat(filepath.Join(s.Dir, filepath.FromSlash(file)))
	return err == nil
}

// present leaves out the files that are not there.
func (s Contents) present(all flags) flags {
	return all.only(func(_, file string) bool { return s.exists(file) })
}

// unflag has git look at the files again that the slot's index overlooks. Each gets a new entry, without the times that
// the file had: they prove nothing once git has written an index in which it overlooked the file.
func (s Contents) unflag(ctx context.Context, f flags) error {
	if err := s.enter(ctx, "", slices.Concat(f[assumeUnchanged], f[skipWorktree])); err != nil {
		return fmt.Errorf("have git look at the files that it overlooks: %w", err)
	}
	return nil
}

// enter writes entries into the slot's index or another one, without what git knew of their files.
func (s Contents) enter(ctx context.Context, index string, entries []indexEntry) error {
	if len(entries) == 0 {
		return nil
	}
	var lines strings.Builder
	for _, e := range entries {
		lines.WriteString(e.stage + "\t" + e.file + "\x00")
	}
	_, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: []string{"update-index", "-z", "--index-info"}, Index: index,
		Stdin: lines.String()})
	return err
}

// tempIndex is an index that Orange made for one look.
type tempIndex struct {
	file string
	same []indexEntry // whose files held what they say when they were compared: git does not look at these
}

// remove takes it away. What stays is the system's to clear.
func (t tempIndex) remove() { _ = os.RemoveAll(filepath.Dir(t.file)) }

// newIndex makes a temporary index with the entries of the slot's own. Orange compares each file with its entry byte
// for byte, and git has to read all that differ: the slot's own index lies where agents write, and git believes the
// times that it has of files, and the names that it has of whole folders. Of the flags, those stay that are not among
// the ones to look behind.
func (s Contents) newIndex(ctx context.Context, known indexList, behind flags) (tempIndex, error) {
	if err := s.readable(maps.Keys(known.objects())); err != nil {
		return tempIndex{}, err
	}
	folder, err := os.MkdirTemp(proc.TempDir(ctx), "orange-index-")
	if err != nil {
		return tempIndex{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	index := tempIndex{file: filepath.Join(folder, "index")}
	if err = s.enter(ctx, index.file, known.entries); err == nil {
		index.same = s.sameAsIndex(known.entries)
		err = s.flag(ctx, index.file, assumeUnchanged, append(slices.Clone(index.same),
			without(known.flags[assumeUnchanged], behind[assumeUnchanged])...))
	}
	if err == nil {
		err = s.flag(ctx, index.file, skipWorktree, without(known.flags[skipWorktree], behind[skipWorktree]))
	}
	if err != nil {
		index.remove()
		return tempIndex{}, fmt.Errorf("make an index: %w", err)
	}
	return index, nil
}

// compareAgain has git look at the files that held what the index says, and do not any more: a program writes there.
// It answers which they are.
func (s Contents) compareAgain(ctx context.Context, index *tempIndex) ([]indexEntry, error) {
	same := s.sameAsIndex(index.same)
	changed := without(index.same, same)
	index.same = same
	return changed, s.enter(ctx, index.file, changed)
}

// sameAsIndex are the entries whose files hold, byte for byte, what they say. Git need not look at these, and must not:
// by its rules for line ends and filters it calls some changed that no one has changed.
func (s Contents) sameAsIndex(entries []indexEntry) []indexEntry {
	var same []indexEntry
	for _, e := range entries {
		mode, rest, _ := strings.Cut(e.stage, " ")
		object, stage, _ := strings.Cut(rest, " ")
		name := filepath.Join(s.Dir, filepath.FromSlash(e.file))
		if info, err := os.Lstat(name); err == nil && stage == "0" && mode == modeOf(info) && s.isFile(e.file) &&
			blobOf(name, mode == git.LinkMode, len(object)) == object {
			same = append(same, e)
		}
	}
	return same
}

const executable = 0o100 // the bit of a mode that git knows

// modeOf is git's mode of a file or a link; empty for anything else.
func modeOf(info os.FileInfo) string {
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return git.LinkMode
	case !info.Mode().IsRegular():
		return ""
	case info.Mode()&executable != 0:
		return "100755"
	}
	return "100644"
}

func without(entries, apart []indexEntry) []indexEntry {
	gone := make(map[indexEntry]bool, len(apart))
	for _, e := range apart {
		gone[e] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e indexEntry) bool { return gone[e] })
}

// flag has git overlook the files of the entries.
func (s Contents) flag(ctx context.Context, index, flag string, entries []indexEntry) error {
	var files strings.Builder
	for _, e := range entries {
		files.WriteString(e.file + "\x00")
	}
	if files.Len() == 0 {
		return nil
	}
	_, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: []string{"update-index", "--" + flag, "-z", "--stdin"},
		Index: index, Stdin: files.String()})
	return err
}

// renewIndex makes the slot's own index again, of its commit: what git knows of the files then, it has read in them.
func (s Contents) renewIndex(ctx context.Context, head string) error {
	args := []string{"read-tree", head}
	if head == "" {
		args = []string{"read-tree", "--empty"}
	}
	if _, err := s.run(ctx, args...); err != nil {
		return fmt.Errorf("make the index again: %w", err)
	}
	// Not with -q: git would say nothing of a lock that it met, and nothing would wait for it.
	if _, err := s.run(ctx, "update-index", "--refresh"); err != nil && git.ExitCode(err) != 1 {
		return fmt.Errorf("compare the files with the index: %w", err)
	}
	return nil
}

// statusBehind is the status with what flags hide.
func (s Contents) statusBehind(ctx context.Context, known indexList, f flags, a depth) (status, error) {
	index, err := s.newIndex(ctx, known, f)
	if err != nil {
		return status{}, err
	}
	defer index.remove()
	a.index = index.file
	return s.status(ctx, a)
}

// fullStatus is the status of the files as they are, with what the slot's own index hides.
type fullStatus struct {
	status
	flags      flags // behind which there may be something
	hidden     []Hidden
	strays     []string // files of rules that are not as git knows them, see strayRules
	submodules []string
	known      indexList
}

func (s Contents) fullStatus(ctx context.Context, a depth, prepared note) (fullStatus, error) {
	known, err := s.list(ctx)
	if err != nil {
		return fullStatus{}, err
	}
	all := fullStatus{flags: s.hidingFlags(known.flags, prepared), submodules: known.submodules, known: known}
	if all.status, err = s.statusBehind(ctx, known, all.flags, a); err != nil {
		return fullStatus{}, err
	}
	all.strays = s.strayRules(known.objects())
	seen := map[string]bool{} // that git calls changed
	for _, c := range all.changes {
		seen[c.path] = seen[c.path] || c.index != untracked
	}
	all.changes = slices.DeleteFunc(all.changes, func(c change) bool {
		return c.index == untracked && slices.Contains(all.strays, c.path)
	})
	for _, file := range all.strays {
		if !seen[file] {
			all.changes = append(all.changes, change{index: unchanged, tree: modified, path: file})
		}
	}
	all.hidden = all.flags.hide(all.changes)
	return all, nil
}

// objects are git's names for the files that it knows.
func (l indexList) objects() map[string]string {
	out := make(map[string]string, len(l.entries))
	for _, e := range l.entries {
		_, rest, _ := strings.Cut(e.stage, " ") // the mode
		out[e.file], _, _ = strings.Cut(rest, " ")
	}
	return out
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

	strays     []string // files of rules that are not as git knows them
	submodules []string
}

func (d leftovers) any() bool { return d.visible || len(d.flags) > 0 }

func (s Contents) leftovers(ctx context.Context, prepared note) (leftovers, error) {
	all, err := s.fullStatus(ctx, depth{untracked: "normal", submodules: "all"}, prepared)
	return leftovers{
		work:    len(s.withoutShown(all.changes, prepared.Shown)) > 0,
		visible: len(all.changes) > 0,
		flags:   all.flags,

		strays:     all.strays,
		submodules: all.submodules,
	}, err
}

// withoutShown leaves out what the prepared slot showed as modified before anyone worked there, as far as it is
// what it was.
func (s Contents) withoutShown(changes []change, shown map[string]string) []change {
	if len(shown) == 0 {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
		was, noted := shown[c.path]
		return noted && c.index == unchanged && was == s.digest(c.path)
	})
}

// shownNow digests the changes of a slot before any agent has worked in it.
func (s Contents) shownNow(changes []change) map[string]string {
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
func (s Contents) stillAsShown(shown map[string]string) map[string]string {
	still := maps.Clone(shown)
	maps.DeleteFunc(still, func(file, was string) bool { return s.digest(file) != was })
	return still
}

// digest reports a file's content and of its mode as far as git knows modes.
func (s Contents) digest(file string) string {
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
	sum := sha256.New()
	if _, err := io.Copy(sum, opened); err != nil {
		return "not to be read"
	}
	return fmt.Sprintf("%t %s", info.Mode()&executable != 0, hex.EncodeToString(sum.Sum(nil)))
}

// hiddenBelow are the changes in submodules that git overlooks there because of flags: a look at the slot asks the
// index of each submodule, which has flags of its own.
func (s Contents) hiddenBelow(ctx context.Context, submodules []string) ([]Hidden, error) {
	var all []Hidden
	err := s.eachFlagged(ctx, submodules, "", func(sub Slot, name string, known indexList, f flags) error {
		seen, err := sub.Files().statusBehind(ctx, known, f, depth{untracked: "no", submodules: "all"})
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
func (s Contents) unflagBelow(ctx context.Context, submodules []string) error {
	return s.eachFlagged(ctx, submodules, "", func(sub Slot, _ string, _ indexList, f flags) error {
		return sub.Files().unflag(ctx, f)
	})
}

// eachFlagged does something for each submodule, however deep it lies, in which files are there that git overlooks.
func (s Contents) eachFlagged(ctx context.Context, submodules []string, within string,
	do func(sub Slot, name string, known indexList, f flags) error) error {
	for _, submodule := range submodules {
		// Of what can be done with a slot, looking at its index and its files is all that fits a submodule.
		sub := Slot{Repo: s.Repo, Dir: filepath.Join(s.Dir, filepath.FromSlash(submodule))}
		name := path.Join(within, submodule)
		if !sub.Files().exists(".git") {
			continue // it was not laid out
		}
		known, err := sub.Files().list(ctx)
		if present := sub.Files().present(known.flags); err == nil && len(present) > 0 {
			err = do(sub, name, known, present)
		}
		if err != nil {
			return fmt.Errorf("look into the submodule %q: %w", name, err)
		}
		if err := sub.Files().eachFlagged(ctx, known.submodules, name, do); err != nil {
			return err
		}
	}
	return nil
}
