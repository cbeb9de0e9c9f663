package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// othersMay are the bits of a mode that let other users in.
const othersMay = 0o077

// ownNames are the files that this program makes, each for the folders below ORANGE_HOME where it does; the
// folders are its own too. What people and agents put there next to them has the mode that they gave it, and a
// folder above it that lets no other user in.
func ownNames() map[string]*regexp.Regexp {
	all, none := regexp.MustCompile(``), regexp.MustCompile(`^$`)
	return map[string]*regexp.Regexp{
		".": regexp.MustCompile(
			`^(orange\.db.*|orange.*\.log|(projects|views|env)\.json|\.env\.json\..*|tmux\.conf|shell_history)$`),
		"bin":                none,
		"fleet":              none,
		"fleet/held":         all,
		"harnesses":          none,
		"launch":             all,
		"locks":              all,
		"tasks":              none,
		"tasks/*":            none,
		"tasks/*/*":          regexp.MustCompile(`^(TASK\.md|history\.jsonl.*)$`),
		"tasks/*/*/checks":   all,
		"tasks/*/*/evidence": all,
		"tasks/*/*/prompts":  all,
		"trash":              none,
		"trash/*":            none,
		"workflows":          none,
		"workflows/.kept":    all,
		"workspaces":         none,
	}
}

// private finds what others on this machine may look into: a home that was made before it was kept from them.
func (d *Doctor) private(_ context.Context, r report, _ *view) error {
	var open []string
	var mode fs.FileMode // of the first
	err := d.visit(ownNames(), func(path string, info fs.FileInfo, err error) error {
		if err == nil && isOpen(info) {
			if open = append(open, path); len(open) == 1 {
				mode = info.Mode()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(open) > 0 {
		r.warn(d.Home, fmt.Sprintf("%d files and folders that others on this machine may look into, such as %q (%s)",
			len(open), open[0], mode), "orange doctor --fix takes that right from them").
			mend = mendEach("taken from", open, keepTo)
	}
	r.orOK(d.Home, "no other user may look into it")
	return nil
}

// mendEach makes the mending of some files, one by one.
func mendEach(done string, paths []string, each func(path string) error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		var all []error
		for _, path := range paths {
			if err := each(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = append(all, err)
			}
		}
		return fmt.Sprintf("%s %d", done, len(paths)), errors.Join(all...)
	}
}

// keepTo takes other users' rights to a file or folder. What is a link by now is left alone.
func keepTo(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !isOpen(info) {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&^othersMay)
}

func isOpen(info fs.FileInfo) bool {
	return (info.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&othersMay != 0
}

// staleAge is the age from which a temporary file belongs to a program that was killed: ours live for milliseconds.
const staleAge = time.Hour

// leftoverNames are the temporary names that this program writes under, each for the folders below ORANGE_HOME
// where it does.
func leftoverNames() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		".": regexp.MustCompile(`^(projects\.json\.new|(tmux\.conf|bearings\.json)\.\d+|` +
			`\.(pull-requests|terminal)\.json\.\d+)$`),
		"conflicts":          regexp.MustCompile(`^\..+\.json\.\d+$`),
		"bin":                regexp.MustCompile(`^orange\.\d+$`),
		"fleet/held":         regexp.MustCompile(`^.+\.json\.new$`),
		"launch":             regexp.MustCompile(`^\d+\.json(\.new)?$`),
		"workflows/.kept":    regexp.MustCompile(`^\.[0-9a-f]{64}\.\d+$`),
		"tasks/*/*":          regexp.MustCompile(`^\.(TASK\.md|history\.jsonl)\.\d+$`),
		"tasks/*/*/evidence": regexp.MustCompile(`^\.[0-9a-f]{64}\.\d+$`),
		"tasks/*/*/prompts":  regexp.MustCompile(`^\d+-.*\.md\.new$`),
	}
}

// leftovers finds what a killed program left half written, and launch tickets that no agent took: these hold a
// seat's secret.
func (d *Doctor) leftovers(_ context.Context, r report, _ *view) error {
	var stale []string
	err := d.visit(leftoverNames(), func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() && d.Now().Sub(info.ModTime()) > staleAge {
			stale = append(stale, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(stale) > 0 {
		r.warn(d.Home, fmt.Sprintf("%d files that a killed program left, such as %q", len(stale), stale[0]),
			"orange doctor --fix removes them").mend = mendEach("removed", stale, os.Remove)
	}
	r.orOK(d.Home, "no files that a killed program left")
	return nil
}

// visit visits folders below ORANGE_HOME, each with the files in it that have one of its names. A folder or file that
// cannot be looked at comes with the error.
func (d *Doctor) visit(names map[string]*regexp.Regexp,
	look func(path string, info fs.FileInfo, err error) error) error {
	for _, folder := range slices.Sorted(maps.Keys(names)) {
		dirs, err := d.below(folder)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			info, err := os.Lstat(dir)
			if err := look(dir, info, err); err != nil {
				return err
			}
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, entry := range entries {
				if entry.IsDir() || !names[folder].MatchString(entry.Name()) {
					continue
				}
				info, err := entry.Info()
				if err := look(filepath.Join(dir, entry.Name()), info, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// below are the folders below ORANGE_HOME that a pattern of whole names means. Names there may hold anything,
// even brackets.
func (d *Doctor) below(pattern string) ([]string, error) {
	dirs := []string{d.Home}
	for _, part := range strings.Split(pattern, "/") {
		var next []string
		for _, dir := range dirs {
			if part != "*" {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, entry := range entries {
				if entry.IsDir() {
					next = append(next, filepath.Join(dir, entry.Name()))
				}
			}
		}
		dirs = next
	}
	return dirs, nil
}
