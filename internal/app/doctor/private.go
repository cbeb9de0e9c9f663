package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
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
func (d *Doctor) private(context.Context) []finding {
	open, err := d.open()
	if err != nil {
		return []finding{blind(checkPrivate, d.Home, err)}
	}
	if len(open) == 0 {
		return []finding{ok(checkPrivate, d.Home, "no other user may look into it")}
	}
	info, err := os.Lstat(open[0])
	if err != nil {
		return []finding{blind(checkPrivate, d.Home, err)}
	}
	f := warning(checkPrivate, d.Home,
		fmt.Sprintf("%d files and folders that others on this machine may look into, such as %q (%s)", len(open),
			open[0], info.Mode()),
		"orange doctor --fix takes that right from them")
	f.mend = func(context.Context) (string, error) {
		var all []error
		for _, path := range open {
			if err := keepTo(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				all = append(all, err)
			}
		}
		return fmt.Sprintf("taken from %d", len(open)), errors.Join(all...)
	}
	return []finding{f}
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

// open lists what others may look into, the home itself first.
func (d *Doctor) open() ([]string, error) {
	var out []string
	err := d.visit(ownNames(), func(path string, info fs.FileInfo, err error) error {
		if err == nil && isOpen(info) {
			out = append(out, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return out, err
}
