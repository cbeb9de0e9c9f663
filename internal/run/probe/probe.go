// Package probe finds out whether an agent program of this machine is what its harness file describes.
//
// It asks the program for its version and its help, and can start it once to see whether a prompt arrives. It owns no
// harness file, and changes none.
package probe

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/run/proc"
)

const (
	patience = 30 * time.Second // in which a program tells its version or its help: some of them take seconds
	mostSaid = 1 << 20
)

// Prober probes harnesses that it is asked for by name.
type Prober struct {
	Harness func(name string) (*harness.Harness, error)
	// Environ is the environment that programs are started in, from that of the one who asks.
	Environ func(own []string) func() proc.Environ
	Home    string // $ORANGE_HOME, below which programs are tried
}

// folder is the repository in which programs are tried and toy tasks done: one, so that a program asks once whether it
// is trusted.
func (p Prober) folder() string { return filepath.Join(p.Home, "try") }

// Toy makes that repository where it is missing, and answers its path.
func (p Prober) Toy(ctx context.Context) (string, error) {
	return p.folder(), repository(ctx, p.folder())
}

// Test probes one harness.
func (p Prober) Test(ctx context.Context, name string) (harness.Probed, error) {
	h, err := p.Harness(name)
	if err != nil {
		return harness.Probed{}, err
	}
	return Test(ctx, h)
}

// leaves is how long a program has to end whose window was closed.
const leaves = 15 * time.Second

// Test asks the program of a harness for its version and its help. That costs nothing, and changes nothing but what the
// program itself writes when it is asked.
func Test(ctx context.Context, h *harness.Harness) (harness.Probed, error) {
	r := harness.Probed{Harness: h.Name, Program: h.Program, Written: h.Version, Run: cmp.Or(h.Run, harness.NeverRun),
		Trust: h.Trust, Flags: []harness.Flag{}}
	path, err := proc.Find(h.Program, proc.Getenv(ctx, "PATH"))
	if err != nil {
		r.Trouble = err.Error()
		return r, nil
	}
	r.Path = path
	dir, err := os.MkdirTemp(proc.TempDir(ctx), "orange-harness") // some write into the folder that they are started in
	if err != nil {
		return r, fmt.Errorf("make a folder to ask %q in: %w", h.Program, err)
	}
	defer os.RemoveAll(dir)
	said, err := ask(ctx, dir, h, path, "--version")
	if err != nil {
		r.Trouble = err.Error()
		return r, ctx.Err()
	}
	r.Version = version(said)
	for _, used := range h.Usages() {
		help, err := ask(ctx, dir, h, path, append(used.Words[1:], "--help")...)
		if err != nil {
			r.Trouble = err.Error()
			return r, ctx.Err()
		}
		missing := used.Missing(help)
		for _, name := range used.Flags {
			r.Flags = append(r.Flags, harness.Flag{Command: strings.Join(used.Words, " "), Name: name,
				Found: !slices.Contains(missing, name)})
		}
	}
	return r, nil
}

// ask is what a program says to some arguments, on both of its outputs: help comes on either, and some end with a
// failure after it. The program gets the harness's variables, as when it is started.
func ask(ctx context.Context, dir string, h *harness.Harness, path string, args ...string) (string, error) {
	res, err := proc.RunLimited(ctx, proc.Command{Name: path, Args: args, Dir: dir, Env: h.Env, Unset: h.Unset},
		proc.Limits{Time: patience, Output: mostSaid})
	called := h.Program + " " + strings.Join(args, " ")
	switch {
	case err != nil:
		return "", err
	case res.TimedOut:
		return "", fmt.Errorf("%q did not end within %s", called, patience)
	case strings.TrimSpace(res.Output) == "":
		return "", fmt.Errorf("%q said nothing, and ended with status %d", called, res.Code)
	}
	return res.Output, nil
}

// version is the line in which a program says its version: the first one with a number and a dot, else the last one.
func version(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if numberPattern.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

var numberPattern = regexp.MustCompile(`\d\.\d`)
