package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// A process that waits for the lease reports who has it, also where that changes while it waits.
func TestWait_reportsWhoWatchesUntilItIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, log := Watch{Home: dir}, slog.New(slog.DiscardHandler)
	release, free, err := l.TryLock()
	if err != nil || !free {
		t.Fatalf("the lease is free: %v, %v", free, err)
	}
	self, above := strconv.Itoa(os.Getpid()), strconv.Itoa(os.Getppid())
	holds := func(who string, ago time.Duration) {
		err := os.WriteFile(l.file(), []byte(who+"\n"), 0o600)
		if err = errors.Join(err, os.Chtimes(l.file(), time.Now(), time.Now().Add(-ago))); err != nil {
			t.Error(err)
		}
	}
	holds("", 0) // it has the lease and is about to note itself
	var reported []string
	own, err := l.Wait(t.Context(), log, func(holder task.Watcher) {
		found, _ := holder.Trouble(time.Now())
		reported = append(reported, holder.Name())
		switch {
		case holder.PID == 0:
			holds(above, 0)
		case holder.Name() == above:
			holds(self, 0)
		case found == "":
			holds(self, time.Hour) // it has been silent since
		default:
			reported = append(reported, found)
			release()
		}
	})
	want := []string{
		"unknown", above, self, self, "process " + self + " has the lease of the monitor and has done nothing since "}
	if err != nil || own == nil || len(reported) != len(want) || !slices.Equal(reported[:4], want[:4]) ||
		!strings.HasPrefix(reported[4], want[4]) {
		t.Fatalf("it reported %q, and answers %v", reported, err)
	}
	ctx, end := context.WithCancel(t.Context())
	if again, err := l.Wait(ctx, log, func(task.Watcher) { end() }); again != nil || err != nil {
		t.Errorf("where it ended before it had the lease it answers %v", err)
	}
	own()
}

// A process that ended without taking its note back, and one that has got its number since, do not watch.
func TestWatcher_isNoProcessThatIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := Watch{Home: dir}
	if err := os.Mkdir(filepath.Dir(l.file()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.note(); err != nil {
		t.Fatal(err)
	}
	if got := l.Watcher(); got.PID != os.Getpid() || got.Stopped || time.Since(got.Heard) > time.Minute {
		t.Errorf("found %+v, want this process", got)
	}
	for _, text := range []string{"", "x", "1073741824\n", strconv.Itoa(os.Getpid()) + "\nanother time\n"} {
		if err := os.WriteFile(l.file(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.Watcher(); got != (task.Watcher{}) {
			t.Errorf("%q: found %+v, want none", text, got)
		}
	}
	l.forget()
	if got := l.Watcher(); got != (task.Watcher{}) {
		t.Errorf("without a note there is %+v", got)
	}
}

// A watch that goes on shows that to others, and writes its note again where that was taken away.
func TestHeartbeat_renewsTheNoteSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := Watch{Home: dir}
		if err := os.Mkdir(filepath.Dir(l.file()), 0o755); err != nil {
			t.Fatal(err)
		}
		beat := l.Heartbeat(slog.New(slog.DiscardHandler))
		beat()
		if _, err := os.Stat(l.file()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it was noted at once: %v", err)
		}
		<-time.After(task.HeardEvery)
		beat()
		if got := l.Watcher(); got.PID != os.Getpid() {
			t.Errorf("found %+v, want this process", got)
		}
		<-time.After(task.HeardEvery)
		beat()
		if got := l.Watcher(); !got.Heard.Equal(time.Now()) {
			t.Errorf("it was heard of at %s, want %s", got.Heard, time.Now())
		}
	})
}

// A server makes room for a monitor that a person starts.
func TestWait_hasAHolderYield(t *testing.T) {
	t.Parallel()
	l := Watch{Home: t.TempDir()}
	release, free, err := l.TryLock()
	if err != nil || !free {
		t.Fatalf("the lease is free: %v, %v", free, err)
	}
	holder := exec.Command("sleep", "60") // the signal that asks it to yield ends it
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	began, err := proc.Lookup(holder.Process.Pid)
	if err == nil {
		err = os.WriteFile(l.file(), []byte(fmt.Sprintf("%d\n%s\nyields\n", holder.Process.Pid, began.Began)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = holder.Wait() // it was ended
		release()
	}()
	own, err := l.Wait(t.Context(), slog.New(slog.DiscardHandler), func(holder task.Watcher) {
		if holder.Yields {
			t.Errorf("it waits for %+v", holder)
		}
	})
	if err != nil || own == nil {
		t.Fatalf("it answers %v", err)
	}
	own()
}
