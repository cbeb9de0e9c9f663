package arch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fleetQuiet lists the packages of the module fleet/ that only compute, each knowing only those before it and the quiet
// packages of the program.
func fleetQuiet() []string { return []string{"wire", "sign", "custody", "registry"} }

const server = "go.temporal.io/"

// fleetPackage is the package of the module fleet/ that a file belongs to; empty for a file outside of it.
func fleetPackage(f file) string {
	parts := strings.Split(filepath.ToSlash(f.path), "/")
	if parts[0] != "fleet" || len(parts) < 3 {
		return ""
	}
	return parts[1]
}

func TestTheRulesOfAFleetOnlyCompute(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, f := range sources(t) {
		here := slices.Index(fleetQuiet(), fleetPackage(f))
		if here < 0 || f.test {
			continue
		}
		found[fleetPackage(f)] = true
		for _, imported := range f.imports {
			name, program := strings.CutPrefix(imported, "orange/internal/")
			other, fleet := strings.CutPrefix(imported, "orange/fleet/")
			switch why, bad := forbidden()[imported]; {
			case bad:
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			case strings.HasPrefix(imported, server):
				t.Errorf("%s imports %q: the rules do not depend on a server", f.path, imported)
			case program && !slices.Contains(quiet(), name):
				t.Errorf("%s imports %q: it is no quiet package", f.path, imported)
			case fleet && !slices.Contains(fleetQuiet()[:here], other):
				t.Errorf("%s imports %q: it knows only %v", f.path, imported, fleetQuiet()[:here])
			}
		}
	}
	for _, name := range fleetQuiet() {
		if !found[name] {
			t.Errorf("there is no package fleet/%s: take it off the list", name)
		}
	}
}

// The program itself works without a server, and does not carry its library.
func TestOnlyTheFleetKnowsTheServer(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			inFleet := strings.HasPrefix(filepath.ToSlash(f.path), "fleet/")
			if !inFleet && (strings.HasPrefix(imported, server) || strings.HasPrefix(imported, "orange/fleet")) {
				t.Errorf("%s imports %q: only the module fleet/ does", f.path, imported)
			}
			if inFleet && !f.test && imported == "orange/fleet/testkit" {
				t.Errorf("%s imports %q: that is for tests", f.path, imported)
			}
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), server) {
			t.Errorf("%s names %s: only fleet/%s does", name, server, name)
		}
	}
}
