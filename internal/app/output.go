package app

import (
	"io"

	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

// results is the standard output, and messages the standard error, of everything that is printed for people and
// programs.
func results(c proc.Call) *printable.Writer  { return printable.NewWriter(c.Out) }
func messages(c proc.Call) *printable.Writer { return printable.NewWriter(c.Err) }

// progressAt is where a person sees how far a long command is; nil where that is no terminal. A line is written
// over itself there, which a printable.Writer does not let through. It has no text from outside.
func progressAt(c proc.Call) io.Writer {
	if !c.TTY().Err {
		return nil
	}
	return c.Err
}
