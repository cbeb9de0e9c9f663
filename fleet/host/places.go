package host

import (
	"context"
	"sync"
	"time"
)

const (
	promiseFor = 2 * time.Minute // how long a place is kept for a task that was accepted
	placeLook  = 3 * time.Second // how often a host without a free place looks whether there is one
)

// places are the promises of free workspaces to tasks which have not come yet.
type places struct {
	lock     sync.Mutex
	promised map[string]promise // by task
}

type promise struct {
	project string
	until   time.Time
}

// FreePlaces counts the free workspaces by project, but for those that were promised.
func (h *Host) FreePlaces(ctx context.Context) (map[string]int, error) {
	free, err := h.Program.Free(ctx)
	if err != nil {
		return nil, err
	}
	h.places.lock.Lock()
	defer h.places.lock.Unlock()
	return h.places.less(free, ""), nil
}

// less takes the places off that were promised to other tasks.
func (p *places) less(free map[string]int, but string) map[string]int {
	for id, one := range p.promised { // each by itself
		switch {
		case time.Now().After(one.until):
			delete(p.promised, id)
		case id != but:
			free[one.project]--
		}
	}
	return free
}

// promise keeps a place of a project for a task, if there is a free one.
func (h *Host) promise(ctx context.Context, project, id string) (bool, error) {
	h.places.lock.Lock() // the look is within it: no two tasks get the same place
	defer h.places.lock.Unlock()
	free, err := h.Program.Free(ctx)
	if err != nil || h.places.less(free, id)[project] < 1 {
		return false, err
	}
	if h.places.promised == nil {
		h.places.promised = map[string]promise{}
	}
	h.places.promised[id] = promise{project, time.Now().Add(promiseFor)}
	return true, nil
}

// EndPromise says that a promise was kept, or is not needed any more.
func (h *Host) EndPromise(id string) {
	h.places.lock.Lock()
	defer h.places.lock.Unlock()
	delete(h.places.promised, id)
}

// awaitPlace waits until a project has a free place. What cannot be looked at has none.
func (h *Host) awaitPlace(ctx context.Context, project string) error {
	for {
		closed, err := h.Store.Draining()
		if err == nil && !closed {
			free, err := h.FreePlaces(ctx)
			if err == nil && free[project] > 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(placeLook):
		}
	}
}
