package proc

import (
	"errors"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
)

// RestoreTerminal brings a terminal back to its present state after do: a program that is killed leaves it as it
// wanted to have it.
func RestoreTerminal(terminal *os.File, do func() error) error {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return do() // it is no terminal, and so it has no state
	}
	err = do()
	if back := term.Restore(terminal.Fd(), before); back != nil {
		err = errors.Join(err, fmt.Errorf("bring the terminal back to what it was: %w; type: reset", back))
	}
	return err
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0 &&
		f.Name() != os.DevNull && !isNull(info)
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}
