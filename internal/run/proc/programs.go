package proc

import (
	"context"
	"os/exec"
	"slices"
	"sync"

	"orange/internal/rules/task"
)

// Programs are the processes of the programs that were started under one context. A server that does the calls of
// others learns from them for which call it started a program that asks it, or one above that. Several goroutines may
// use it.
type Programs struct {
	lock    sync.Mutex
	started []task.Process
}

type programsKey struct{}

// WithPrograms is ctx with a place where the programs are noted that are started under it.
func WithPrograms(ctx context.Context, p *Programs) context.Context {
	return context.WithValue(ctx, programsKey{}, p)
}

// ForNoOne is ctx for programs that speak for no one, for they do what an agent wrote.
func ForNoOne(ctx context.Context) context.Context { return WithPrograms(ctx, nil) }

// Has reports whether this very process was started under the context. It waits for a start that is under way.
func (p *Programs) Has(one task.Process) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Contains(p.started, one)
}

// start starts a program, and notes it where ctx has a place for that. One that cannot be looked up is not noted: what
// it asks for is asked by no one that is known.
func start(ctx context.Context, cmd *exec.Cmd) error {
	p, _ := ctx.Value(programsKey{}).(*Programs)
	if p == nil {
		return cmd.Start()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if one, err := Lookup(cmd.Process.Pid); err == nil {
		p.started = append(p.started, one)
	}
	return nil
}
