package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// canWatch leaves out a test where the system cannot tell, once that was said as promised.
func canWatch(t *testing.T) task.Process {
	t.Helper()
	self, err := proc.Self()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = proc.Watch(ctx, self)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("nothing to watch with: %v", err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a watch that was called off says %v", err)
	}
	return self
}

// watch reports what a watch answered, and whether the process was alive then.
func watch(ctx context.Context, p task.Process) <-chan string {
	said := make(chan string, 1)
	go func() {
		err := proc.Watch(ctx, p)
		alive, lookErr := proc.Alive(p)
		said <- fmt.Sprintf("watch %v, alive %v %v", err, alive, lookErr)
	}()
	return said
}

const seenToEnd = "watch <nil>, alive false <nil>"

// blocks shows that a process is not held for ended while it runs.
func blocks(t *testing.T, p task.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := proc.Watch(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a process that runs: %v", err)
	}
}

func TestWatch_seesTheEndOfAChild(t *testing.T) {
	t.Parallel()
	canWatch(t)
	p := start(t, "wait")
	blocks(t, p)
	said := watch(t.Context(), p)
	must(t, syscall.Kill(p.PID, syscall.SIGKILL))
	if got := <-said; got != seenToEnd {
		t.Error(got)
	}
	if err := proc.Watch(t.Context(), p); err != nil {
		t.Errorf("long gone: %v", err)
	}
}

func TestWatch_seesTheEndOfAStranger(t *testing.T) {
	t.Parallel()
	canWatch(t)
	path := filepath.Join(t.TempDir(), "pid")
	run(t.Context(), t, "launcher "+path) // the launcher is gone now, and the program was never ours
	p := announced(t, path)
	if parent := parentOf(t, p); parent == os.Getpid() {
		t.Fatal("it is a child")
	}
	blocks(t, p)
	said := watch(t.Context(), p)
	must(t, syscall.Kill(p.PID, syscall.SIGTERM))
	if got := <-said; got != seenToEnd {
		t.Error(got)
	}
}

func TestWatch_holdsAZombieForEnded(t *testing.T) {
	t.Parallel()
	canWatch(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), partVariable+"=wait "+filepath.Join(t.TempDir(), "pid"))
	must(t, child.Start())
	p, err := proc.Lookup(child.Process.Pid)
	must(t, err)
	said := watch(t.Context(), p)
	must(t, child.Process.Kill())
	if got := <-said; got != seenToEnd { // no one has reaped it yet
		t.Error(got)
	}
	if err := proc.Watch(t.Context(), p); err != nil {
		t.Errorf("a zombie from the beginning: %v", err)
	}
	_ = child.Wait() // it was killed, and says so
}

func TestWatch_doesNotWaitForWhoeverGotTheNumberLater(t *testing.T) {
	t.Parallel()
	self := canWatch(t)
	for name, p := range map[string]task.Process{
		"of another beginning": {PID: self.PID, Began: self.Began + "1"},
		"a number never used":  {PID: 1 << 30, Began: self.Began},
		"none":                 {},
		"init":                 {PID: 1},
		"a group":              {PID: -self.PID},
	} {
		if err := proc.Watch(t.Context(), p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The number of a thread is in /proc like a process, but cannot be opened like one.
func TestWatch_ofANumberThatWentToAThreadIsOver(t *testing.T) {
	t.Parallel()
	canWatch(t)
	threads, err := os.ReadDir("/proc/self/task")
	must(t, err)
	for _, thread := range threads {
		var tid int
		_, err := fmt.Sscan(thread.Name(), &tid)
		must(t, err)
		if err := proc.Watch(t.Context(), task.Process{PID: tid, Began: "long ago"}); err != nil {
			t.Errorf("thread %d: %v", tid, err)
		}
	}
}

// In a process of its own, where no one else opens files or starts threads.
func TestWatch_ofManyTakesNoThreadEachAndLeavesNoFileOpen(t *testing.T) {
	t.Parallel()
	self := canWatch(t)
	var watchers, threads, canceled, left int
	said := run(t.Context(), t, fmt.Sprintf("watch %d %s", self.PID, self.Began))
	if _, err := fmt.Sscanf(said, "%d watchers, %d threads, %d canceled, %d files left", &watchers, &threads,
		&canceled, &left); err != nil {
		t.Fatalf("it says %q: %v", said, err)
	}
	if watchers != manyWatchers || threads > 100 || canceled != manyWatchers || left != 0 {
		t.Errorf("it says %q", said)
	}
}

const (
	manyWatchers = 500
	fewWatchers  = 20
)

// watchMany watches one process many times, calls it off, and tells what that took.
func watchMany(argument string) string {
	var p task.Process
	if _, err := fmt.Sscan(argument, &p.PID, &p.Began); err != nil {
		return err.Error()
	}
	warm, done := context.WithCancel(context.Background())
	done()
	_ = proc.Watch(warm, p) // the poller opens files of its own, once
	before, err := entries("/proc/self/fd")
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	answers := make(chan error, manyWatchers)
	watchers := 0
	for watchers < manyWatchers {
		// A few at a time: each looks into /proc first, and a crowd that does so at once takes threads for that.
		for range fewWatchers {
			go func() { answers <- proc.Watch(ctx, p) }()
		}
		want := watchers + fewWatchers
		if watchers = patiently(want, parkedWatchers); watchers != want {
			return fmt.Sprintf("%d of %d are parked", watchers, want)
		}
	}
	threads, err := entries("/proc/self/task")
	if err != nil {
		return err.Error()
	}
	cancel()
	canceled := 0
	for range manyWatchers {
		if errors.Is(<-answers, context.Canceled) {
			canceled++
		}
	}
	// The last to let go of a file closes it, and that may be what called the watch off.
	left := patiently(0, func() int {
		now, err := entries("/proc/self/fd")
		if err != nil {
			return -1
		}
		return now - before
	})
	return fmt.Sprintf("%d watchers, %d threads, %d canceled, %d files left", watchers, threads, canceled, left)
}

func entries(dir string) (int, error) {
	names, err := os.ReadDir(dir)
	return len(names), err
}

// parkedWatchers counts the goroutines that the poller has, from the runtime's own account.
func parkedWatchers() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return len(slices.DeleteFunc(strings.Split(string(stacks), "\n\n"), func(stack string) bool {
		first, rest, _ := strings.Cut(stack, "\n")
		return !strings.Contains(first, "[IO wait") || !strings.Contains(rest, "proc.Watch(")
	}))
}

// patiently counts until the count is as wanted, or for a while.
func patiently(want int, count func() int) int {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for {
		got := count()
		if got == want {
			return got
		}
		select {
		case <-late:
			return got
		case <-tick.C:
		}
	}
}
