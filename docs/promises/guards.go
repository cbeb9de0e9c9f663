package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guard is a test, or a file that a test tells, by the name that the pages use.
type guard struct {
	name string
	long bool   // runs with ORANGE_TEST_LONG only
	run  string // the command that runs it
}

// told is how the program follows a row of a document.
type told struct {
	kind  string // one of kinds; empty where the row begins with no such word
	gate  string // of a row that is a move
	words string
}

// kinds are how the program can follow a row, and a promise that rests on one of the others than the first is not kept
// to the letter.
func kinds() []string { return []string{asWritten, "stricter", "added", "otherwise"} }

const asWritten = "as written"

var ofADocument = regexp.MustCompile(`^\d{3}/`)

func howTold(name string, cells []string) told {
	const move, decided, gate = 7, 2, 4
	out := told{}
	if len(cells) == move && strings.Contains(name, "->") {
		out.words, out.gate = strings.Trim(cells[len(cells)-1], " |"), cells[gate]
	} else if len(cells) > decided {
		out.words = strings.TrimSpace(cells[decided])
	}
	for _, kind := range kinds() {
		if strings.HasPrefix(out.words, kind) {
			out.kind = kind
		}
	}
	return out
}

// repository is what the pages name: the rows of docs/conformance.md and the tests of the tree.
type repository struct {
	root  string
	rows  map[string]string   // name of a row -> the cell that says what guards it
	told  map[string]told     // name of a row of a document -> how the program follows it
	tests map[string][]string // name of a test -> the packages that have it
}

var (
	stories = regexp.MustCompile("(?:story|stories) (`[A-Za-z_0-9.-]+`(?:,? and |, )?)+")
	rowName = regexp.MustCompile(`^((\d{3}|about|build|default|classic|phases|fleet)/|9\.\d+$)`)
	testFn  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// places are the folders of what is no Go function, with what the pages leave out of the file's name and the
// command that runs one.
func places() []struct{ folder, ending, run string } {
	return []struct{ folder, ending, run string }{
		{"internal/decide/testdata/stories", "",
			"go test ./internal/decide -run 'TestEveryStoryEndsAsItIsWritten/^%s$'"},
		{"internal/workflow/testdata/err", "",
			"go test ./internal/workflow -run 'TestEveryMistakeIsToldAtItsPlace/^%s$'"},
		{"cmd/orange/testdata/script", ".txtar", "go test ./cmd/orange -run 'TestStories/^%s$'"},
		{"cmd/orange/testdata/fleet", ".txtar", "go test ./cmd/orange -run 'TestFleetStories/^%s$'"},
		{longFolder, ".txtar", "ORANGE_TEST_LONG=1 go test ./cmd/orange -run 'TestLongStories/^%s$'"},
	}
}

const longFolder = "cmd/orange/testdata/long"

func openRepository(root string) (*repository, error) {
	r := &repository{root: root, rows: map[string]string{}, told: map[string]told{}, tests: map[string][]string{}}
	page, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		return nil, fmt.Errorf("read what became of the documents: %w", err)
	}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		name := strings.Trim(cells[0], " `")
		if strings.HasPrefix(line, "| `") && ofADocument.MatchString(name) {
			r.told[name] = howTold(name, cells)
		}
		switch {
		case !strings.HasPrefix(line, "| `") || !rowName.MatchString(name):
		case strings.Contains(name, "->"):
			r.rows[name] = "`" + strings.NewReplacer("/", "-", "->", "-to-").Replace(name) + ".txt`"
		default:
			if _, twice := r.rows[name]; twice {
				return nil, fmt.Errorf("docs/conformance.md has two rows %q: join them, or give one another name", name)
			}
			r.rows[name] = strings.TrimSpace(cells[len(cells)-1])
		}
	}
	for _, top := range []string{"internal", "cmd", "workflows", "fleet"} {
		if err := filepath.WalkDir(filepath.Join(root, top), r.readTests); err != nil {
			return nil, fmt.Errorf("read the names of the tests: %w", err)
		}
	}
	return r, nil
}

func (r *repository) readTests(path string, _ fs.DirEntry, err error) error {
	if err != nil || !strings.HasSuffix(path, "_test.go") {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(r.root, filepath.Dir(path))
	for _, match := range testFn.FindAllStringSubmatch(string(text), -1) {
		r.tests[match[1]] = append(r.tests[match[1]], "./"+filepath.ToSlash(folder))
	}
	return err
}

// named are the names of rows, tests, stories and files of tests in a text.
func named(text string) []string {
	var out []string
	for _, told := range stories.FindAllString(text, -1) {
		for _, match := range quoted.FindAllStringSubmatch(told, -1) {
			out = append(out, match[1])
		}
	}
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		name := match[1]
		aFile := (strings.HasSuffix(name, ".txt") || strings.HasPrefix(name, "rule-")) && !strings.Contains(name, "/")
		if strings.HasPrefix(name, "Test") || aFile || rowName.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
}

// guards are the tests that a text names, those of the rows that it names among them.
func (r *repository) guards(text string) (out []guard, unknown []string) {
	for _, name := range named(text) {
		if cell, isRow := r.rows[name]; isRow {
			more, less := r.guards(cell)
			out, unknown = append(out, more...), append(unknown, less...)
			continue
		}
		found := r.guard(name)
		if len(found) == 0 {
			unknown = append(unknown, name)
		}
		for _, g := range found {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out, unknown
}

func (r *repository) guard(name string) []guard {
	var out []guard
	for _, folder := range r.tests[name] {
		run := "go test " + folder
		if inside, is := strings.CutPrefix(folder, "./fleet/"); is { // a module of its own
			run = "go -C fleet test ./" + inside
		}
		out = append(out, guard{name: name, run: fmt.Sprintf("%s -run '^%s$'", run, name)})
	}
	for _, p := range places() {
		info, err := os.Stat(filepath.Join(r.root, p.folder, name+p.ending))
		if err == nil && info.Mode().IsRegular() {
			out = append(out, guard{name: name, long: p.folder == longFolder,
				run: fmt.Sprintf(p.run, strings.TrimSuffix(strings.TrimSuffix(name, ".txt"), ".yml"))})
		}
	}
	return out
}

// onlyLong are the long stories without which a row of either page has no guard at all.
func (r *repository) onlyLong(rows []row) []string {
	cells := maps.Clone(r.rows)
	for _, one := range rows {
		if one.became == kept {
			cells[fmt.Sprint(one.line)] = one.why
		}
	}
	var out []string
	for _, cell := range cells {
		found, _ := r.guards(cell)
		if slices.ContainsFunc(found, func(g guard) bool { return !g.long }) {
			continue
		}
		for _, g := range found {
			out = append(out, g.name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
