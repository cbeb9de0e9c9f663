package monitor

import (
	"context"
	"time"
)

// idleEvery is how often a watch that ends by itself looks whether it is still needed.
const idleEvery = 10 * time.Second

// endIdle calls end when there has been no live task for the time Idle, or when the watch cannot read the record any
// more because its home is gone.
func (m *Monitor) endIdle(ctx context.Context, end func()) {
	since := m.Now()
	for {
		if pause(ctx, idleEvery); ctx.Err() != nil {
			return
		}
		if m.Gone() {
			end()
			return
		}
		tasks, err := m.taskLists(ctx)
		if err != nil || len(tasks.live) > 0 {
			since = m.Now()
			continue
		}
		if m.Now().Sub(since) >= m.Idle {
			end()
			return
		}
	}
}
