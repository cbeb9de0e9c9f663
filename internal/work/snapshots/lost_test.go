package snapshots

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/fencing"
	"orange/internal/rules/task"
)

// What a home did after its task was brought back elsewhere goes to a ref of its own epoch, apart from the snapshots.
func TestShipLost_pushesWhatTheLastSnapshotLacks(t *testing.T) {
	t.Parallel()
	at := vault(t)
	old, other := newPlace(t), newPlace(t)
	old.begin()
	must(t, old.take(at))
	ref, err := old.ShipLost(t.Context(), "T1", at)
	if err != nil || ref != "" {
		t.Errorf("the snapshot has all of it, and %q was pushed: %v", ref, err)
	}
	must(t, other.restore(at, fencing.RestoreOrder{}))
	dir := old.repo.Path
	gitIn(t, dir, "switch", "-q", "topic")
	must(t, os.WriteFile(filepath.Join(dir, "late"), []byte("late\n"), 0o600))
	gitIn(t, dir, "add", "late")
	gitIn(t, dir, "commit", "-q", "-m", "late")
	if err := old.take(at); err == nil {
		t.Fatal("the old home pushes a snapshot")
	}
	before := gitIn(t, at, "for-each-ref")
	ref, err = old.ShipLost(t.Context(), "T1", at)
	must(t, err)
	if got := gitIn(t, at, "show", ref+":late"); ref != "refs/orange/fleet/T1/lost/1" || got != "late" {
		t.Errorf("%q has %q", ref, got)
	}
	if after := gitIn(t, at, "for-each-ref"); !strings.Contains(after, strings.Split(before, "\n")[0]) {
		t.Errorf("a snapshot was changed:\n%s\n%s", before, after)
	}
	ref, err = other.ShipLost(t.Context(), "T1", at)
	if err != nil || ref != "" {
		t.Errorf("the new home pushes %q: %v", ref, err)
	}
}

// A snapshot that is not known any more is no reason to push nothing.
func TestShipLost_pushesAllWhereTheSnapshotIsGone(t *testing.T) {
	t.Parallel()
	at, p := vault(t), newPlace(t)
	p.begin()
	must(t, p.hold("T1", holding{Epoch: 2, Acknowledged: map[string]string{at: strings.Repeat("7", 40)}}))
	ref, err := p.ShipLost(t.Context(), "T1", at)
	if err != nil || ref != "refs/orange/fleet/T1/lost/2" {
		t.Errorf("%q, %v", ref, err)
	}
	p.known = nil
	if _, err := p.ShipLost(t.Context(), "T1", at); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("of a task that is not here: %v", err)
	}
}
