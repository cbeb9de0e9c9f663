package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// waitsOfALife is how often the life of a task waits for the disk today, by what is flushed: it is created, planned,
// reviewed twice and merged. docs/reliability.md says what has to wait. Lower a number when it gets lower; a feature
// that needs more of them names itself here.
func waitsOfALife() map[string]int {
	return map[string]int{
		"the log of commits": 21,
		// SQLite flushes it with the first commit of each process, though the log was there before
		"the folder of the log of commits": 14,
		"the record":                       3, // the log has grown, or its last reader leaves
		"a text that a decision rests on":  8,
		"the folder of such texts":         5,
		"TASK.md":                          1,
		"the workflow of the task":         1,
		"the note of a workspace":          1,
		"the note of what worktrees share": 2, // before Orange has made its own settings for the first one, and after
		"what the home has once":           2, // how programs are found, and the configuration of tmux
	}
}

func TestALifeWaitsForTheDiskAsOftenAsItDoesToday(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs strace, and make test-all installs that")
	}
	// It runs alone: on a busy machine a worker waits too late more often than not.
	if err := exec.Command("strace", "-f", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("strace does not work here: %v", err)
	}
	most := waitsOfALife()
	var said []string
	for range 3 { // on a busy machine a worker may wait too late, and Orange types
		found := waitsOf(t)
		said = nil
		t.Logf("found %v", found)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if found[name] > most[name] {
				said = append(said, fmt.Sprintf("%s: %d times, at most %d are expected", name, found[name], most[name]))
			}
		}
		if len(said) == 0 {
			return
		}
	}
	t.Errorf("the life of a task waited for the disk:\n%s", strings.Join(said, "\n"))
}

// waitsOf plays the life of a task and counts what Orange flushes in it.
func waitsOf(t *testing.T) map[string]int {
	t.Helper()
	w := newWorld(t)
	agent, err := filepath.Abs("../../demo/agent")
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("{command: [%q, \"{prompt_file}\"]}\n", agent)
	w.write("orange/harnesses/scripted.yml", "name: scripted\nworker: "+line+"reviewer: "+line)
	traces := [2]string{filepath.Join(w.dir, "born"), filepath.Join(w.dir, "merged")}
	flushes := func(trace string) []string {
		return []string{"-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", trace,
			filepath.Join(built.dir, "orange")}
	}
	// All that it starts is watched too, and so it ends with the terminal server.
	born := exec.Command("strace", append(flushes(traces[0]), "task", "create", "life", "A life", "--harness",
		"scripted", "--json")...)
	born.Dir, born.Env = w.repo, w.env
	out, err := born.StdoutPipe()
	if err == nil {
		err = born.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Task struct{ ID string } }
	if err := json.NewDecoder(out).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	w.must("orange", "task", "wait", answer.Task.ID, "--timeout", "60s")
	w.must("strace", append(flushes(traces[1]), "task", "merge", answer.Task.ID, "--local")...)
	if err := born.Wait(); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, trace := range traces {
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range regexp.MustCompile(`f(?:data)?sync\(\d+<([^>]*)>`).FindAllStringSubmatch(string(text), -1) {
			if path, own := strings.CutPrefix(call[1], filepath.Join(w.dir, "orange")); own {
				found[whatIsFlushed(path)]++
			}
		}
	}
	return found
}

// whatIsFlushed names a file below the home.
func whatIsFlushed(path string) string {
	switch folder, file := filepath.Split(path); {
	case path == "":
		return "the folder of the log of commits"
	case path == "/orange.db-wal":
		return "the log of commits"
	case path == "/orange.db":
		return "the record"
	case file == "evidence":
		return "the folder of such texts"
	case strings.HasSuffix(folder, "/evidence/"):
		return "a text that a decision rests on"
	case strings.HasPrefix(file, ".TASK.md."):
		return "TASK.md"
	case strings.HasPrefix(path, "/workflows/.kept/"):
		return "the workflow of the task"
	case strings.HasPrefix(path, "/workspaces/.shared/"):
		return "the note of what worktrees share"
	case strings.HasPrefix(path, "/workspaces/.prepared/"):
		return "the note of a workspace"
	case strings.HasPrefix(path, "/.bearings.json."), strings.HasPrefix(path, "/.tmux.conf."):
		return "what the home has once"
	}
	return path
}
