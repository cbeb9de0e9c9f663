// Command bench measures Orange against what it is built on and against others, and prints one table of ratios.
//
// Whole processes run in turn, ours and the other one, and a ratio is taken pair by pair: it is the median of these,
// and behind it in brackets the middle half. An absolute time depends on the machine and is only told on the side.
// Everything happens in a temporary folder with a HOME and terminal servers of its own.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

func main() {
	only := flag.String("run", "", "measure only the groups that this regular expression finds")
	page := flag.String("write", "", "the page that the table is written into")
	flag.Parse()
	if err := bench(*only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// group measures some rows that share their preparation.
type group struct {
	name    string
	measure func(*lab) ([]row, error)
}

func groups() []group {
	return []group{
		{"start", start}, {"update", updates}, {"watched", watched}, {"list", lists}, {"writers", writers},
		{"gate", gate}, {"life", life}, {"agents", agents}, {"spawn", spawns}, {"confined", confined},
		{"death", death}, {"warm", warm}, {"dashboard", dashboard}, {"check", checks}, {"whole", whole},
		{"binary", binary}, {"decision", decisions}, {"parse", parses},
	}
}

func bench(only, page string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	l, err := newLab()
	if err != nil {
		return err
	}
	defer l.clean()
	var rows []row
	for _, g := range groups() {
		if !chosen.MatchString(g.name) {
			continue
		}
		began := time.Now()
		found, err := g.measure(l)
		if err != nil {
			found = append(found, absent(g.name, "", err))
		}
		rows = append(rows, found...)
		fmt.Fprintf(os.Stderr, "%s: %d rows in %s\n", g.name, len(found), time.Since(began).Round(time.Second))
		printTable(os.Stderr, found)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n\n", time.Now().UTC().Format(time.DateOnly), machine())
	printTable(&b, rows)
	fmt.Print(b.String())
	if page == "" {
		return nil
	}
	return replace(page, b.String())
}

// machine tells what was measured on.
func machine() string {
	text := fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, program := range [][]string{{"git", "--version"}, {"tmux", "-V"}} {
		if said, err := exec.Command(program[0], program[1:]...).Output(); err == nil {
			text += ", " + firstLine(string(said))
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load " + strings.Fields(string(load))[1] + " at the end"
	}
	return text
}

// lab is a temporary folder with the programs to be measured.
type lab struct {
	dir    string
	root   string // of the repository of Orange
	orange string
	homes  map[string]*home
}

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "orange-bench")
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, root: filepath.Dir(here), orange: filepath.Join(dir, "bin", "orange"),
		homes: map[string]*home{}}
	for _, build := range [][]string{
		{l.root, "./cmd/orange", "orange"}, {here, "./floor/empty", "empty"}, {here, "./floor/commit", "commit"},
	} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", l.program(build[2]), build[1])
		cmd.Dir, cmd.Env = build[0], append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			l.clean()
			return nil, fmt.Errorf("build %s: %w: %s", build[1], err, said)
		}
	}
	return l, nil
}

func (l *lab) program(name string) string { return filepath.Join(l.dir, "bin", name) }

// clean ends the terminal servers of the lab and takes its folder away.
func (l *lab) clean() {
	for _, h := range l.homes {
		h.end()
	}
	_ = os.RemoveAll(l.dir)
}
