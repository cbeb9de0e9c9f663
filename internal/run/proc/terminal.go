package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"

	"orange/internal/rules/task"
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

// isTerminal is IsTerminal of what may be no file.
func isTerminal(stream any) bool {
	f, is := stream.(*os.File)
	return is && IsTerminal(f)
}

func columnsOf(f *os.File) int {
	columns, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return columns
}

// OutTerminal is how many columns the terminal at the standard output has, 0 where it does not say or there is none,
// and whether the person there wants colours.
func (c Call) OutTerminal() (columns int, coloured bool) {
	t := c.TTY()
	kind := c.Getenv("TERM")
	return t.Columns, t.Out && c.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// Screen gives the person's terminal to their own programs. Their names come from the environment, as words with blanks
// between them; no shell reads them.
type Screen struct{}

// programOf is the program that the first variable names which has any, or the usual one.
func programOf(ctx context.Context, usual string, variables ...string) []string {
	for _, name := range variables {
		if words := strings.Fields(Getenv(ctx, name)); len(words) > 0 {
			return words
		}
	}
	return []string{usual}
}

func edit(ctx context.Context, args ...string) error {
	words := programOf(ctx, "vi", "VISUAL", "EDITOR")
	return RestoreTerminal(os.Stdin, func() error {
		return Interactive(ctx, Command{Name: words[0], Args: append(words[1:], args...)})
	})
}

// EditAt opens the person's editor on a line of a file that is there.
func (Screen) EditAt(ctx context.Context, path string, line int) error {
	if !filepath.IsAbs(path) { // no name can be taken for an option
		return fmt.Errorf("cannot edit %q: expected a whole path", path)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("cannot edit the file: %w", err)
	}
	if err := edit(ctx, fmt.Sprintf("+%d", line), path); err != nil {
		return fmt.Errorf("cannot edit the file: %w; set EDITOR to the program that you use", err)
	}
	return nil
}

// Page shows a text in $PAGER or less. Pagers of the kind of less begin at the line.
func (Screen) Page(ctx context.Context, text string, line int) error {
	words := programOf(ctx, "less", "PAGER")
	args := words[1:]
	if name := filepath.Base(words[0]); name == "less" || name == "more" || name == "most" {
		args = append(args, fmt.Sprintf("+%d", line))
	}
	err := RestoreTerminal(os.Stdin, func() error {
		return Interactive(ctx, Command{Name: words[0], Args: args, Stdin: strings.NewReader(text)})
	})
	if err != nil {
		return fmt.Errorf("cannot show the text: %w; set PAGER to the program that you use", err)
	}
	return nil
}

// Edit opens $VISUAL, $EDITOR or vi on a text in a file of its own, and answers the text as the person left it.
func (Screen) Edit(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp(TempDir(ctx), "orange-edit")
	if err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "context.md")
	if err := os.WriteFile(file, []byte(text), task.PrivateFile); err != nil {
		return text, fmt.Errorf("make a file to edit: %w", err)
	}
	if err := edit(ctx, file); err != nil {
		return text, fmt.Errorf("cannot edit the text: %w; set EDITOR to the program that you use", err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		return text, fmt.Errorf("read the edited text: %w", err)
	}
	return string(changed), nil
}
