package app

import (
	"io"
	"os"

	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

// results is the standard output, and messages the standard error, of everything that is printed for people and
// programs; resultsTerminal is how wide the terminal at the standard output is, and whether it shall have colours.
func results() *printable.Writer                  { return printable.NewWriter(os.Stdout) }
func messages() *printable.Writer                 { return printable.NewWriter(os.Stderr) }
func resultsTerminal() (width int, coloured bool) { return proc.Shows(os.Stdout) }

// progressAt is where a person sees how far a long command is; nil where that is no terminal. A line is written
// over itself there, which a printable.Writer does not let through. It has no text from outside.
func progressAt() io.Writer {
	if !proc.IsTerminal(os.Stderr) {
		return nil
	}
	return os.Stderr
}
