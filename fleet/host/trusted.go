package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"orange/fleet/wire"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// relearnAfter is how long the host does not ask again who is in the fleet because of a key that it does not know.
const relearnAfter = 2 * time.Second

// learner asks the fleet who is in it, now and then.
type learner struct {
	lock  sync.Mutex
	asked time.Time
	ask   func(ctx context.Context) error
}

// news wakes who tells the fleet what the host has.
type news struct {
	lock sync.Mutex
	wake chan struct{}
}

// come is readable once there is something new to tell.
func (n *news) come() <-chan struct{} {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.wake == nil {
		n.wake = make(chan struct{}, 1)
	}
	return n.wake
}

// tell says that there is something new to tell.
func (n *news) tell() {
	n.come()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// learns says how the fleet is asked who is in it; nil for not at all.
func (h *Host) learns(ask func(ctx context.Context) error) {
	h.learner.lock.Lock()
	defer h.learner.lock.Unlock()
	h.learner.ask = ask
}

// learn reports whether the list of people may be another one now.
func (h *Host) learn(ctx context.Context) bool {
	h.learner.lock.Lock()
	defer h.learner.lock.Unlock()
	if h.learner.ask == nil || time.Since(h.learner.asked) < relearnAfter {
		return false
	}
	h.learner.asked = time.Now()
	return h.learner.ask(ctx) == nil
}

// trusted checks something by the list of people. Where a key is not in it, or there is none yet, by the list that the
// fleet has now: someone may just have joined.
func (h *Host) trusted(ctx context.Context, check func(people signed.List) error) error {
	by := func() error {
		people, err := h.People()
		if err != nil {
			return err
		}
		return check(people)
	}
	err := by()
	var refusal *wire.Refusal
	unknown := errors.As(err, &refusal) && refusal.Code == wire.CodeStranger || errors.Is(err, task.ErrNotFound)
	if unknown && h.learn(ctx) {
		err = by()
	}
	return err
}
