package snapshots

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/work/ship"
)

// writes gives task T1 another event, and a snapshot with it.
func (p *place) writes(at string, events ...history.Event) {
	p.t.Helper()
	path := filepath.Join(p.Dir("garden", "T1"), "history.jsonl")
	text, err := os.ReadFile(path)
	must(p.t, err)
	known, err := history.ReadHistory(text)
	must(p.t, err)
	for _, e := range events {
		last := known[len(known)-1]
		e, err = history.Seal(e, last.Seq+1, last.Hash)
		must(p.t, err)
		line, err := json.Marshal(e)
		must(p.t, err)
		text, known = append(append(text, line...), '\n'), append(known, e)
	}
	must(p.t, os.WriteFile(path, text, 0o600))
	p.known.Seq = len(known)
	must(p.t, p.take(at))
}

// Defect: a home brought a task back and was lost before its answer arrived. No other home could bring the task back
// from then on.
// Attackers cannot (docs/proof.md): have a host take a forged snapshot.
func TestRestore_takesTheSnapshotOfAHomeThatBroughtTheTaskBack(t *testing.T) {
	t.Parallel()
	a, at := newPlace(t), vault(t)
	a.begin()
	signers := []string{a.signs("h1")}
	must(t, a.take(at))
	next := func(host string) *place {
		t.Helper()
		p := newPlace(t)
		signers = append(signers, p.signs(host))
		p.trusts(signers...)
		return p
	}
	order := fencing.RestoreOrder{Host: "h1", Event: 4, Hash: "x", Keys: []string{"k1"}} // 4 and k1 are lost with h1
	b := next("h2")
	must(t, b.restore(at, order))
	order.Since = []string{"h2"}
	claimed := gitIn(t, at, "rev-parse", "refs/orange/fleet/T1/record")
	must(t, next("h3").restore(at, order)) // nothing but the claim
	gitIn(t, at, "update-ref", "refs/orange/fleet/T1/record", claimed)
	b.writes(at, b.got[0].Events[0], history.Event{Type: history.Updated, Workflow: "w1"})
	c := next("h4")
	unknown := order
	unknown.Since = []string{"h3", "h4"}
	err := c.restore(at, unknown)
	if !errors.Is(err, fencing.ErrUnexpected) || !strings.Contains(err.Error(), `signed by "h2", and "h1" had`) {
		t.Errorf("of a home that was not asked: %v", err)
	}
	back, err := c.Restore(t.Context(), "garden", "T1", at, order)
	if must(t, err); len(c.got) != 1 || !slices.Equal(back.Lost, order.Keys) || len(back.Events) > 0 {
		t.Errorf("lost are %q, added is %+v", back.Lost, back.Events)
	}
	if notes := strings.Join(c.got[0].Notes, "; "); !strings.Contains(notes, "the fleet has heard of event 4: what "+
		"came between is lost with h1") {
		t.Errorf("the notes are %q", notes)
	}
	c.writes(at, history.Event{Type: history.Updated, Workflow: "w1"})
	d := next("h5")
	if err := d.restore(at, order); !errors.Is(err, fencing.ErrUnexpected) ||
		!strings.Contains(err.Error(), `signed by "h4", and "h1" had`) {
		t.Errorf("behind the one of a home that was not asked: %v", err)
	}
	order.Since = []string{"h4"}
	if err := d.restore(at, order); !errors.Is(err, fencing.ErrUnexpected) ||
		!strings.Contains(err.Error(), `signed by "h2", and "h1" had`) {
		t.Errorf("behind two, one of which was not asked: %v", err)
	}
	d.hasNothing("behind a home that was not asked")
	order.Since = []string{"h2", "h4"}
	must(t, d.restore(at, order))
	// One of them writes another history.
	path := filepath.Join(d.Dir("garden", "T1"), "history.jsonl")
	e, err := history.Seal(history.Event{Type: history.Created, Workflow: "w1"}, 1, "")
	must(t, err)
	line, err := json.Marshal(e)
	must(t, err)
	must(t, os.WriteFile(path, append(line, '\n'), 0o600))
	d.writes(at, history.Event{Type: history.Updated, Workflow: "w1"})
	order.Since = []string{"h2", "h4", "h5"}
	f := next("h6")
	if err := f.restore(at, order); !errors.Is(err, fencing.ErrUnexpected) ||
		!strings.Contains(err.Error(), `does not go on from the last one of "h1"`) {
		t.Errorf("another history: %v", err)
	}
	f.hasNothing("another history")
}

// Defect: a home created a task and was lost before its answer arrived; the next home, which creates it again in a
// later epoch, could push no snapshot of it. What the first home had is behind the snapshots of the second.
func TestTake_goesOnBehindTheCreatingHomeOfAnEarlierEpoch(t *testing.T) {
	t.Parallel()
	a, b, at := newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	first := gitIn(t, at, "rev-parse", "refs/orange/fleet/T1/work")
	b.begin()
	must(t, os.WriteFile(filepath.Join(b.Dir("garden", "T1"), "TASK.md"), []byte("# A task of b\n"), 0o600))
	if err := b.take(at); !errors.Is(err, ship.ErrSnapshotMoved) {
		t.Errorf("in the same epoch: %v", err)
	}
	must(t, b.Hold(t.Context(), "T1", 2))
	must(t, os.WriteFile(filepath.Join(a.Dir("garden", "T1"), "TASK.md"), []byte("# Another\n"), 0o600))
	must(t, a.take(at)) // it goes on meanwhile
	for range 2 {
		must(t, b.take(at))
	}
	if got := subjectAt(t, at); got != "epoch 2, event 3" {
		t.Errorf("the newest snapshot is %q", got)
	}
	gitIn(t, at, "merge-base", "--is-ancestor", first, "refs/orange/fleet/T1/record")
	if refs := gitIn(t, b.repo.Path, "for-each-ref", "refs/orange/restore"); refs != "" {
		t.Errorf("left are %q", refs)
	}
	if err := a.take(at); !errors.Is(err, ship.ErrSnapshotMoved) {
		t.Errorf("of the first home: %v", err)
	}
	c := newPlace(t)
	c.begin()
	must(t, os.WriteFile(filepath.Join(c.Dir("garden", "T1"), "TASK.md"), []byte("# A task of c\n"), 0o600))
	must(t, c.Hold(t.Context(), "T1", 2))
	if err := c.take(at); !errors.Is(err, ship.ErrSnapshotMoved) {
		t.Errorf("of a third one in the epoch of the second: %v", err)
	}
}
