// Package sibling turns the running program into another one of Orange, which is in the same folder.
package sibling

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/fleet"
	"orange/internal/proc"
)

// The other programs of Orange.
const (
	server      = "orange-mcp"
	fleetServer = "orange-fleet"
)

// Serve turns this process into the server of tools. May is what the person allows besides. It returns only where
// that fails.
func Serve(version string, may []string) error {
	self, program, err := find(server)
	if err != nil {
		return fmt.Errorf("cannot serve tools: the program %s belongs into the folder of %q: %w; "+
			"\"make install\" installs both, \"make build\" builds both", server, self, err)
	}
	return proc.Become(proc.Command{Name: program, Args: []string{self, version, strings.Join(may, ",")}})
}

// Fleet turns this process into the program that speaks with the server of a fleet, where the home has a fleet with
// one; done is false where it has none.
func Fleet(homeDir func() (string, error)) func(args []string) (done bool, err error) {
	return func(args []string) (bool, error) {
		dir, err := homeDir()
		if err != nil {
			return false, err
		}
		f, err := fleet.Hosts{Home: dir}.Read()
		if err != nil || f.Server == "" {
			return false, nil // a command of the fleet says what is wrong with its file
		}
		_, program, err := find(fleetServer)
		if err != nil {
			return true, fmt.Errorf("cannot reach the fleet at %s: the program %s belongs into the folder of orange: "+
				"%w; \"make fleet\" builds it", f.Server, fleetServer, err)
		}
		return true, proc.Become(proc.Command{Name: program, Args: args})
	}
}

// find is the path of the running program, and that of another one in its folder.
func find(name string) (self, other string, err error) {
	self, err = os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", "", fmt.Errorf("find the running program: %w", err)
	}
	other, err = proc.Find(filepath.Join(filepath.Dir(self), name), "")
	return self, other, err
}
