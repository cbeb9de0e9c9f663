package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"orange/internal/dashboard"
	"orange/internal/engine"
	"orange/internal/mirror"
)

// A fault of the screen is told once: at once where the watch over the agents goes on, else as the error that the program ends with.
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
	if errors.Is(err, broken) || err == nil || !strings.Contains(out.String(), "index out of range") || !strings.Contains(out.String(), "still watched over") {
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
	holds := func(who string) {
		if err := os.WriteFile(h.holderFile(), []byte(who+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	holds("") // it has the lease and is about to note itself
	var told []string
	own, err := h.lease(t.Context(), func(holder string) {
		told = append(told, holder)
		switch holder {
		case "unknown":
			holds("1")
		case "1":
			holds("2")
		default:
			release()
		}
	})
	if err != nil || own == nil || strings.Join(told, " ") != "unknown 1 2" {
		t.Fatalf("it told %q, and answers %v", told, err)
	}
	ctx, end := context.WithCancel(t.Context())
	if again, err := h.lease(ctx, func(string) { end() }); again != nil || err != nil {
		t.Errorf("where it ended before it had the lease it answers %v", err)
	}
	own()
}
