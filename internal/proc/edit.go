package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/task"
)

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
