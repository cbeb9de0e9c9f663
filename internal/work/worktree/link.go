package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

const (
	documentName = "TASK.md"
	documentDir  = ".orange"
	// linkNote remembers, in the worktree's private folder, which of the two places is in use:
	// a TASK.md of the repository's own must never be taken for a replaced link.
	linkNote = "orange-link"
	// maxDocument bounds what is read of a file that took the place of the link.
	maxDocument = 32 << 20
)

// Link makes TASK.md a symbolic link to target, or .orange/TASK.md where the repository has a TASK.md of its own,
// and returns which, relative to the slot. The link is excluded from git. A link to another target is replaced.
// A regular file that took its place is never thrown away: unless it equals the target it is moved
// next to it, as "<target>.replaced-<n>"; adopt it first (see Replaced). Doing it twice is no error.
func (s DocumentLink) Link(ctx context.Context, target string) (file string, err error) {
	if !filepath.IsAbs(target) || strings.ContainsRune(target, 0) {
		return "", task.Notef(task.ErrUsage, "cannot link the task's document %q: its path is not absolute", target)
	}
	defer git.Explain(&err, "cannot link the task's document into workspace %q", s.Dir)
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = errors.New("it is not there; prepare it first")
	}
	if err != nil {
		return "", err
	}
	own, err := s.hasOwnDocument(ctx, here)
	if err != nil {
		return "", err
	}
	file = documentName
	pattern := "/" + documentName
	if own {
		file, pattern = filepath.Join(documentDir, documentName), "/"+documentDir+"/"
		if err := makeFolder(ctx, filepath.Join(s.Dir, documentDir)); err != nil {
			return "", err
		}
	}
	if err := here.addExcludes(ctx, pattern); err != nil {
		return "", err
	}
	if err := proc.ReplaceCopy(filepath.Join(here.gitDir, linkNote), []byte(file+"\n")); err != nil {
		return "", fmt.Errorf("note the place of the link: %w", err)
	}
	return file, putLink(filepath.Join(s.Dir, file), target)
}

// hasOwnDocument reports whether HEAD or the index has a TASK.md. Case does not count: on some file systems it
// does not.
func (s DocumentLink) hasOwnDocument(ctx context.Context, here place) (bool, error) {
	if here.head != "" {
		if has, err := s.hasDocument(ctx, here.head); has || err != nil {
			return has, err
		}
	}
	out, err := s.run(ctx, "ls-files", "-z", "--", ":(top,icase)"+documentName)
	if err != nil {
		return false, fmt.Errorf("list the files of the index: %w", err)
	}
	return namesDocument(string(out.Stdout)), nil
}

// hasDocument reports whether a commit has a TASK.md.
func (s DocumentLink) hasDocument(ctx context.Context, commit string) (bool, error) {
	out, err := s.run(ctx, "ls-tree", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return false, fmt.Errorf("list the files of %s: %w", commit, err)
	}
	return namesDocument(string(out.Stdout)), nil
}

func namesDocument(names string) bool {
	return slices.ContainsFunc(strings.Split(names, "\x00"), func(name string) bool {
		first, _, _ := strings.Cut(name, "/")
		return strings.EqualFold(first, documentName)
	})
}

// ReplacedByGit reports whether the file in the place of the link is the repository's own TASK.md: a merge or a rebase
// brought it from the base, and git took the link for a file that it may replace. It is no words of an agent's then.
func (s DocumentLink) ReplacedByGit(ctx context.Context) (bool, error) {
	here, present, err := s.look(ctx)
	if err != nil || !present {
		return false, err
	}
	file, err := here.linkPlace()
	if err != nil {
		return false, err
	}
	return s.replacedByGit(ctx, here, file)
}

func (s DocumentLink) replacedByGit(ctx context.Context, here place, file string) (bool, error) {
	if file != documentName {
		return false, nil
	}
	if own, err := s.hasOwnDocument(ctx, here); err != nil || !own {
		return false, err
	}
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return false, err
	}
	return s.hasDocument(ctx, base.Commit) // one that the branch alone has may be an agent's, added with force
}

// makeFolder refuses a link in the folder's place: through it the document would land outside the workspace.
func makeFolder(ctx context.Context, path string) error {
	err := os.Mkdir(path, proc.Masked(ctx, 0o755))
	if err == nil {
		return nil
	}
	if info, statErr := os.Lstat(path); errors.Is(err, os.ErrExist) && statErr == nil && info.IsDir() {
		return nil
	}
	return fmt.Errorf("make folder %q: something else has its name: %w", path, err)
}

func putLink(path, target string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("look at %q: %w", path, err)
	case info.Mode()&os.ModeSymlink != 0:
		if have, err := os.Readlink(path); err == nil && have == target {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("take the old link away: %w", err)
		}
	case info.Mode().IsRegular():
		if err := setAside(path, target); err != nil {
			return fmt.Errorf("keep the file that took the place of the link: %w", err)
		}
	default:
		return fmt.Errorf("%q is neither a file nor a link; move it away, then run this again", path)
	}
	if err := os.Symlink(target, path); err != nil {
		return fmt.Errorf("make the link: %w", err)
	}
	return nil
}

// setAside moves the file next to the target. It is moved before it is compared, so that what is written to it
// in that instant is not lost either.
func setAside(path, target string) error {
	for n := 1; ; n++ {
		aside := target + ".replaced-" + strconv.Itoa(n)
		hold, err := proc.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("make %q: %w", aside, err)
		}
		if err := hold.Close(); err != nil {
			return fmt.Errorf("make %q: %w", aside, err)
		}
		if err := move(path, aside); err != nil {
			return fmt.Errorf("move it to %q: %w", aside, err)
		}
		left, leftErr := proc.ReadFile(aside)
		right, rightErr := proc.ReadFile(target)
		if leftErr == nil && rightErr == nil && bytes.Equal(left, right) {
			return os.Remove(aside)
		}
		return nil
	}
}

func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := os.Remove(to); err != nil {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// copyFile copies a file that is not there yet.
func copyFile(from, to string) error {
	source, err := proc.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer source.Close()
	target, err := proc.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}

// Replaced returns the content of the file that took the place of the link, of which 32 MiB is the most; a larger one,
// and anything that is no file, is an error. there is false where the link is intact, or gone: Link puts it back then.
// It runs no program.
func (s DocumentLink) Replaced() (content []byte, there bool, err error) {
	file, err := s.linkFile()
	if err != nil {
		return nil, false, fmt.Errorf("cannot look at the link in workspace %q: %w", s.Dir, err)
	}
	if file == "" {
		return nil, false, nil
	}
	path := filepath.Join(s.Dir, file)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("cannot look at the link %q: %w", path, err)
	case info.Mode()&os.ModeSymlink != 0:
		return nil, false, nil
	}
	if content, err = readDocument(path); err != nil {
		return nil, false, fmt.Errorf("cannot adopt %q: %w", path, err)
	}
	return content, true, nil
}

// linkFile is where the link to the task's document is, relative to the slot; empty where none was made.
func (s DocumentLink) linkFile() (string, error) {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return "", err
	}
	return place{gitDir: gitDir}.linkPlace()
}

// readDocument follows no link and waits for no pipe, whatever took the file's place since it was looked at.
func readDocument(path string) ([]byte, error) {
	file, err := proc.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, proc.ErrNoFile) {
		return nil, errors.New("it is neither a file nor a link; move it away")
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at it: %w", err)
	}
	// such a name may be that of the record, or of a key: its text would be taken over
	if system, known := info.Sys().(*syscall.Stat_t); known && system.Nlink > 1 {
		return nil, fmt.Errorf("it is a hard link: the file has %d names; if its text belongs here make it a file of "+
			"its own, else move it away", system.Nlink)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if len(content) > maxDocument {
		return nil, fmt.Errorf("it is larger than %d bytes; make it shorter", maxDocument)
	}
	return content, nil
}

// GitDirs are the slot's own folder in the repository's git folder, and that one, which all worktrees share. The slot's
// .git file, which an agent can write, is not believed where it names another repository or another worktree.
func (s Slot) GitDirs(ctx context.Context) (own, shared string, err error) {
	here, ours := s.ownPlace(ctx)
	if !ours {
		gone := fmt.Errorf("workspace %q is no worktree of %q any more: its %q names another place; save what is in "+
			"it and move it away", s.Dir, s.Repo.Path, filepath.Join(s.Dir, ".git"))
		return "", "", s.Repo.WithMisplaced(s.Dir, gone)
	}
	return here.gitDir, filepath.Dir(filepath.Dir(here.gitDir)), nil // REPOSITORY/worktrees/NAME
}

// linkPlace is the path of the link that was last made, relative to the slot, and empty when there was none.
func (p place) linkPlace() (string, error) {
	text, err := proc.ReadFile(filepath.Join(p.gitDir, linkNote))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the place of the link: %w", err)
	}
	file := strings.TrimSpace(string(text))
	if file != documentName && file != filepath.Join(documentDir, documentName) {
		return "", nil
	}
	return file, nil
}

// replacedDocument is the path of a regular file that took the link's place, and empty when there is none. The
// repository's own is none.
func (s DocumentLink) replacedDocument(ctx context.Context, here place) (string, error) {
	file, err := here.linkPlace()
	if err != nil || file == "" {
		return "", err
	}
	info, err := os.Lstat(filepath.Join(s.Dir, file))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look at the document: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", nil
	}
	if own, err := s.replacedByGit(ctx, here, file); err != nil || own {
		return "", err
	}
	return file, nil
}

// unlink takes the link of the last task away, and only a link.
func (s DocumentLink) unlink(here place) error {
	file, err := here.linkPlace()
	if err != nil || file == "" {
		return err
	}
	path := filepath.Join(s.Dir, file)
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("take the old link away: %w", err)
		}
	}
	if err := os.Remove(filepath.Join(here.gitDir, linkNote)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the old link: %w", err)
	}
	return nil
}

// Exclude keeps files with these patterns (as in .gitignore) out of git in all worktrees of the repository, through its
// own info/exclude; the user's global file is not touched. A pattern that is there already is not added again.
func (s Slot) Exclude(ctx context.Context, patterns ...string) error {
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = errors.New("it is not there; prepare it first")
	}
	if err == nil {
		err = here.addExcludes(ctx, patterns...)
	}
	if err != nil {
		return fmt.Errorf("cannot exclude files in workspace %q: %w", s.Dir, err)
	}
	return nil
}

func (p place) addExcludes(ctx context.Context, patterns ...string) error {
	for _, pattern := range patterns {
		if strings.TrimSpace(pattern) == "" || strings.ContainsAny(pattern, "\n\r\x00") {
			return task.Notef(task.ErrUsage, "the exclude pattern %q is not one line", pattern)
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.exclude), proc.Masked(ctx, 0o755)); err != nil {
		return fmt.Errorf("make the folder of the exclude file: %w", err)
	}
	file, err := proc.OpenFile(p.exclude, os.O_RDWR|os.O_CREATE|os.O_APPEND, proc.Masked(ctx, 0o644))
	if err != nil {
		return fmt.Errorf("open the exclude file: %w", err)
	}
	defer file.Close()
	// All slots share the file, so the look and the addition are one.
	if err := git.LockExclude(ctx, file); err != nil {
		return err
	}
	have, err := io.ReadAll(io.LimitReader(file, proc.MostFile+1))
	if err == nil && len(have) > proc.MostFile {
		err = fmt.Errorf("%q has more than %d MiB; look at it", p.exclude, proc.MostFile>>20)
	}
	if err != nil {
		return fmt.Errorf("read the exclude file: %w", err)
	}
	lines := strings.Split(string(have), "\n")
	var add strings.Builder
	if len(have) > 0 && !bytes.HasSuffix(have, []byte("\n")) {
		add.WriteString("\n")
	}
	for _, pattern := range patterns {
		if !slices.Contains(lines, pattern) {
			lines = append(lines, pattern)
			add.WriteString(pattern + "\n")
		}
	}
	if strings.TrimSpace(add.String()) == "" {
		return nil
	}
	if _, err := file.WriteString(add.String()); err != nil {
		return fmt.Errorf("add to the exclude file: %w", err)
	}
	return nil
}
