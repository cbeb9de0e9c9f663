package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// counted is what programs asked of the machine.
type counted struct {
	fsyncs, git, tmux int // by Orange itself
}

var (
	executed = regexp.MustCompile(`^execve\("([^"]+)".* = 0$`)
	begotten = regexp.MustCompile(`^(?:clone|clone3|fork|vfork)\(.*\) += (\d+)`)
	flushed  = regexp.MustCompile(`^(?:fsync|fdatasync)\(`)
)

// countTraces reads the files of strace -ff, one for each thread, and counts what Orange did: its own fsyncs, and the
// programs that it started. What its agents start does not count.
func countTraces(dir string) (counted, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return counted{}, err
	}
	traces := map[string][]string{}
	parents := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return counted{}, err
		}
		thread := strings.TrimPrefix(filepath.Ext(entry.Name()), ".")
		traces[thread] = strings.Split(string(text), "\n")
		for _, line := range traces[thread] {
			if child := begotten.FindStringSubmatch(line); child != nil {
				parents[child[1]] = thread
			}
		}
	}
	// program is what a thread runs at its end: what it executed last, or what its parent ran.
	var program func(thread string) string
	program = func(thread string) string {
		for i := len(traces[thread]) - 1; i >= 0; i-- {
			if found := executed.FindStringSubmatch(traces[thread][i]); found != nil {
				return filepath.Base(found[1])
			}
		}
		if parent := parents[thread]; parent != "" {
			return program(parent)
		}
		return ""
	}
	var out counted
	for thread, lines := range traces {
		now := ""
		if parent := parents[thread]; parent != "" {
			now = program(parent)
		}
		for _, line := range lines {
			if flushed.MatchString(line) && now == "orange" {
				out.fsyncs++
			}
			found := executed.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			next := filepath.Base(found[1])
			switch {
			case now == "orange" && next == "git":
				out.git++
			case now == "orange" && next == "tmux":
				out.tmux++
			}
			now = next
		}
	}
	return out, nil
}
