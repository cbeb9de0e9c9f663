package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"

	"orange/internal/task"
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

// Shows is how many columns a terminal has, 0 where it does not say or the file is none, and whether the person there
// wants colours.
func Shows(f *os.File) (columns int, coloured bool) {
	if !IsTerminal(f) {
		return 0, false
	}
	columns, _, err := term.GetSize(f.Fd())
	if err != nil {
		columns = 0
	}
	kind := os.Getenv("TERM")
	return columns, os.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// Edit opens $VISUAL, $EDITOR or vi on a text in a file of its own, and answers the text as the person left it.
func Edit(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp("", "orange-edit")
	if err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "context.md")
	if err := os.WriteFile(file, []byte(text), task.PrivateFile); err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	words := strings.Fields(os.Getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(os.Getenv("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	err = RestoreTerminal(os.Stdin, func() error {
		return Interactive(ctx, Command{Name: words[0], Args: append(words[1:], file)})
	})
	if err != nil {
		return text, fmt.Errorf("cannot edit the text: %w; set EDITOR to the program that you use", err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		return text, fmt.Errorf("read the edited text: %w", err)
	}
	return string(changed), nil
}
