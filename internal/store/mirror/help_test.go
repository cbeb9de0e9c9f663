package mirror_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// The test binary is also the other process of some tests: this variable tells it which.
const partVariable = "MIRROR_TEST_PART"

func TestMain(m *testing.M) {
	// else the race detector has every other process wait for a second at its end
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	part, argument, _ := strings.Cut(os.Getenv(partVariable), " ")
	switch part {
	case "":
		os.Exit(m.Run())
	case "append":
		os.Exit(partAppend(argument))
	case "hold":
		os.Exit(partHold(argument))
	}
	os.Exit(2)
}

// partAppend appends lines until the file named stop is there.
func partAppend(dir string) int {
	if _, err := appendLines(filepath.Join(dir, mirror.DocumentName), "process", func() bool {
		_, err := os.Stat(filepath.Join(dir, "stop"))
		return err == nil
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// partHold takes a lock, says so in a file, and holds the lock until it is ended.
func partHold(home string) int {
	if _, err := (mirror.Files{Home: home}).Lock(context.Background(), "one"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.WriteFile(filepath.Join(home, "held"), nil, 0o644); err != nil {
		return 1
	}
	<-time.After(time.Minute)
	return 1
}

const mostLines = 10000

// appendLines appends numbered lines, each in one write, as fast as it can.
func appendLines(path, who string, stop func() bool) (int, error) {
	for n := 1; n <= mostLines; n++ {
		if n%50 == 0 && stop() {
			return n - 1, nil
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return n - 1, err
		}
		if _, err = fmt.Fprintf(file, "%s %d\n", who, n); err != nil {
			return n - 1, err
		}
		if err := file.Close(); err != nil {
			return n - 1, err
		}
	}
	return mostLines, nil
}

// startPart runs the test binary as another process until it ends or the context does.
func startPart(ctx context.Context, part string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := proc.Run(ctx, proc.Command{Name: os.Args[0], Env: []string{partVariable + "=" + part}})
		ended <- err
	}()
	return ended
}

const patience = 20 * time.Second

// eventually waits until a fact holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func someTask() task.Task {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	return task.Task{
		ID: "abc", Project: "garden", Branch: "fix", Summary: "mend the gate", Harness: "claude",
		Status: "working", Live: true,
		CreatedAt: at, UpdatedAt: at, EnteredAt: at, Workflow: task.WorkflowRef{Name: "default", Version: 1},
	}
}

// newFiles makes a home with one task whose document has the body.
func newFiles(t *testing.T, body string) (mirror.Files, task.Task) {
	t.Helper()
	files, one := mirror.Files{Home: t.TempDir()}, someTask()
	must(t, files.Create(one, body))
	return files, one
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, want one that says %q", err, says)
	}
}
