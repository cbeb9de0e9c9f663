package doctor

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// onAll does n pieces of work on all processors, some at once: each once, in any order, and none that has not begun
// when ctx ends. Progress hears how many have begun.
func (d *Doctor) onAll(ctx context.Context, what string, n, some int, work func(from, to int)) {
	var crew errgroup.Group
	crew.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n && ctx.Err() == nil; from += some {
		to := min(from+some, n)
		for i := from; i < to; i++ {
			d.progress(what, i, n)
		}
		crew.Go(func() error {
			work(from, to)
			return nil
		})
	}
	_ = crew.Wait() // no work fails: it keeps what it found
}
