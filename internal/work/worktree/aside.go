package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// What is set aside, in words.
const (
	aRepository = "a repository of its own"
	aSubmodule  = "a submodule with work of its own"
	inPlace     = "files in the place of a submodule"
	aWorktree   = "a worktree that was added here"
	unreadable  = "it cannot be read"
	unremovable = "it cannot be removed"
)

// asideFolder is the folder with all that is set aside, next to the workspaces.
func asideFolder(workspaces string) string { return filepath.Join(workspaces, ".aside") }

// asideNote is what lies next to the numbered folder of something that is set aside. A path can have bytes that JSON
// cannot hold.
type asideNote struct {
	record.Aside
	Raw []byte `json:"raw_path"`
}

// Asides lists what is set aside in a folder of workspaces, for one task or, where that is empty, for all: the oldest
// first. A note whose folder is gone is left out; one that cannot be read is an error, and the others are listed.
func Asides(workspaces, taskID string) (all []record.Aside, err error) {
	defer git.Explain(&err, "cannot list all that is set aside in %q", workspaces)
	tasks := []string{taskID}
	if taskID == "" {
		if tasks, err = namesIn(asideFolder(workspaces)); err != nil {
			return nil, err
		}
	}
	for _, id := range tasks {
		folder := filepath.Join(asideFolder(workspaces), id)
		names, trouble := namesIn(folder)
		err = errors.Join(err, trouble)
		for _, name := range names {
			number, is := strings.CutSuffix(name, noteSuffix)
			if !is {
				continue
			}
			one, there, trouble := readAside(filepath.Join(folder, number))
			if err = errors.Join(err, trouble); there {
				all = append(all, one)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record.Aside) int {
		return cmp.Or(a.Since.Compare(b.Since), numberOf(a)-numberOf(b))
	})
	return all, err
}

// noteSuffix is how the name of a note ends; the folder's name comes before it.
const noteSuffix = ".json"

// namesIn are the names in a folder; none where there is no such folder.
func namesIn(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// numberOf is the number of the folder in which something lies.
func numberOf(a record.Aside) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(a.At)))
	if err != nil {
		return 0 // a person renamed it
	}
	return n
}

// readAside reads what lies in a numbered folder; there is false where nothing does.
func readAside(dir string) (one record.Aside, there bool, err error) {
	names, err := namesIn(dir)
	if err != nil || len(names) == 0 {
		return one, false, err
	}
	text, err := proc.ReadFile(dir + noteSuffix)
	if err != nil {
		return one, false, err
	}
	var note asideNote
	if err := json.Unmarshal(text, &note); err != nil {
		return one, false, fmt.Errorf("read %q: %w", dir+noteSuffix, err)
	}
	one = note.Aside
	one.Path, one.At = string(note.Raw), filepath.Join(dir, names[0])
	return one, true, nil
}

// newAside makes the place for something of the slot, with its note. What is killed after it leaves a note without
// anything, which counts as none.
func (s sweep) newAside(taskID, path, why string, linked bool) (record.Aside, error) {
	from := filepath.Join(s.Dir, filepath.FromSlash(path))
	a := record.Aside{Task: taskID, Path: path, Why: why, Linked: linked, Since: time.Now().UTC().Truncate(time.Second)}
	a.Files, a.Bytes = sizeOf(from)
	folder := filepath.Join(asideFolder(filepath.Dir(s.Dir)), taskID)
	if err := os.MkdirAll(folder, task.PrivateFolder); err != nil {
		return a, err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(folder, strconv.Itoa(n))
		if err := os.Mkdir(dir, task.PrivateFolder); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return a, err
		}
		a.At = filepath.Join(dir, filepath.Base(from))
		return a, proc.ReplaceJSON(dir+noteSuffix, asideNote{a, []byte(path)})
	}
}

// sizeOf counts what lies below a path, as far as it can be seen.
func sizeOf(path string) (files int, bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // what cannot be looked into is moved all the same
		}
		files++
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}

// setAside moves something out of the slot as a whole.
func (s sweep) setAside(ctx context.Context, taskID, path, why string) (record.Aside, error) {
	path = strings.TrimSuffix(path, "/")
	a, err := s.newAside(taskID, path, why, false)
	if err == nil {
		err = relocate(ctx, filepath.Join(s.Dir, filepath.FromSlash(path)), a.At)
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("set %q aside, which no commit can hold: %w", path, err), forgetEmpty(a))
	}
	return a, nil
}

// relocate moves a file or a folder, to another disk too, whatever its own mode and that of the folder around it.
func relocate(ctx context.Context, from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, os.ErrPermission) {
		const ownerOnly = 0o700
		for _, path := range []string{filepath.Dir(from), from} {
			if info, err := os.Lstat(path); err == nil && info.IsDir() {
				_ = os.Chmod(path, info.Mode().Perm()|ownerOnly) // the rename says what is still wrong
			}
		}
		err = os.Rename(from, to)
	}
	if errors.Is(err, syscall.EXDEV) {
		if _, err = proc.Run(ctx, proc.Command{Name: "cp", Args: []string{"-a", "--", from, to}}); err == nil {
			err = git.RemoveAll(from)
		}
	}
	return err
}

// Restore moves what is set aside to a place where nothing is. For a worktree, r is its repository.
func (r Worktrees) Restore(ctx context.Context, a record.Aside, to string) (err error) {
	defer git.Explain(&err, "cannot bring back %q of task %s", a.Path, a.Task)
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		_ = os.Remove(to) // an empty folder, such as that of a submodule, is in no one's way
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("there is something at %q; move that away, or name another place with --to", to))
	}
	if err := os.MkdirAll(filepath.Dir(to), task.PrivateFolder); err != nil {
		return err
	}
	if a.Linked {
		_, _ = r.Run(ctx, "worktree", "unlock", "--", a.At) // it may be unlocked already
	}
	if err := relocate(ctx, a.At, to); err != nil {
		return err
	}
	if err := forgetEmpty(a); err != nil || !a.Linked {
		return err
	}
	if _, err := r.Run(ctx, "worktree", "repair", "--", to); err != nil {
		return fmt.Errorf("it is at %q now, but git does not know it there: git worktree repair %q: %w", to, to, err)
	}
	return nil
}

// Drop removes what is set aside, for good. For a worktree, r is its repository.
func (r Worktrees) Drop(ctx context.Context, a record.Aside) (err error) {
	defer git.Explain(&err, "cannot drop %q of task %s", a.Path, a.Task)
	if err := git.RemoveAll(a.At); err != nil {
		return err
	}
	if a.Linked { // git forgets one whose folder is gone, whatever was wrong with that
		if _, err := r.Run(ctx, "worktree", "remove", "--force", "--force", "--", a.At); err != nil &&
			!git.RefusedWith(err, "is not a working tree") {
			return err
		}
	}
	return forgetEmpty(a)
}

// forgetEmpty removes the place of something that lies there no longer, with its note.
func forgetEmpty(a record.Aside) error {
	dir := filepath.Dir(a.At)
	err := errors.Join(os.Remove(dir), os.Remove(dir+noteSuffix))
	_ = os.Remove(filepath.Dir(dir)) // the last one of its task takes the folder away
	return err
}
