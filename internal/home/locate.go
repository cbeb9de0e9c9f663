package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Locate is the folder of the home: $ORANGE_HOME, or orange below the user's home.
func Locate() (string, error) {
	if dir := os.Getenv("ORANGE_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot tell where your home folder is: %w; set ORANGE_HOME", err)
	}
	return filepath.Join(user, "orange"), nil
}
