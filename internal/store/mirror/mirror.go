// Package mirror keeps a task's folder: TASK.md, history.jsonl and the kept evidence.
//
// It owns how these files are read and written, and the locks next to them.
// It does not own what is true: the record does, and these files follow it.
// TASK.md's body belongs to agents and people; no line of it is ever rewritten here.
package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Files is the part of $ORANGE_HOME that holds tasks.
type Files struct {
	Home string // required
}

// DocumentName is the name of a task's document.
const DocumentName = "TASK.md"

// MaxDocument is the size in bytes up to which a document is moved to make room for its header. One that is larger than
// document.MaxSize is not read.
const MaxDocument = 32 << 20

// Dir is the folder of a task.
func (f Files) Dir(project, id string) string { return filepath.Join(f.Home, "tasks", project, id) }

// Document is the path of a task's document.
func (f Files) Document(project, id string) string {
	return filepath.Join(f.Dir(project, id), DocumentName)
}

// Read reads a task's document, the whole of it or its beginning with the header.
// Anything but a regular file, and a whole one that is too large to be read, is an error that says what it is.
func (f Files) Read(project, id string, whole bool) ([]byte, error) {
	file, err := open(f.Document(project, id), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !whole {
		return io.ReadAll(io.LimitReader(file, frontSearch))
	}
	text, err := readUpTo(file, document.MaxSize)
	if errors.Is(err, document.ErrTooLarge) {
		return nil, task.Notef(document.ErrTooLarge, "%q is larger than %d MiB: %s; %s", file.Name(),
			document.MaxSize>>20, document.LargestSection(io.NewSectionReader(file, 0, math.MaxInt64)), makeSmaller)
	}
	return text, err
}

// makeSmaller is what is to be done with a file that is too large.
const makeSmaller = "keep what belongs to the task and move the rest into a file of its own"

// open opens a regular file of its own and nothing else: no link, no folder, no pipe that would block, and no
// file that has another name elsewhere. Such a name may be the record itself, which a new header would be written
// into.
func open(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%q is a link, expected a file", path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(os.ErrNotExist, "%q is not there", path)
	}
	if cause, ok := errors.AsType[*os.PathError](err); ok {
		return nil, fmt.Errorf("%q cannot be opened: %w", path, cause.Err)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is %s, expected a file", path, kind(info.Mode()))
	}
	if err == nil && names(info) > 1 {
		err = fmt.Errorf("%q is a hard link: the file has %d names, and what is written here would change it "+
			"under all of them; "+
			"if its text belongs here make it a file of its own, cp %[1]q %[3]q && mv %[3]q %[1]q, else move it away",
			path, names(info), path+".own")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// names is how many names a file has.
func names(info os.FileInfo) uint64 {
	system, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return 1
	}
	return uint64(system.Nlink) //nolint:unconvert // of another size on other processors
}

func kind(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no regular file"
}

func tooLarge(file *os.File, most int64) error {
	return task.Notef(document.ErrTooLarge, "%q is larger than %d MiB; %s", file.Name(), most>>20, makeSmaller)
}

// readUpTo reads a file into memory for its size at first: a buffer that grows would hold a large file twice.
func readUpTo(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", file.Name(), err)
	}
	if info.Size() > most {
		return nil, tooLarge(file, most)
	}
	b := bytes.NewBuffer(make([]byte, 0, int(min(info.Size(), most))+bytes.MinRead)) // to grow one may take it twice
	if _, err := b.ReadFrom(io.LimitReader(file, most+1)); err != nil {
		return nil, fmt.Errorf("read %q: %w", file.Name(), err)
	}
	if int64(b.Len()) > most {
		return nil, tooLarge(file, most)
	}
	return b.Bytes(), nil
}

// Create makes the task's folder and its document with a body. A document that is there already stays as it is.
// Where the document cannot be written no empty folder stays behind.
func (f Files) Create(t task.Task, body string) error {
	dir := f.Dir(t.Project, t.ID)
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return fmt.Errorf("make the task's folder: %w", err)
	}
	path := f.Document(t.Project, t.ID)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	block, _ := document.Render(t, "", document.Room(t, ""))
	if err := proc.ReplaceFile(path, []byte(block+body)); err != nil {
		_ = os.Remove(dir) // refused by the system where anything is in it
		return err
	}
	return nil
}

// Append adds text at the end of the document, in one write, so that it comes between other writers' lines and
// not into them.
func (f Files) Append(project, id, text string) error {
	file, err := open(f.Document(project, id), os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("append to the task's document: %w", err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("append to the task's document: %w", err)
	}
	return nil
}

// Keep stores a text under its digest, where a later look at the decision finds it, and reports whether it was not
// there before. What is kept outlives every process at once, and a power cut after Harden.
func (f Files) Keep(project, id, digest, text string) (fresh bool, err error) {
	path, err := f.placeOf(project, id, evidenceFolder+"/"+digest)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), task.PrivateFolder)
	}
	if err != nil {
		return false, fmt.Errorf("keep evidence: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if err := proc.ReplaceCopy(path, []byte(text)); err != nil {
		return false, fmt.Errorf("keep evidence: %w", err)
	}
	return true, nil
}

// evidenceFolder is where a task's folder has the texts that decisions rest on.
const evidenceFolder = "evidence"

// Harden waits until the disk has texts that were kept, which takes it some time.
func (f Files) Harden(project, id string, digests ...string) error {
	if len(digests) == 0 {
		return nil
	}
	dir := filepath.Join(f.Dir(project, id), evidenceFolder)
	for _, digest := range digests {
		if err := flush(filepath.Join(dir, digest)); err != nil {
			return fmt.Errorf("keep evidence: %w", err)
		}
	}
	if err := flush(dir); err != nil {
		return fmt.Errorf("keep evidence: %w", err)
	}
	return nil
}

// flush waits until the disk has what was written to a file, or to a folder.
func flush(path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Trash moves a task's folder aside and answers where it is now.
func (f Files) Trash(project, id string) (string, error) {
	return f.moveAway(project, id, filepath.Join(f.Home, "trash", project, id))
}

// leftFolder is where the folders of tasks are that have left this home. No rebuild adopts what is in it.
const leftFolder = ".left"

// SetAside moves the folder of a task that leaves this home to where no one takes it for a task of this home, and
// answers where it is now. One that left before and came back keeps its earlier folder there.
func (f Files) SetAside(project, id string) (string, error) {
	to := filepath.Join(f.Home, "tasks", leftFolder, project, id)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return f.moveAway(project, id, to)
		} else if err != nil {
			return "", fmt.Errorf("look for a folder of the task that left before: %w", err)
		}
		to = filepath.Join(f.Home, "tasks", leftFolder, project, id+"."+strconv.Itoa(n))
	}
}

// moveAway moves a task's folder, with the comments that were never sent. Where there is none it answers no place.
func (f Files) moveAway(project, id, to string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(to), task.PrivateFolder); err != nil {
		return "", fmt.Errorf("make the folder for %q: %w", to, err)
	}
	err := os.Rename(f.Dir(project, id), to)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("move the task's folder away: %w", err)
	}
	err = os.Rename(f.comments(project, id), filepath.Join(to, "comments.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return to, fmt.Errorf("move the comments on the task away: %w", err)
	}
	return to, nil
}
