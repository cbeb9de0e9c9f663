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
