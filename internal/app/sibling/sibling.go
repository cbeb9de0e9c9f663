// Package sibling turns the running program into another one of Orange, which is in the same folder or on PATH.
package sibling

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/api/fleet"
	"orange/internal/run/proc"
	"orange/internal/store/home"
)

// The other programs of Orange.
const (
	server      = "orange-mcp"
	fleetServer = "orange-fleet"
)

// Serve turns this process into the server of tools. May is what the person allows besides. It returns only where
// that fails.
func Serve(call proc.Call, version string, may []string) error {
	if err := homeThere(call); err != nil {
		return err
	}
	self, program, err := find(call, server)
	if err != nil {
		return fmt.Errorf("cannot serve tools: the program %s belongs into the folder of %q or on PATH: %w; "+
			"\"make install\" installs both, \"make build\" builds both", server, self, err)
	}
	return proc.Become(proc.Command{Name: program, Args: []string{self, version, strings.Join(may, ",")}})
}

// homeThere refuses the usual home where it is missing and no one named another: a client that hands few variables on
// would make an empty one in silence, which is not the one that the person uses.
func homeThere(call proc.Call) error {
	dir, err := home.Locate(call.Getenv)
	if err != nil || call.Getenv("ORANGE_HOME") != "" {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot serve tools: there is no home of Orange at %q; if yours is elsewhere, have the "+
			"client set ORANGE_HOME for this server, else begin with: orange setup", dir)
	}
	return nil
}

// Fleet turns this process into the program that speaks with the server of a fleet, where the home has a fleet with
// one; done is false where it has none.
func Fleet(call proc.Call) func(args []string) (done bool, err error) {
	return func(args []string) (bool, error) {
		dir, err := home.Locate(call.Getenv)
		if err != nil {
			return false, err
		}
		f, err := fleet.Hosts{Home: dir}.Read()
		if err != nil || f.Server == "" {
			return false, nil // a command of the fleet says what is wrong with its file
		}
		_, program, err := find(call, fleetServer)
		if err != nil {
			return true, fmt.Errorf("cannot reach the fleet at %s: the program %s belongs into the folder of orange: "+
				"%w; \"make fleet\" builds it", f.Server, fleetServer, err)
		}
		return true, proc.Become(proc.Command{Name: program, Args: args})
	}
}

// find is the path of the running program, and that of another one in its folder, else on PATH.
func find(call proc.Call, name string) (self, other string, err error) {
	self, err = os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", "", fmt.Errorf("find the running program: %w", err)
	}
	if other, err = proc.Find(filepath.Join(filepath.Dir(self), name), ""); err != nil {
		if found, elsewhere := proc.Find(name, call.Getenv("PATH")); elsewhere == nil {
			return self, found, nil
		}
	}
	return self, other, err
}
