package task

import (
	"fmt"
	"strconv"
	"time"
)

// How often the one who watches over the agents lets others hear of it, and after how much silence it is reported that
// no one watches.
const (
	HeardEvery = 10 * time.Second
	MostSilent = time.Minute
)

// Watcher is the process that has the lease of the monitor, as others see it.
type Watcher struct {
	PID     int       // 0 where it has not noted itself
	Heard   time.Time // when it let others hear of it last
	Stopped bool      // the system says that it was stopped, and does not run on
	Yields  bool      // it watches only as long as no person's monitor or dashboard does
	Began   string    // when its process began, as the system says it
}

// Name is what people call it.
func (w Watcher) Name() string {
	if w.PID == 0 {
		return "unknown"
	}
	return strconv.Itoa(w.PID)
}

// Trouble reports why no one watches although the lease is held, and what to do; both are empty where someone does.
func (w Watcher) Trouble(now time.Time) (found, advice string) {
	switch {
	case w.PID == 0:
		return "", ""
	case w.Stopped:
		return fmt.Sprintf(
				"process %d has the lease of the monitor and is stopped: no monitor watches over the agents", w.PID),
			fmt.Sprintf("let it go on with %q, or end it with %q", fmt.Sprintf("kill -CONT %d", w.PID),
				fmt.Sprintf("kill -KILL %d", w.PID))
	case now.Sub(w.Heard) > MostSilent:
		return fmt.Sprintf("process %d has the lease of the monitor and has done nothing since %s: no monitor "+
				"watches over the agents", w.PID, w.Heard.Format(time.DateTime)),
			fmt.Sprintf("end it with %q, or %q if that does not help", fmt.Sprintf("kill %d", w.PID),
				fmt.Sprintf("kill -KILL %d", w.PID))
	}
	return "", ""
}
