package cli

import (
	"testing"
	"time"
)

func TestTimes_areThePersonsOwnUnlessTheyWantUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 3, 12, 20, 0, 0, time.UTC)
	own, utc := zone{}, zone{utc: true}
	here := at.Local().Format("2006-01-02T15:04:05.000Z07:00")
	for _, c := range []struct{ found, want string }{
		{own.stamp(at), here},
		{utc.stamp(at), "2026-05-03T12:20:00.000Z"},
		{own.clock(at, time.TimeOnly), at.Local().Format(time.TimeOnly)},
		{utc.clock(at, time.TimeOnly), "12:20:00 UTC"},
		{own.stamped("since 2026-05-03T12:20:00.000Z, and Zoe"), "since " + here + ", and Zoe"},
		{utc.stamped("since 2026-05-03T12:20:00.000Z."), "since 2026-05-03T12:20:00.000Z."},
	} {
		if c.found != c.want {
			t.Errorf("found %q, want %q", c.found, c.want)
		}
	}
}
