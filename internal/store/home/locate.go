package home

import (
	"errors"
	"io/fs"
	"path/filepath"

	"orange/internal/rules/task"
)

// Locate is the folder of the home: $ORANGE_HOME, or orange below the user's home. A path that is not from the root is
// refused: agents work in other folders than the person who started them. The answer is the same whichever links lead
// there: sockets, locks and processes of a home are found by that name.
func Locate(getenv func(name string) string) (string, error) {
	if dir := getenv("ORANGE_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", task.Notef(task.ErrUsage, "cannot use ORANGE_HOME %q: it would name another home in each "+
				"folder; expected a path from the root, such as %q", dir, "$HOME/orange")
		}
		return unlinked(filepath.Clean(dir)), nil
	}
	user := getenv("HOME")
	if user == "" {
		return "", errors.New("cannot tell where your home folder is: $HOME is not defined; set ORANGE_HOME")
	}
	return unlinked(filepath.Join(user, "orange")), nil
}

// unlinked is a path without links, as far as it is there already.
func unlinked(path string) string {
	followed, err := filepath.EvalSymlinks(path)
	switch parent := filepath.Dir(path); {
	case err == nil:
		return followed
	case errors.Is(err, fs.ErrNotExist) && parent != path:
		return filepath.Join(unlinked(parent), filepath.Base(path))
	}
	return path // who uses it says what is wrong
}
