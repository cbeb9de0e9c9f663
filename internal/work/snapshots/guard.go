package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/fencing"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

// OutwardGuard holds back acts that are seen outside of this machine, for tasks that are held for a fleet: where a
// snapshot says that another home has the task since, and, where there is a lease of this home, after its end.
type OutwardGuard struct {
	Home  string
	Slots Slots
	Clock func() (fencing.Clock, error)
}

// NewGuard is the guard of a home, by the clock of its machine.
func NewGuard(home string, slots Slots) OutwardGuard {
	return OutwardGuard{Home: home, Slots: slots, Clock: func() (fencing.Clock, error) {
		boot, up, err := proc.SinceBoot()
		return fencing.Clock{Boot: boot, Up: up, Wall: time.Now()}, err
	}}
}

// Holds reports whether a task is held for a fleet.
func (g OutwardGuard) Holds(id string) bool {
	_, err := os.Lstat(heldPath(g.Home, id))
	return !errors.Is(err, os.ErrNotExist)
}

// Outward is the context for an act for a task, or an fencing.ErrHeldBack.
func (g OutwardGuard) Outward(ctx context.Context, t task.Task) (within context.Context, done func(), err error) {
	if !g.Holds(t.ID) {
		return ctx, func() {}, nil
	}
	h, err := heldIn(g.Home, t.ID)
	if err != nil {
		return nil, nil, heldBack(t.ID, err)
	}
	within, done, err = g.withinLease(ctx, t.ID)
	if err != nil {
		return nil, nil, err
	}
	slot, err := g.Slots.Slot(task.Task{ID: t.ID, Project: t.Project})
	if err != nil {
		done()
		return nil, nil, heldBack(t.ID, err)
	}
	var places []fencing.SnapshotPlace
	for at, acknowledged := range h.Acknowledged { // each by itself; fencing.Mine goes by all of them
		places = append(places, g.place(within, slot.Repo, t.ID, at, acknowledged, h.Epoch))
	}
	if err := fencing.Mine(t.ID, h.Epoch, places); err != nil {
		done()
		return nil, nil, err
	}
	return within, done, nil
}

func heldBack(id string, err error) error {
	return fencing.Waits("cannot tell whether task %s is at another home: %v", id, err)
}

// place is what the newest snapshot of a task at a repository says of who has it.
func (g OutwardGuard) place(ctx context.Context, repo git.Repo, id, at, acknowledged string,
	epoch int) fencing.SnapshotPlace {
	p := fencing.SnapshotPlace{Repository: at, Epoch: epoch}
	newest, err := ship.Snapshots{Repo: repo}.NewestRecord(ctx, at, id, acknowledged)
	if err == nil && newest == acknowledged {
		return p
	}
	var signers string
	if err == nil {
		signers, err = signersOf(g.Home)
	}
	if err == nil && signers != "" { // anyone who may write there could say that the task is elsewhere, or is not
		_, err = repo.Signer(ctx, newest, signers)
	}
	var text []byte
	if err == nil {
		text, err = ship.Snapshots{Repo: repo}.RecordText(ctx, newest, aboutName)
	}
	var said about
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err == nil && (said.Task != id || said.Epoch < 1) {
		err = fmt.Errorf("the snapshot %.12s at %q does not say its epoch", newest, at)
	}
	if errors.Is(err, task.ErrNotFound) {
		err = fmt.Errorf("%w: the task may have been deleted at another home; let it go here: orange task leave %s; "+
			"or, if no other home had it, move %q away", err, id, heldPath(g.Home, id))
	}
	if err != nil {
		p.Trouble, _, _ = strings.Cut(err.Error(), "\n")
		return p
	}
	p.Epoch = said.Epoch
	return p
}

// leasePath is the file with the lease of a home.
func leasePath(home string) string { return filepath.Join(home, "fleet", "lease.json") }

// lease is the lease of this home and for how long it holds yet. There is none where no fleet gives leases.
func (g OutwardGuard) lease() (l fencing.HomeLease, now fencing.Clock, is bool, err error) {
	err = proc.ReadJSON(leasePath(g.Home), &l)
	if errors.Is(err, os.ErrNotExist) {
		return l, now, false, nil
	}
	if err == nil {
		now, err = g.Clock()
	}
	return l, now, true, err
}

// withinLease is a context that ends with the lease of this home: where it was renewed meanwhile, with the new one.
func (g OutwardGuard) withinLease(ctx context.Context, id string) (context.Context, func(), error) {
	l, now, is, err := g.lease()
	switch {
	case err != nil:
		return nil, nil, heldBack(id, err)
	case !is:
		return ctx, func() {}, nil
	case l.Left(now) <= 0:
		return nil, nil, l.Over(now)
	}
	within, end := context.WithCancelCause(ctx)
	go g.endWithLease(within, end, id, l.Left(now))
	return within, func() { end(context.Canceled) }, nil
}

// leaseLook is how often the end of a lease is looked for: timers stand still while the machine sleeps, and the clock
// of a lease does not.
const leaseLook = time.Second

// endWithLease ends a context once the lease is over.
func (g OutwardGuard) endWithLease(within context.Context, end context.CancelCauseFunc, id string, left time.Duration) {
	for {
		select {
		case <-within.Done():
			return
		case <-time.After(min(left, leaseLook)):
		}
		l, now, is, err := g.lease()
		switch {
		case err != nil:
			end(heldBack(id, err))
			return
		case !is || l.Left(now) <= 0:
			end(l.Over(now))
			return
		}
		left = l.Left(now)
	}
}
