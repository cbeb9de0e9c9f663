// Package sibling turns the running program into the second one of Orange, which is in the same folder.
package sibling

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/proc"
)

const server = "orange-mcp"

// Serve turns this process into the server of tools. May is what the person allows besides. It returns only where
// that fails.
func Serve(version string, may []string) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	program, err := proc.Find(filepath.Join(filepath.Dir(self), server), "")
	if err != nil {
		return fmt.Errorf("cannot serve tools: the program %s belongs into the folder of %q: %w; "+
			"\"make install\" installs both, \"make build\" builds both", server, self, err)
	}
	return proc.Become(proc.Command{Name: program, Args: []string{self, version, strings.Join(may, ",")}})
}
