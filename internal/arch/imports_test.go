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
	return []string{"printable", "inherited", "shared", "action", "conflict", "diff", "task", "history", "record",
		"idempotency", "signed", "fencing", "stats", "document", "yaml", "api", "answer", "workflow", "passed",
		"harness", "rejection", "leaving", "edition", "decide", "projection", "replay", "explore", "graph", "inbox",
		"eventtext"}
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
		"graph": {"task", "workflow"},
		"explore": {"action", "task", "passed", "history", "record", "document", "yaml", "workflow",
			"rejection", "decide"},
	}
}

// leaves lists the loud packages that others may import, for their types: one pane, one process and one draft in the
// whole program. They know nothing of the packages that import them.
func leaves() []string { return []string{"proc", "tmux", "worktree", "forge"} }

// allowed lists what a loud package may import besides the quiet ones and the leaves, with the reason.
func allowed() map[string]map[string]string {
	return map[string]map[string]string{
		"follow":   {"mirror": "it has the system's notices that a file was written"},
		"simulate": {"engine": "its interfaces say what there is to simulate"},
	}
}

// support lists the packages that only tests import, with the reason why they may do what no other package does.
func support() map[string]string {
	return map[string]string{
		"conform":  "it runs the same commands of the program both ways",
		"provider": "it serves agent programs on loopback",
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
	pkg     string // "decide", or "" outside internal
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
			f.pkg = parts[1]
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

func TestNoLoudPackageImportsAnotherButTheLeaves(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test || f.pkg == "" || f.pkg == "app" || slices.Contains(quiet(), f.pkg) {
			continue
		}
		for _, imported := range f.imports {
			name, own := strings.CutPrefix(imported, "orange/internal/")
			if name == f.pkg || strings.HasPrefix(name, f.pkg+"/") {
				continue // a part of the same package
			}
			_, fine := allowed()[f.pkg][name]
			// among the leaves, proc comes first
			fine = fine || slices.Contains(leaves(), name) &&
				(name == "proc" || !slices.Contains(leaves(), f.pkg))
			if own && !fine && !slices.Contains(quiet(), name) {
				t.Errorf("%s imports %q: a loud package imports only quiet ones and leaves; say what is needed "+
					"as an interface, and app hands it in", f.path, imported)
			}
		}
	}
}

// parts lists the packages below another one, in layers: a part imports only those of the layers before it.
func parts() map[string][][]string {
	return map[string][][]string{"dashboard": {{"screen"}, {"markdown", "highlight", "tasks", "settings"},
		{"list", "board", "detail", "review", "workspaces", "form", "elsewhere"}, {"command", "palette"}}}
}

func TestThePartsOfAPackageImportOnlyThePartsBeforeThem(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		layers := parts()[f.pkg]
		layer := func(part string) int {
			return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, part) })
		}
		path := strings.Split(filepath.ToSlash(f.path), "/") // internal, the package, the part, the file
		if f.pkg == "" || len(path) < 4 || f.test {
			continue
		}
		if layer(path[2]) < 0 && len(layers) > 0 {
			t.Errorf("%s: the part %q of the package %q is in no layer of parts()", f.path, path[2], f.pkg)
		}
		for _, imported := range f.imports {
			part, own := strings.CutPrefix(imported, "orange/internal/"+f.pkg)
			part = strings.TrimPrefix(part, "/")
			if own && (part == "" || len(layers) > 0 && layer(part) >= layer(path[2])) {
				t.Errorf("%s imports %q: a part imports only the parts before it", f.path, imported)
			}
		}
	}
}

func TestOnlyProcStartsPrograms(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		outside := strings.HasPrefix(filepath.ToSlash(f.path), "bench/") // it measures the whole program
		if !f.test && f.pkg != "proc" && support()[f.pkg] == "" && !outside && slices.Contains(f.imports, "os/exec") {
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
