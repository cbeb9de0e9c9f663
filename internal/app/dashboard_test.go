package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/dashboard"
	"orange/internal/engine"
	"orange/internal/mirror"
	"orange/internal/task"
)

// A fault of the screen is told once: at once where the watch over the agents goes on, else as the error that the
// program ends with.
func TestAFaultOfTheScreenIsToldOnceAndTheWatchGoesOnUntilItIsEnded(t *testing.T) {
	t.Parallel()
	h := &house{dir: t.TempDir()}
	broken := &dashboard.Broken{Where: "it drew the list", Why: "index out of range"}
	var out bytes.Buffer
	err := h.afterFault(t.Context(), broken, false, &out)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), h.logPath()) || out.Len() > 0 {
		t.Errorf("where nobody watches it says %q and ends with %v", &out, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	err = h.afterFault(ended, broken, true, &out)
	if errors.Is(err, broken) || err == nil || !strings.Contains(out.String(), "index out of range") ||
		!strings.Contains(out.String(), "still watched over") {
		t.Errorf("where it watches it says %q and ends with %v", &out, err)
	}
}

// Whoever waits for the watch tells who has it, also where that changes while it waits.
func TestLease_tellsWhoWatchesUntilItIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := &house{dir: dir, files: mirror.Files{Home: dir}, engine: &engine.Engine{Log: slog.New(slog.DiscardHandler)}}
	release, free, err := mirror.Files{Home: dir}.TryLock(monitorLock)
	if err != nil || !free {
		t.Fatalf("the lease is free: %v, %v", free, err)
	}
	self, above := strconv.Itoa(os.Getpid()), strconv.Itoa(os.Getppid())
	holds := func(who string, ago time.Duration) {
		err := os.WriteFile(holderFile(dir), []byte(who+"\n"), 0o600)
		if err = errors.Join(err, os.Chtimes(holderFile(dir), time.Now(), time.Now().Add(-ago))); err != nil {
			t.Error(err)
		}
	}
	holds("", 0) // it has the lease and is about to note itself
	var told []string
	own, err := h.lease(t.Context(), func(holder task.Watcher) {
		found, _ := holder.Trouble(time.Now())
		told = append(told, holder.Name())
		switch {
		case holder.PID == 0:
			holds(above, 0)
		case holder.Name() == above:
			holds(self, 0)
		case found == "":
			holds(self, time.Hour) // it has been silent since
		default:
			told = append(told, found)
			release()
		}
	})
	want := []string{
		"unknown", above, self, self, "process " + self + " has the lease of the monitor and has done nothing since "}
	if err != nil || own == nil || len(told) != len(want) || !slices.Equal(told[:4], want[:4]) ||
		!strings.HasPrefix(told[4], want[4]) {
		t.Fatalf("it told %q, and answers %v", told, err)
	}
	ctx, end := context.WithCancel(t.Context())
	if again, err := h.lease(ctx, func(task.Watcher) { end() }); again != nil || err != nil {
		t.Errorf("where it ended before it had the lease it answers %v", err)
	}
	own()
}

// Who ended without taking its note back, and a number that another process has got since, are nobody.
func TestWatcher_isNobodyWhoIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := &house{dir: dir}
	if err := os.Mkdir(filepath.Dir(holderFile(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.noteWatcher(); err != nil {
		t.Fatal(err)
	}
	if got := watcher(dir); got.PID != os.Getpid() || got.Stopped || time.Since(got.Heard) > time.Minute {
		t.Errorf("found %+v, want this process", got)
	}
	for _, text := range []string{"", "x", "1073741824\n", strconv.Itoa(os.Getpid()) + "\nanother time\n"} {
		if err := os.WriteFile(holderFile(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := watcher(dir); got != (task.Watcher{}) {
			t.Errorf("%q: found %+v, want nobody", text, got)
		}
	}
	h.forgetWatcher()
	if got := watcher(dir); got != (task.Watcher{}) {
		t.Errorf("without a note there is %+v", got)
	}
}

// A watch that goes on lets others hear of it, and makes its note anew where somebody took that away.
func TestHeard_renewsTheNoteSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := &house{dir: dir}
		if err := os.Mkdir(filepath.Dir(holderFile(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
		heard := h.heard()
		heard()
		if _, err := os.Stat(holderFile(dir)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it was noted at once: %v", err)
		}
		<-time.After(task.HeardEvery)
		heard()
		if got := watcher(dir); got.PID != os.Getpid() {
			t.Errorf("found %+v, want this process", got)
		}
		<-time.After(task.HeardEvery)
		heard()
		if got := watcher(dir); !got.Heard.Equal(time.Now()) {
			t.Errorf("it was heard of at %s, want %s", got.Heard, time.Now())
		}
	})
}
