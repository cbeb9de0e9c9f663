package home

import (
	"errors"
	"path/filepath"

	"orange/internal/rules/task"
)

// Locate is the folder of the home: $ORANGE_HOME, or orange below the user's home. A path that is not from the root is
// refused: agents work in other folders than the person who started them.
func Locate(getenv func(name string) string) (string, error) {
	if dir := getenv("ORANGE_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", task.Notef(task.ErrUsage, "cannot use ORANGE_HOME %q: it would name another home in each "+
				"folder; expected a path from the root, such as %q", dir, "$HOME/orange")
		}
		return filepath.Clean(dir), nil
	}
	user := getenv("HOME")
	if user == "" {
		return "", errors.New("cannot tell where your home folder is: $HOME is not defined; set ORANGE_HOME")
	}
	return filepath.Join(user, "orange"), nil
}
