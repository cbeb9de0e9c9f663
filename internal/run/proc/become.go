package proc

import (
	"fmt"
	"os"
	"syscall"
)

// Become replaces this process by the program, which has its number, its terminal, its open pipes, its folder and its
// environment. It returns only where that fails.
func Become(c Command) error {
	err := syscall.Exec(c.Name, append([]string{c.Name}, c.Args...), os.Environ())
	return fmt.Errorf("start %q: %w", c.Name, err)
}
