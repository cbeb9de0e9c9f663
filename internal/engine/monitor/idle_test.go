package monitor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A watch that was started in the background ends once there has been no live task for its time, and at once where its
// home is gone. That the record cannot be read is no reason to end.
func TestEndIdle_endsTheWatchThatNoTaskNeeds(t *testing.T) {
	t.Parallel()
	const idle = time.Minute
	for name, c := range map[string]struct {
		record listed
		gone   bool
		unread error
		want   time.Duration // 0 for never
	}{
		"no task":       {want: idle},
		"a live task":   {record: listed{{ID: "one", Live: true}}},
		"a home gone":   {record: listed{{ID: "one", Live: true}}, gone: true, want: idleEvery},
		"it is damaged": {unread: errors.New("damaged")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &Monitor{Now: time.Now, Record: failing{c.record, c.unread}, Idle: idle,
					Gone: func() bool { return c.gone }}
				ctx, off := context.WithTimeout(t.Context(), time.Hour)
				defer off()
				began, ended := time.Now(), time.Duration(0)
				m.endIdle(ctx, func() { ended = time.Since(began) })
				if ended != c.want {
					t.Errorf("it ended after %s, want %s", ended, c.want)
				}
			})
		})
	}
}

// failing is a record that may be unreadable.
type failing struct {
	listed
	err error
}

func (f failing) Changed(context.Context) (int64, error) { return 1, f.err }
