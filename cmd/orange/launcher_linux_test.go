package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/harness"
)

// What stays of Orange with each agent. A Go program that does nothing but wait for another one and catch signals has
// 5 to 7 threads, and some more on a machine that is busy, 11 at most as yet: two of them are there for the signals
// alone.
const (
	launcherMemory  = 3200 // kB that no other process shares; mostly 2,200
	launcherThreads = 16
)

func TestAnAgentsLauncherIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := filepath.Join(w.dir, "orange", "launch")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var launchers []*exec.Cmd
	for hook := range 2 { // what two launchers have in common is not counted
		launchers = append(launchers, w.launch(folder, hook))
	}
	w.until("the agents run", func() bool {
		running, err := filepath.Glob(filepath.Join(folder, "*.runs"))
		return err == nil && len(running) == len(launchers)
	})
	for _, launcher := range launchers {
		memory, threads := privateMemory(t, launcher.Process.Pid), threadsOf(t, launcher.Process.Pid)
		t.Logf("%d kB, %d threads", memory, threads)
		if memory > launcherMemory || threads > launcherThreads {
			t.Errorf("a launcher has %d kB and %d threads, want at most %d and %d", memory, threads, launcherMemory,
				launcherThreads)
		}
	}
	for hook, launcher := range launchers {
		if err := launcher.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = launcher.Wait()
		note, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(hook, ".exit")))
		if err != nil || !strings.Contains(string(note), `"signal":15`) {
			t.Errorf("the note is %q (%v)", note, err)
		}
	}
}

// launch starts a launcher whose agent sleeps, and makes a file once it does.
func (w *world) launch(folder string, hook int) *exec.Cmd {
	w.t.Helper()
	runs := filepath.Join(folder, fmt.Sprint(hook, ".runs"))
	text, err := json.Marshal(harness.Ticket{Home: filepath.Join(w.dir, "orange"), Task: "abc", Dir: w.dir,
		Argv: []string{"sh", "-c", `: >"$0"; exec sleep 600`, runs}, Exit: filepath.Join(folder, fmt.Sprint(hook, ".exit"))})
	if err != nil {
		w.t.Fatal(err)
	}
	ticket := filepath.Join(folder, fmt.Sprint(hook, ".json"))
	if err := os.WriteFile(ticket, text, 0o600); err != nil {
		w.t.Fatal(err)
	}
	launcher := exec.Command(filepath.Join(built.dir, "orange"), "launch", ticket)
	launcher.Env, launcher.Dir = w.env, w.dir
	launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := launcher.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = syscall.Kill(-launcher.Process.Pid, syscall.SIGKILL) })
	return launcher
}

func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-late:
			w.t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

// privateMemory is what of a process's memory no other process shares, in kilobytes.
func privateMemory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "Private_") {
			kilobytes, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			sum += kilobytes
		}
	}
	return sum
}

func threadsOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
