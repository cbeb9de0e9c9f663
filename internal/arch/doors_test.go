// Package arch holds the law of the house as tests: who may import whom, and how large things may grow.
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

// quiet lists the rooms that think, each knowing only those before it.
func quiet() []string {
	return []string{"lazyregexp", "printable", "action", "conflict", "diff", "task", "history", "record", "keyed",
		"signed", "custody", "stats", "document", "yaml", "answer", "workflow", "harness", "rejection", "leaving",
		"decide", "projection", "replay", "explore", "graph", "inbox"}
}

// The rooms that are tested without the race detector are those in which there is nothing for it to find.
func TestTheMakefileKnowsTheQuietRooms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nQUIET := " + strings.Join(quiet(), " ") + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("the Makefile has no line %q", strings.TrimSpace(want))
	}
}

// narrow lists what a quiet room may enter, where that is less than all before it.
func narrow() map[string][]string {
	return map[string][]string{
		"graph": {"task", "workflow"},
		"explore": {"lazyregexp", "action", "task", "history", "record", "document", "yaml", "workflow",
			"rejection", "decide"},
	}
}

// excused lists what a quiet room may import all the same, with the reason.
func excused() map[string]map[string]string {
	return map[string]map[string]string{
		"lazyregexp": {"sync": "an expression that is compiled once is the same for all who use it"},
	}
}

// leaves lists the loud packages that others may import, for their types: one pane, one process and one draft in the
// whole program. They know nothing of the packages that import them.
func leaves() []string { return []string{"proc", "tmux", "worktree", "forge"} }

// doors lists what a loud room may enter besides the quiet ones, with the reason.
func doors() map[string]map[string]string {
	return map[string]map[string]string{
		"follow":   {"mirror": "it has the system's notices that a file was written"},
		"simulate": {"engine": "its interfaces say what there is to simulate"},
	}
}

// support lists the rooms that only tests enter, with the reason why they may do what no other room does.
func support() map[string]string {
	return map[string]string{
		"conform":  "it runs the same commands of the program both ways",
		"mutation": "it has the go command run the tests of another room without one of its rules",
		"provider": "it serves agent programs on loopback",
	}
}

// forbidden lists what a quiet room must not import, with the reason.
func forbidden() map[string]string {
	const world = "a quiet room touches nothing outside its arguments"
	return map[string]string{
		"os": world, "os/exec": world, "os/signal": world, "io/fs": world, "io/ioutil": world, "net": world,
		"net/http":     world,
		"database/sql": world, "log": world, "log/slog": world, "embed": world, "path/filepath": world,
		"syscall": world,
		"context": "a quiet room never waits", "sync": "a quiet room is one thread of thought", "runtime": world,
		"math/rand": "dice come in as arguments", "math/rand/v2": "dice come in as arguments",
		"crypto/rand": "dice come in as arguments",
	}
}

// file is one Go source file with what it imports.
type file struct {
	path    string
	room    string // "decide", or "" outside internal
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
			f.room = parts[1]
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
		t.Fatalf("found %d Go files, expected the whole house", len(out))
	}
	return out
}

func TestQuietRoomsKnowOnlyTheQuietRoomsBeforeThem(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		here := slices.Index(quiet(), f.room)
		if here < 0 || f.test {
			continue
		}
		known := quiet()[:here]
		if few, ok := narrow()[f.room]; ok {
			known = few
		}
		for _, imported := range f.imports {
			if why, bad := forbidden()[imported]; bad && excused()[f.room][imported] == "" {
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			}
			room, own := strings.CutPrefix(imported, "orange/internal/")
			if own && !slices.Contains(known, room) {
				t.Errorf("%s imports %q: the room %q knows only %v", f.path, imported, f.room, known)
			}
		}
	}
}

func TestNoLoudRoomEntersAnotherButTheLeaves(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test || f.room == "" || f.room == "app" || slices.Contains(quiet(), f.room) {
			continue
		}
		for _, imported := range f.imports {
			room, own := strings.CutPrefix(imported, "orange/internal/")
			if room == f.room || strings.HasPrefix(room, f.room+"/") {
				continue // a part of the same room
			}
			_, allowed := doors()[f.room][room]
			// among the leaves, proc comes first
			allowed = allowed || slices.Contains(leaves(), room) &&
				(room == "proc" || !slices.Contains(leaves(), f.room))
			if own && !allowed && !slices.Contains(quiet(), room) {
				t.Errorf("%s imports %q: a loud room enters only quiet rooms and leaves; say what is needed "+
					"as an interface, and app hands it in", f.path, imported)
			}
		}
	}
}

// parts lists the packages below a room, in layers: a part enters only those of the layers before it.
func parts() map[string][][]string {
	return map[string][][]string{"dashboard": {{"screen"}, {"markdown", "highlight", "tasks", "settings"},
		{"list", "board", "detail", "review", "workspaces", "form", "elsewhere"}, {"command", "palette"}}}
}

func TestThePartsOfARoomKnowOnlyThePartsBeforeThem(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		layers := parts()[f.room]
		layer := func(part string) int {
			return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, part) })
		}
		path := strings.Split(filepath.ToSlash(f.path), "/") // internal, the room, the part, the file
		if f.room == "" || len(path) < 4 || f.test {
			continue
		}
		if layer(path[2]) < 0 && len(layers) > 0 {
			t.Errorf("%s: the part %q of the room %q is in no layer of parts()", f.path, path[2], f.room)
		}
		for _, imported := range f.imports {
			part, own := strings.CutPrefix(imported, "orange/internal/"+f.room)
			part = strings.TrimPrefix(part, "/")
			if own && (part == "" || len(layers) > 0 && layer(part) >= layer(path[2])) {
				t.Errorf("%s imports %q: a part enters only the parts before it", f.path, imported)
			}
		}
	}
}

func TestOnlyProcStartsPrograms(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		outside := strings.HasPrefix(filepath.ToSlash(f.path), "bench/") // it measures the whole program
		if !f.test && f.room != "proc" && support()[f.room] == "" && !outside && slices.Contains(f.imports, "os/exec") {
			t.Errorf("%s imports os/exec: proc is the only door to other programs", f.path)
		}
	}
}

func TestOnlyTestsEnterTheRoomsThatAreThereForThem(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[f.room] = true
		for _, imported := range f.imports {
			room, own := strings.CutPrefix(imported, "orange/internal/")
			if own && support()[room] != "" && !f.test {
				t.Errorf("%s imports %q: that is for tests", f.path, imported)
			}
			if support()[f.room] != "" && own {
				t.Errorf(
					"%s imports %q: a room for tests enters no other, so that every room's tests can enter it",
					f.path, imported)
			}
		}
	}
	for room := range support() {
		if !seen[room] {
			t.Errorf("there is no room %q: take it off the list", room)
		}
	}
}
