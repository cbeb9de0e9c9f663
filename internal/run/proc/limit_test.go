package proc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// eat uses that many MiB of memory, and says so.
func eat(argument string) {
	megabytes, err := strconv.Atoi(argument)
	if err != nil {
		os.Exit(2)
	}
	var kept [][]byte
	for range megabytes {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		kept = append(kept, block)
	}
	<-time.After(time.Duration(len(kept)) * time.Millisecond * 10)
	os.Exit(0)
}

// flood prints that many MiB.
func flood(argument string) {
	megabytes, err := strconv.Atoi(argument)
	if err != nil {
		os.Exit(2)
	}
	block := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	for range megabytes {
		if _, err := os.Stdout.Write(block); err != nil {
			os.Exit(1)
		}
	}
	_, _ = os.Stderr.WriteString("the end\n")
}

func part(name string) proc.Command {
	return proc.Command{Name: os.Args[0], Env: []string{partVariable + "=" + name}}
}

func shell(script string) proc.Command {
	return proc.Command{Name: "sh", Args: []string{"-c", script}}
}

func TestRunLimited_tellsTheStatusAndBothOutputs(t *testing.T) {
	t.Parallel()
	got, err := proc.RunLimited(t.Context(), shell("echo out; echo why >&2; exit 3"), proc.Limits{
		Time: time.Minute, Output: 1 << 10})
	must(t, err)
	if got.Took <= 0 {
		t.Errorf("it took %v", got.Took)
	}
	got.Took = 0
	if want := (proc.LimitedResult{Code: 3, Output: "out\nwhy\n"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c := shell(`cat; echo "$ONLY$HOME"`)
	c.Stdin, c.Base = strings.NewReader("in\n"), []string{"ONLY=this", "PATH=" + os.Getenv("PATH")}
	got, err = proc.RunLimited(t.Context(), c, proc.Limits{Output: 1 << 10})
	must(t, err)
	if got.Output != "in\nthis\n" {
		t.Errorf("it said %q", got.Output)
	}
}

func TestRunLimited_tellsTheSignalThatEndedIt(t *testing.T) {
	t.Parallel()
	got, err := proc.RunLimited(t.Context(), shell("kill -9 $$"), proc.Limits{})
	must(t, err)
	if got.Signal != 9 || got.Code != 137 || got.TimedOut {
		t.Errorf("got %+v", got)
	}
}

func TestRunLimited_ofWhatCannotBeStartedIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []proc.Command{{Name: "no-such-program-anywhere"}, {Name: t.TempDir()},
		{Name: "sh", Dir: "/no/such/folder"}} {
		if _, err := proc.RunLimited(t.Context(), c, proc.Limits{}); err == nil {
			t.Errorf("%q was started", c.Name)
		}
	}
}

func TestRunLimited_endsWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	// What it starts is ended with it, also what a shell with job control put into a group of its own.
	got, err := proc.RunLimited(t.Context(), shell(`set -m; sleep 61 & echo $! > "`+path+`"; wait`), proc.Limits{
		Time: 300 * time.Millisecond, Output: 10})
	must(t, err)
	if !got.TimedOut || got.Signal != int(syscall.SIGTERM) {
		t.Errorf("got %+v", got)
	}
	wantNoProcess(t, path)
}

func TestRunLimited_killsWhatIgnoresTheTerm(t *testing.T) {
	t.Parallel()
	got, err := proc.RunLimited(t.Context(), part("stubborn "+filepath.Join(t.TempDir(), "pid")), proc.Limits{
		Time: 300 * time.Millisecond})
	must(t, err)
	if !got.TimedOut || got.Signal != int(syscall.SIGKILL) {
		t.Errorf("got %+v", got)
	}
}

func TestRunLimited_keepsTheEndOfAnEndlessText(t *testing.T) {
	t.Parallel()
	const megabytes = 1024
	got, err := proc.RunLimited(t.Context(), part("flood "+strconv.Itoa(megabytes)), proc.Limits{
		Time: time.Minute, Output: 64 << 10})
	must(t, err)
	if !got.Cut || len(got.Output) != 64<<10 || !strings.HasSuffix(got.Output, "abcdef"+"the end\n") || got.Code != 0 {
		t.Errorf("got %d bytes, cut %t, status %d, the end %q", len(got.Output), got.Cut, got.Code,
			got.Output[max(0, len(got.Output)-20):])
	}
	got, err = proc.RunLimited(t.Context(), proc.Command{Name: "yes", Args: []string{"ü"}}, proc.Limits{
		Time: 100 * time.Millisecond, Output: 9})
	must(t, err)
	if !got.Cut || !got.TimedOut || len(got.Output) < 6 || !strings.Contains(got.Output, "ü\n") ||
		strings.ContainsRune(got.Output, '\uFFFD') {
		t.Errorf("got %+v", got)
	}
}

func TestRunLimited_endsWhatEatsTheMemory(t *testing.T) {
	t.Parallel()
	got, err := proc.RunLimited(t.Context(), part("eat 400"), proc.Limits{Time: time.Minute, Memory: 100 << 20})
	must(t, err)
	if !got.OutOfMemory || got.TimedOut || got.Signal == 0 {
		t.Errorf("got %+v", got)
	}
	got, err = proc.RunLimited(t.Context(), part("eat 40"), proc.Limits{Time: time.Minute, Memory: 1 << 30})
	must(t, err)
	if got.OutOfMemory || got.Code != 0 {
		t.Errorf("below its limit: got %+v", got)
	}
}

func TestRunLimited_addsUpTheMemoryOfAllThatItStarted(t *testing.T) {
	t.Parallel()
	c := part("eat 80")
	c.Args, c.Name = []string{"-c", `"$0" & "$0" & "$0" & wait`, os.Args[0]}, "sh"
	got, err := proc.RunLimited(t.Context(), c, proc.Limits{Time: time.Minute, Memory: 150 << 20})
	must(t, err)
	if !got.OutOfMemory {
		t.Errorf("got %+v", got)
	}
}

func TestRunLimited_doesNotWaitForWhoKeepsItsOutputOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	got, err := proc.RunLimited(t.Context(), shell(`sleep 61 & echo $! > "`+path+`"; echo done`), proc.Limits{
		Time: time.Minute, Output: 100})
	must(t, err)
	if got.Output != "done\n" || got.Code != 0 || got.TimedOut {
		t.Errorf("got %+v", got)
	}
	wantNoProcess(t, path)
}

func TestRunLimited_doesNotWaitForWhoHasLeftItsSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	c := part("keeper " + path)
	c.Name, c.Args = "sh", []string{"-c", `"$0"; until test -f "$1"; do :; done; echo done`, os.Args[0], path}
	got, err := proc.RunLimited(t.Context(), c, proc.Limits{Time: time.Minute, Output: 100})
	must(t, err)
	announced(t, path) // ended after the test
	if got.Output != "done\n" || got.Code != 0 || got.TimedOut {
		t.Errorf("got %+v", got)
	}
}

func TestRunLimited_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := proc.RunLimited(ctx, proc.Command{Name: "sleep", Args: []string{"61"}}, proc.Limits{Time: time.Minute})
	if !errors.Is(err, context.DeadlineExceeded) || got.Signal != int(syscall.SIGTERM) || got.TimedOut {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := proc.RunLimited(ctx, shell("exit 0"), proc.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("begun after its end: %v", err)
	}
}

// wantNoProcess waits until the process whose number is in a file is gone.
func wantNoProcess(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	wantGone(t, task.Process{PID: pid})
}
