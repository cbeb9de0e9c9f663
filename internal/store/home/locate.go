package home

import (
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/rules/task"
)

// Locate is the folder of the home: $ORANGE_HOME, or orange below the user's home. A path that is not from the root is
// refused: agents work in other folders than the person who started them.
func Locate() (string, error) {
	if dir := os.Getenv("ORANGE_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", task.Notef(task.ErrUsage, "cannot use ORANGE_HOME %q: it would name another home in each "+
				"folder; expected a path from the root, such as %q", dir, "$HOME/orange")
		}
		return filepath.Clean(dir), nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot tell where your home folder is: %w; set ORANGE_HOME", err)
	}
	return filepath.Join(user, "orange"), nil
}
