package app

import (
	"io"
	"os"

	"orange/internal/printable"
	"orange/internal/proc"
)

// results is the standard output, and messages the standard error, of everything that is printed for people and
// programs.
func results() *printable.Writer { return printable.NewWriter(os.Stdout) }

func messages() *printable.Writer { return printable.NewWriter(os.Stderr) }

// progressAt is where a person sees how far a long command is; nil where that is no terminal. A line is written
// over itself there, which a printable.Writer does not let through: it has our own words and numbers, and nothing
// from outside.
func progressAt() io.Writer {
	if !proc.IsTerminal(os.Stderr) {
		return nil
	}
	return os.Stderr
}

// resultsTerminal is how wide the terminal at the standard output is, and whether the person there wants colours. There
// are none where that is no terminal.
func resultsTerminal() (width int, coloured bool) {
	if !proc.IsTerminal(os.Stdout) {
		return 0, false
	}
	kind := os.Getenv("TERM")
	return proc.Width(os.Stdout), os.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}
