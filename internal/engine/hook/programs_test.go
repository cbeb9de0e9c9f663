package hook_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/engine/hook"
	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// place is a task's folder, and all that a program of a hook needs.
type place struct {
	hook.Setup
	dir string
}

func (place) Environment(context.Context, task.Task) ([]string, error) { return os.Environ(), nil }

func (p place) TaskDir(task.Task) string { return p.dir }

// perform performs run_command with the real processes, and answers what was wrong.
func perform(t *testing.T, dir string, timeout int, script string) (record.Effect, error) {
	t.Helper()
	executor := &hook.Executor{Processes: proc.System{}, Setup: place{dir: dir}, Home: dir}
	return executor.Perform(t.Context(), record.Job{
		Task: task.Task{ID: "abc", Project: "garden", Status: "open"},
		Hook: task.OwedHook{ID: 7, Hook: task.Hook{Action: action.RunCommand, Run: []string{"sh", "-c", script},
			Timeout: timeout}},
	})
}

// wantGone waits until the process whose number is in the file is gone.
func wantGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return // it was ended before it came so far
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(20 * time.Second); ; {
		if _, err := proc.Lookup(pid); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("process %d still runs", pid)
		}
	}
}

func TestAHookCommand_thatHangsIsEndedWithAllItStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := perform(t, dir, 1,
		`trap "" TERM; echo at work; sh -c 'echo $$ > new; mv new child; while :; do sleep 1; done' & while :; do sleep 1; done`)
	if err == nil || !strings.Contains(err.Error(), "took longer than 1s") ||
		!strings.Contains(err.Error(), "at work") {
		t.Errorf("the error is %v", err)
	}
	wantGone(t, filepath.Join(dir, "child"))
}

func TestAHookCommand_thatPrintsEndlesslyKeepsOnlyItsLastLines(t *testing.T) {
	t.Parallel()
	_, err := perform(t, t.TempDir(), 1, `yes "$ORANGE_HOOK_ID $ORANGE_TASK_ID"`)
	if err == nil || !strings.Contains(err.Error(), "7 abc\n7 abc\n") || len(err.Error()) > 2000 {
		t.Errorf("the error is %v", err)
	}
	_, err = perform(t, t.TempDir(), 60, `head -c 50000000 /dev/zero | tr '\0' x; echo; echo "the end"; exit 3`)
	if err == nil || !strings.Contains(err.Error(), "ended with status 3: ... x") ||
		!strings.HasSuffix(err.Error(), "x\nthe end") || len(err.Error()) > 2000 {
		t.Errorf("the error is %v", err)
	}
}

func TestAHookCommand_endsTheProgramsThatItLeavesBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	effect, err := perform(t, dir, 60, `sleep 601 & echo $! > child`)
	if err != nil || effect.Said != "ran sh" {
		t.Errorf("the effect is %+v, %v", effect, err)
	}
	wantGone(t, filepath.Join(dir, "child"))
}

func TestAHookCommand_thatIsMissingFailsWithItsName(t *testing.T) {
	t.Parallel()
	executor := &hook.Executor{Processes: proc.System{}, Setup: place{dir: t.TempDir()}}
	_, err := executor.Perform(t.Context(), record.Job{
		Hook: task.OwedHook{Hook: task.Hook{Action: action.RunCommand, Run: []string{"no-such-program"}}}})
	if err == nil || !strings.Contains(err.Error(), `cannot run "no-such-program"`) {
		t.Errorf("the error is %v", err)
	}
}
