package proc

import (
	"context"
	"time"

	"orange/internal/rules/task"
)

// System has the functions of this package as methods, for packages whose tests replace them.
type System struct {
	Grace time.Duration // how long a process has to end by itself before it is killed
}

// Lookup finds the process that has the number now.
func (System) Lookup(pid int) (task.Process, error) { return Lookup(pid) }

// Alive reports whether this very process still runs.
func (System) Alive(p task.Process) (bool, error) { return Alive(p) }

// Watch returns nil when the process has ended, and errors.ErrUnsupported where the system cannot tell.
func (System) Watch(ctx context.Context, p task.Process) error { return Watch(ctx, p) }

// EndGroup ends the process group that the process leads.
func (s System) EndGroup(ctx context.Context, leader int) error {
	return EndGroup(ctx, leader, s.Grace)
}

// EndMarked ends the processes that were started with every one of the given KEY=value pairs.
func (s System) EndMarked(ctx context.Context, pairs ...string) error {
	return EndMarked(ctx, s.Grace, pairs...)
}

// FindProgram looks a program up: a name with a slash as it is, another one on the given PATH.
func (System) FindProgram(name, path string) (string, error) { return Find(name, path) }

// RunLimited runs a program to its end, within limits.
func (System) RunLimited(ctx context.Context, c Command, l Limits) (LimitedResult, error) {
	return RunLimited(ctx, c, l)
}
