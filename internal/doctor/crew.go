package doctor

import (
	"context"
	"runtime"
	"sync"
)

// onAll does n pieces of work on all processors, some at once: each once, in any order, and none that has not begun
// when ctx ends. Progress hears how many have begun.
func (d *Doctor) onAll(ctx context.Context, what string, n, some int, work func(from, to int)) {
	var turn sync.Mutex
	begun := 0
	next := func() (from, to int) {
		turn.Lock()
		defer turn.Unlock()
		if begun == n || ctx.Err() != nil {
			return n, n
		}
		from = begun
		begun = min(from+some, n)
		for i := from; i < begun; i++ {
			d.progress(what, i, n)
		}
		return from, begun
	}
	var crew sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		crew.Go(func() {
			for from, to := next(); from < n; from, to = next() {
				work(from, to)
			}
		})
	}
	crew.Wait()
}

// behind makes a crew that works on all processors while its caller goes on: begin waits until one of it is free, and
// wait until all is done. After wait there is no begin.
func behind() (begin func(work func()), wait func()) {
	open := make(chan func())
	var crew sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		crew.Go(func() {
			for work := range open {
				work()
			}
		})
	}
	return func(work func()) { open <- work }, func() {
		close(open)
		crew.Wait()
	}
}
