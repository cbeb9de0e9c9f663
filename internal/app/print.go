package app

import (
	"os"

	"orange/internal/printable"
)

// results is the standard output, and talk the standard error, of everything that is printed for people and programs.
func results() *printable.Writer { return printable.NewWriter(os.Stdout) }

func talk() *printable.Writer { return printable.NewWriter(os.Stderr) }
