// Package arch holds the rules of the repository as tests: which package may import which, and how large things may
// grow.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// quiet lists the packages that only compute, each importing only those before it.
func quiet() []string {
	return []string{"rules/printable", "rules/envfilter", "rules/gitconfig", "rules/action", "rules/conflict",
		"rules/diff", "rules/task", "rules/history", "rules/record", "rules/idempotency", "rules/signed",
		"rules/stats", "rules/document", "rules/yaml", "api", "api/remote", "rules/workflow",
		"rules/guarantee", "rules/harness", "rules/rejection", "rules/fencing", "rules/edition", "rules/decide",
		"rules/projection", "proof/replay", "proof/explore", "proof/graph", "rules/inbox", "rules/eventtext"}
}

// floors lists the folders of internal, from the ground up. A loud package imports those of its own floor and of the
// floors below, and quiet ones of any.
func floors() []string {
	return []string{"rules", "run", "work", "store", "engine", "proof", "api", "ui", "app"}
}

// The packages that are tested without the race detector are those in which there is nothing for it to find.
func TestTheMakefileKnowsTheQuietPackages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nQUIET := " + strings.Join(quiet(), " ") + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("the Makefile has no line %q", strings.TrimSpace(want))
	}
}

// narrow lists what a quiet package may import, where that is less than all before it.
func narrow() map[string][]string {
	return map[string][]string{
		"proof/graph": {"rules/task", "rules/workflow"},
		"proof/explore": {"rules/action", "rules/task", "rules/guarantee", "rules/history", "rules/record",
			"rules/document", "rules/yaml", "rules/workflow", "rules/rejection", "rules/decide"},
	}
}

// support lists the packages that only tests import, with the reason why they may do what no other package does.
func support() map[string]string {
	return map[string]string{
		"testkit/parity":   "it runs the same commands of the program both ways",
		"testkit/provider": "it serves agent programs on loopback",
	}
}

// forbidden lists what a quiet package must not import, with the reason.
func forbidden() map[string]string {
	const world = "a quiet package touches nothing outside its arguments"
	return map[string]string{
		"os": world, "os/exec": world, "os/signal": world, "io/fs": world, "io/ioutil": world, "net": world,
		"net/http":     world,
		"database/sql": world, "log": world, "log/slog": world, "embed": world, "path/filepath": world,
		"syscall": world,
		"context": "a quiet package never waits", "sync": "a quiet package has one thread", "runtime": world,
		"math/rand": "dice come in as arguments", "math/rand/v2": "dice come in as arguments",
		"crypto/rand": "dice come in as arguments",
	}
}

// file is one Go source file with what it imports.
type file struct {
	path    string
	floor   string // "rules", or "" outside internal
	pkg     string // "rules/decide", "engine", or "" outside internal; a part of a package counts as that package
	test    bool
	imports []string
}

func sources(t *testing.T) []file {
	t.Helper()
	var out []file
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" ||
			name == "testdata" || name == "tools") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f := file{path: relative, test: strings.HasSuffix(name, "_test.go")}
		if parts := strings.Split(filepath.ToSlash(relative), "/"); parts[0] == "internal" {
			f.floor, f.pkg = parts[1], packageOf(parts[1:len(parts)-1])
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("found %d Go files, expected the whole repository", len(out))
	}
	return out
}

// packageOf is the package that a folder below internal belongs to.
func packageOf(folders []string) string {
	if folders[0] == "app" && len(folders) > 1 && !slices.Contains([]string{"doctor", "install"}, folders[1]) {
		return "app"
	}
	return strings.Join(folders[:min(len(folders), 2)], "/")
}

func TestQuietPackagesImportOnlyTheQuietOnesBeforeThem(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		here := slices.Index(quiet(), f.pkg)
		if here < 0 || f.test {
			continue
		}
		known := quiet()[:here]
		if few, ok := narrow()[f.pkg]; ok {
			known = few
		}
		for _, imported := range f.imports {
			if why, bad := forbidden()[imported]; bad {
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			}
			name, own := strings.CutPrefix(imported, "orange/internal/")
			if own && !slices.Contains(known, name) {
				t.Errorf("%s imports %q: the package %q may import only %v", f.path, imported, f.pkg, known)
			}
		}
	}
}

func TestImportsBetweenFloorsPointDown(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		here := slices.Index(floors(), f.floor)
		if f.test || f.floor == "" || f.floor == "arch" || f.floor == "testkit" {
			continue
		}
		if here < 0 {
			t.Errorf("%s is on no floor: floors() lists them", f.path)
		}
		for _, imported := range f.imports {
			name, own := strings.CutPrefix(imported, "orange/internal/")
			floor, _, _ := strings.Cut(name, "/")
			if own && !slices.Contains(quiet(), name) && slices.Index(floors(), floor) > here {
				t.Errorf("%s imports %q, which is on a higher floor", f.path, imported)
			}
		}
	}
}

func TestTheRulesAreQuiet(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.floor == "rules" && f.pkg != "rules" && !slices.Contains(quiet(), f.pkg) {
			t.Errorf("%s: a package below rules only computes, and quiet() lists it", f.path)
		}
	}
}

// parts lists the packages below another one, in layers: a part imports only those of the layers before it.
func parts() map[string][][]string {
	return map[string][][]string{"ui/dashboard": {{"screen"}, {"markdown", "highlight", "tasks", "settings"},
		{"list", "board", "detail", "review", "workspaces", "form", "elsewhere"}, {"command", "palette"}}}
}

func TestThePartsOfAPackageImportOnlyThePartsBeforeThem(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		layers := parts()[f.pkg]
		layer := func(part string) int {
			return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, part) })
		}
		path := strings.Split(filepath.ToSlash(f.path), "/") // internal, the floor, the package, the part, the file
		if layers == nil || len(path) < 5 || f.test {
			continue
		}
		if layer(path[3]) < 0 {
			t.Errorf("%s: the part %q of the package %q is in no layer of parts()", f.path, path[3], f.pkg)
		}
		for _, imported := range f.imports {
			part, own := strings.CutPrefix(imported, "orange/internal/"+f.pkg)
			part = strings.TrimPrefix(part, "/")
			if own && (part == "" || layer(part) >= layer(path[3])) {
				t.Errorf("%s imports %q: a part imports only the parts before it", f.path, imported)
			}
		}
	}
}

func TestOnlyProcStartsPrograms(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		outside := strings.HasPrefix(filepath.ToSlash(f.path), "bench/") // it measures the whole program
		may := f.test || f.pkg == "run/proc" || support()[f.pkg] != "" || outside
		if !may && slices.Contains(f.imports, "os/exec") {
			t.Errorf("%s imports os/exec: only proc starts other programs", f.path)
		}
	}
}

func TestOnlyTestsImportThePackagesThatAreThereForThem(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[f.pkg] = true
		for _, imported := range f.imports {
			name, own := strings.CutPrefix(imported, "orange/internal/")
			if own && support()[name] != "" && !f.test {
				t.Errorf("%s imports %q: that is for tests", f.path, imported)
			}
			if support()[f.pkg] != "" && own {
				t.Errorf(
					"%s imports %q: a package for tests imports no other: the tests of every package may import it",
					f.path, imported)
			}
		}
	}
	for name := range support() {
		if !seen[name] {
			t.Errorf("there is no package %q: take it off the list", name)
		}
	}
}
