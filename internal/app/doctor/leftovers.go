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

// old is the age from which a temporary file belongs to a program that was killed: ours live for milliseconds.
const old = time.Hour

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
func (d *Doctor) leftovers(context.Context) []finding {
	found, err := d.stale()
	if err != nil {
		return []finding{blind(checkLeftovers, d.Home, err)}
	}
	if len(found) == 0 {
		return []finding{ok(checkLeftovers, d.Home, "no files that a killed program left")}
	}
	f := warning(checkLeftovers, d.Home, fmt.Sprintf("%d files that a killed program left, such as %q",
		len(found), found[0]), "orange doctor --fix removes them")
	f.mend = func(context.Context) (string, error) {
		var all []error
		for _, path := range found {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = append(all, err)
			}
		}
		return fmt.Sprintf("removed %d", len(found)), errors.Join(all...)
	}
	return []finding{f}
}

func (d *Doctor) stale() ([]string, error) {
	var out []string
	err := d.visit(leftoverNames(), func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() && d.Now().Sub(info.ModTime()) > old {
			out = append(out, path)
		}
		return nil
	})
	return out, err
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
