// Package logfile writes and reads the log, which many processes write at once.
package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// The log is set aside when it has reached its size, and so many of those are kept.
const (
	size      = 10 << 20
	keptFiles = 3
)

// patience is how long one line waits for another process that sets the log aside. That takes less than a
// millisecond.
const patience = 5 * time.Second

// Lock takes a lock that all processes share; release gives it back.
type Lock func(ctx context.Context, name string) (release func(), err error)

// Of is the path of a home's log.
func Of(home string) string { return filepath.Join(home, "orange.log") }

// Open opens the log at a path, and makes it where it is missing.
func Open(path string, lock Lock) (*Log, error) {
	f := &Log{path: path, size: size, kept: keptFiles, lock: lock}
	return f, f.open()
}

// Level reads the name of a level. Without one it is info.
func Level(name string) (slog.Level, error) {
	level, known := map[string]slog.Level{
		"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError,
	}[strings.ToLower(name)]
	if known {
		return level, nil
	}
	return 0, task.Notef(task.ErrUsage, "found %q as ORANGE_LOG_LEVEL, expected debug, info, warn or error", name)
}

// NewLogger writes JSON lines that begin with ts, level and msg. Every call adds its component, and then what it
// is about.
func NewLogger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{
		Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			switch {
			case len(groups) > 0:
			case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
				return slog.String("ts", task.FormatTime(a.Value.Time()))
			case a.Key == slog.LevelKey:
				return slog.String(slog.LevelKey, strings.ToLower(a.Value.String()))
			}
			return a
		}}))
}

// Log appends lines to a log that many processes write at once, and that any of them may set aside.
//
// A line is one write to a file opened for appending, so the kernel keeps lines whole and in one piece.
// Before each line one stat of the path, a few microseconds, tells both what a process cannot know by itself:
// whether the file has reached its size, since others make it grow, and whether it is still the file at the path,
// since others set it aside. So a process that lives for weeks follows the log, also where a person has moved or
// removed it.
//
// A process sets the log aside under a lock, under a name that no other file has, and removes the oldest.
type Log struct {
	path string
	size int64 // bytes from which on a file is set aside
	kept int   // how many of those stay
	lock Lock

	file *os.File
	info os.FileInfo // of file, to know it again
}

// Write appends one line. slog calls it for one line at a time.
// Where the log cannot be followed, the line goes to the file that is open.
func (f *Log) Write(line []byte) (int, error) {
	var failed error
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(now, f.info) || now.Size() >= f.size {
		failed = f.open()
	}
	n, err := f.file.Write(line)
	return n, errors.Join(failed, err)
}

// open sets the log aside if it is full, and opens the one that has the path then. What was open before
// stays so if it cannot.
func (f *Log) open() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	release, err := f.lock(ctx, "log")
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer release()
	aside := f.setAside()
	file, err := proc.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, task.PrivateFile)
	if err != nil {
		return errors.Join(aside, fmt.Errorf("open the log: %w", err))
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(aside, fmt.Errorf("look at the log: %w", err), file.Close())
	}
	before := f.file
	f.file, f.info = file, info
	if before != nil {
		return errors.Join(aside, before.Close())
	}
	return aside
}

// setAside renames a log that is full, and removes the oldest of those that were set aside. The lock is held.
func (f *Log) setAside() error {
	now, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && now.Size() < f.size {
		return nil // nothing there yet, or another process was first
	}
	if err != nil {
		return fmt.Errorf("look at the log: %w", err)
	}
	aside, err := asideFiles(f.path)
	if err == nil {
		err = os.Rename(f.path, asideName(f.path, aside, time.Now()))
	}
	for _, oldest := range aside[min(len(aside), f.kept-1):] {
		if err == nil {
			err = os.Remove(oldest)
		}
	}
	if err != nil {
		return fmt.Errorf("set the log aside: %w", err)
	}
	return nil
}

// asideName is the path under which a log is set aside: behind all that were, so that none of them is replaced and the
// oldest has the first name, even where two are set aside within a millisecond, or the clock was set back.
func asideName(path string, aside []string, now time.Time) string {
	extension := filepath.Ext(path)
	stem := strings.TrimSuffix(path, extension) + "-"
	at := now.UTC().Truncate(time.Millisecond)
	if len(aside) > 0 {
		last, _ := time.Parse(asideLayout, strings.TrimSuffix(strings.TrimPrefix(aside[0], stem), extension))
		if !at.After(last) {
			at = last.Add(time.Millisecond)
		}
	}
	return stem + at.Format(asideLayout) + extension
}

// Close ends writing.
func (f *Log) Close() error { return f.file.Close() }

// Print writes the last lines of the log at a path that are to be kept, with those of the files that were set aside
// as far as they are needed.
func Print(out io.Writer, path string, keep func([]byte) bool, lines int) error {
	files, err := openAll(path)
	defer func() {
		for _, file := range files {
			_ = file.Close() // only read
		}
	}()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	var last [][]byte
	for _, file := range files {
		err := toItsEnd(file)
		var older [][]byte
		if err == nil {
			older, err = lastLines(file, keep, lines-len(last))
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		last = append(older, last...)
		if len(last) >= lines {
			break
		}
	}
	for _, line := range last {
		if _, err := fmt.Fprintf(out, "%s\n", printable.JSON(line)); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	return nil
}

// openAll opens the log and the files that were set aside, newest first. The log itself is opened before the
// others are looked for: if it is set aside in between it is met twice, and known again, while the other order
// would miss it.
func openAll(path string) ([]*os.File, error) {
	var files []*os.File
	add := func(name string) error {
		file, err := proc.OpenFile(name, os.O_RDONLY, 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil // removed meanwhile, or not made yet
		}
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	}
	if err := add(path); err != nil {
		return files, err
	}
	aside, err := asideFiles(path)
	if err != nil {
		return files, err
	}
	for _, name := range aside {
		if len(files) > 0 && isOpen(files[0], name) {
			continue
		}
		if err := add(name); err != nil {
			return files, err
		}
	}
	return files, nil
}

func isOpen(file *os.File, name string) bool {
	one, err := file.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(name)
	return err == nil && os.SameFile(one, other)
}

// asideLayout is the time in the name of a file that was set aside.
const asideLayout = "2006-01-02T15-04-05.000"

// asideFiles are the paths of the files that were set aside, newest first.
func asideFiles(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	extension := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), extension) + "-"
	var out []string
	for _, entry := range slices.Backward(entries) { // they come sorted by name, which is by time
		at, isStem := strings.CutPrefix(entry.Name(), stem)
		at, isLog := strings.CutSuffix(at, extension)
		if _, err := time.Parse(asideLayout, at); isStem && isLog && err == nil {
			out = append(out, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	return out, nil
}

// mostRead is how many bytes of a log are read: one that was set aside in time has fewer.
const mostRead = 2 * size

// toItsEnd skips the beginning of a log that is larger than any that Orange leaves.
func toItsEnd(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Size() > mostRead {
		_, err = file.Seek(-mostRead, io.SeekEnd)
	}
	return err
}

// lastLines are the last so many lines of a file that are to be kept.
func lastLines(file io.Reader, keep func([]byte) bool, lines int) ([][]byte, error) {
	var last [][]byte
	reader := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 && keep(line) {
			last = append(last, line)
			if len(last) > lines {
				last = last[1:]
			}
		}
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
