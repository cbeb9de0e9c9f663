package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

func TestWindow_isTheTimeThatAPersonMeans(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 1, 40, 0, 0, time.UTC)
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		span
		want stats.Window
	}{
		{span{}, stats.Window{}},
		{span{"2026-11-29", ""}, stats.Window{Since: at(29, 0)}},
		{span{"2026-11-29", "2026-11-29"}, stats.Window{Since: at(29, 0), Until: at(30, 0)}},
		{span{"", "2026-11-28"}, stats.Window{Until: at(29, 0)}},
		{span{"24h", ""}, stats.Window{Since: now.AddDate(0, 0, -1)}},
		{span{"7d", "1d12h"}, stats.Window{Since: now.AddDate(0, 0, -7), Until: now.Add(-36 * time.Hour)}},
		{span{"2026-11-29T02:00:00.000+02:00", "2026-11-29T05:00:00Z"},
			stats.Window{Since: at(29, 0), Until: at(29, 5)}},
	} {
		w, err := zone{utc: true}.window(c.span, now)
		if err != nil || !w.Since.Equal(c.want.Since) || !w.Until.Equal(c.want.Until) {
			t.Errorf("%+v: found %+v, %v, want %+v", c.span, w, err, c.want)
		}
	}
	own, err := zone{}.window(span{"2026-11-29", ""}, now)
	if err != nil || !own.Since.Equal(time.Date(2026, 11, 29, 0, 0, 0, 0, time.Local)) {
		t.Errorf("a day begins at %s, %v", own.Since, err)
	}
}

func TestWindow_refusesWhatIsNoTimeAndWhatEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 1, 40, 0, 0, time.UTC)
	for s, want := range map[span]string{
		{"yesterday", ""}: `found "yesterday" as --since, expected how long ago, such as 24h or 7d, a day such as ` +
			`2026-11-30, or a time such as 2026-11-30T01:40:00Z`,
		{"", "2026-11-31"}:           `found "2026-11-31" as --until`,
		{"-7d", ""}:                  `found "-7d"`,
		{"-1h", ""}:                  `found "-1h"`,
		{"d", ""}:                    `found "d"`,
		{"7", ""}:                    `found "7"`,
		{"40000d", ""}:               `found "40000d"`,
		{"7d-1h", ""}:                `found "7d-1h"`,
		{"1d", "2d"}:                 "found --since 1d and --until 2d, expected --since to be before --until",
		{"2026-11-29", "2026-11-28"}: "--since to be before --until",
	} {
		_, err := zone{utc: true}.window(s, now)
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}
