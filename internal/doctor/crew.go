package doctor

import (
	"context"
	"runtime"
	"sync"
)

// onAll does n pieces of work on all processors: each once, in any order, and none that has not begun when ctx ends.
// Progress hears how many have begun.
func (d *Doctor) onAll(ctx context.Context, what string, n int, work func(i int)) {
	var turn sync.Mutex
	begun := 0
	next := func() (i int, more bool) {
		turn.Lock()
		defer turn.Unlock()
		if begun == n || ctx.Err() != nil {
			return 0, false
		}
		d.progress(what, begun, n)
		begun++
		return begun - 1, true
	}
	var crew sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		crew.Go(func() {
			for i, more := next(); more; i, more = next() {
				work(i)
			}
		})
	}
	crew.Wait()
}
