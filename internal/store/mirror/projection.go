package mirror

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// maxProjection is the size in bytes up to which a projection is read: what is larger was never written here.
const maxProjection = 8 << 20

// Projection reads a file that the task's workflow projects. One that is not there is no text and no error.
// Anything but a file in its place, or a link in the place of a folder above it, is an error that says what it is.
func (f Files) Projection(t task.Task, file string) (found record.ProjectionFile, err error) {
	place, err := f.projection(t, file)
	if err != nil {
		return found, err
	}
	opened, err := open(place, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("look at the projection %q: %w; move that away", file, err)
	}
	info, err := opened.Stat()
	if err == nil {
		found.There, found.Written = true, info.ModTime().UTC()
		found.Mark = mark(info)
		found.Text, err = readUpTo(opened, maxProjection)
	}
	if err = errors.Join(err, opened.Close()); err != nil {
		return found, fmt.Errorf("look at the projection %q: %w", file, err)
	}
	return found, nil
}

// mark distinguishes one writing of a file from every other.
func mark(info os.FileInfo) string {
	node := uint64(0)
	if system, is := info.Sys().(*syscall.Stat_t); is {
		node = system.Ino
	}
	return fmt.Sprintf("%d-%s", node, info.ModTime().UTC().Format(time.RFC3339Nano))
}

// Project replaces a file that the task's workflow projects. A reader sees the old one or the new one.
func (f Files) Project(t task.Task, file string, text []byte) error {
	place, err := f.projection(t, file)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(place), task.PrivateFolder)
	}
	if err == nil {
		err = proc.ReplaceFile(place, text)
	}
	if err != nil {
		return fmt.Errorf("renew the projection %q: %w", file, err)
	}
	return nil
}

// projection is where a projection is.
func (f Files) projection(t task.Task, file string) (string, error) {
	place, err := f.placeOf(t.Project, t.ID, file)
	if err != nil {
		return "", fmt.Errorf("look at the projection %q: %w", file, err)
	}
	return place, nil
}

// placeOf is where a file of a task's folder is. No folder on the way may be a link: it could lead out of the
// task's folder.
func (f Files) placeOf(project, id, file string) (string, error) {
	at := f.Dir(project, id)
	words := strings.Split(path.Clean(file), "/")
	for _, word := range words[:len(words)-1] {
		at = filepath.Join(at, word)
		info, err := os.Lstat(at)
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		if !info.IsDir() {
			what := kind(info.Mode())
			if info.Mode()&os.ModeSymlink != 0 {
				what = "a link"
			} else if info.Mode().IsRegular() {
				what = "a file"
			}
			return "", fmt.Errorf("%q is %s, expected a folder; move that away", at, what)
		}
	}
	return filepath.Join(f.Dir(project, id), filepath.FromSlash(path.Clean(file))), nil
}
