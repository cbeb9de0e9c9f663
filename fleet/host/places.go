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

// Places are the free workspaces of a host, but for those that were promised to a task which has not come yet.
type Places struct {
	Machine Machine
	// Closed reports whether the host takes no new tasks.
	Closed func() (bool, error)

	lock     sync.Mutex
	promised map[string]promise // by task
}

type promise struct {
	project string
	until   time.Time
}

// Free counts the places by project.
func (p *Places) Free(ctx context.Context) (map[string]int, error) {
	free, err := p.Machine.Free(ctx)
	if err != nil {
		return nil, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.less(free, ""), nil
}

// less takes the places off that were promised to other tasks.
func (p *Places) less(free map[string]int, but string) map[string]int {
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

// Promise keeps a place of a project for a task, if there is a free one.
func (p *Places) Promise(ctx context.Context, project, id string) (bool, error) {
	p.lock.Lock() // the look is within it: no two tasks get the same place
	defer p.lock.Unlock()
	free, err := p.Machine.Free(ctx)
	if err != nil || p.less(free, id)[project] < 1 {
		return false, err
	}
	if p.promised == nil {
		p.promised = map[string]promise{}
	}
	p.promised[id] = promise{project, time.Now().Add(promiseFor)}
	return true, nil
}

// Kept says that a promise was kept, or is not needed any more.
func (p *Places) Kept(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.promised, id)
}

// Await waits until a project has a free place. What cannot be looked at has none.
func (p *Places) Await(ctx context.Context, project string) error {
	for {
		closed, err := p.Closed()
		if err == nil && !closed {
			free, err := p.Free(ctx)
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
