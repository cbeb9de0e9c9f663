package proc_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

func TestParent_findsTheProcessAboveWithItsName(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	must(t, err)
	p := start(t, "wait")
	above, name, err := proc.Parent(p.PID)
	must(t, err)
	// The kernel keeps 15 bytes of a name.
	if above != self || name == "" || !strings.HasPrefix(filepath.Base(os.Args[0]), name) {
		t.Errorf("above it are %+v and %q, want %+v and %q", above, name, self, os.Args[0])
	}
	must(t, proc.End(t.Context(), []task.Process{p}, time.Second))
	wantGone(t, p)
	eventually(t, "it is reaped", func() bool {
		_, _, err = proc.Parent(p.PID)
		return err != nil
	})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("above a process that is gone: %v", err)
	}
}

func TestParent_leadsToTheTop(t *testing.T) {
	t.Parallel()
	want, err := proc.Ancestors(os.Getpid())
	must(t, err)
	var got []task.Process
	for pid := os.Getpid(); ; {
		above, name, err := proc.Parent(pid)
		must(t, err)
		if above.PID <= 1 {
			break
		}
		if name == "" {
			t.Errorf("process %d has no name", above.PID)
		}
		got = append(got, above)
		pid = above.PID
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if above, name, err := proc.Parent(1); above != (task.Process{}) || name != "" || err != nil {
		t.Errorf("above the first are %+v and %q, %v", above, name, err)
	}
	if _, _, err := proc.Parent(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("above a number never used: %v", err)
	}
}

func TestWorkingIn_findsWhoStandsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := proc.WorkingIn(dir, "sleep"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system does not tell")
	}
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	cmd.Dir = below
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for name, want := range map[string]int{"sleep": 1, "git": 0} {
		found, err := proc.WorkingIn(dir, name)
		if err != nil || len(found) != want || want == 1 && found[0].PID != cmd.Process.Pid {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
}

func TestStopped_tellsAStoppedProcessFromOneThatRunsOn(t *testing.T) {
	t.Parallel()
	p := start(t, "wait")
	if stopped, err := proc.Stopped(p); stopped || err != nil {
		t.Fatalf("one that runs is stopped: %v, %v", stopped, err)
	}
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is stopped", func() bool { stopped, err := proc.Stopped(p); return stopped && err == nil })
	if stopped, err := proc.Stopped(task.Process{PID: p.PID, Began: "another time"}); stopped || err != nil {
		t.Errorf("another process of its number is stopped: %v, %v", stopped, err)
	}
	if stopped, err := proc.Stopped(task.Process{PID: 1 << 30}); stopped || err != nil {
		t.Errorf("one that is not there is stopped: %v, %v", stopped, err)
	}
}

func TestArguments_areThoseThatAProcessWasStartedWith(t *testing.T) {
	t.Parallel()
	p := start(t, "wait")
	if args, err := proc.Arguments(p.PID); err != nil || !slices.Equal(args, []string{os.Args[0]}) {
		t.Errorf("found %q and %v", args, err)
	}
	if _, err := proc.Arguments(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if name, err := proc.Name(p.PID); name == "" || !strings.HasPrefix(filepath.Base(os.Args[0]), name) || err != nil {
		t.Errorf("its name is %q, %v", name, err)
	}
}

func TestSpent_growsWithWhatAProcessDoes(t *testing.T) {
	t.Parallel()
	before := proc.Spent()
	for sum := 0; proc.Spent() == before; sum++ {
		if sum > 1<<30 {
			t.Fatal("it does not grow")
		}
	}
}

// Defect: a process that was started between the look and the signal lived on.
func TestEndMarked_endsWhatIsStartedMeanwhileToo(t *testing.T) {
	t.Parallel()
	mark := "ORANGE_TEST_MARK=" + t.TempDir()
	begun := make(chan struct{})
	var once sync.Once
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = proc.Lines(t.Context(), proc.Command{Name: "sh", Args: []string{"-c",
			`trap "sleep 600 >/dev/null 2>&1 & exit" TERM; echo begun; while :; do sleep 0.01; done`}, Env: []string{mark}},
			func([]byte) error {
				once.Do(func() { close(begun) })
				return nil
			}) // by a signal or not
	}()
	<-begun
	must(t, proc.EndMarked(t.Context(), 5*time.Second, mark))
	<-ended
	left, err := proc.WithEnvironment(mark)
	if err != nil || len(left) > 0 {
		t.Errorf("found %v, %v", left, err)
	}
}
