package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

// span is a window of time as a person gives it.
type span struct{ since, until string }

// spanFlags adds --since and --until to a command; what says what happened in that time.
func spanFlags(c *cobra.Command, s *span, what string) {
	c.Flags().StringVar(&s.since, "since", "", what+" since then: 24h, 7d, or a day such as 2026-11-29")
	c.Flags().StringVar(&s.until, "until", "", what+" until then; a day counts to its end")
}

// window reads a span. It ends before its end: a day ends where the next one begins.
func (z zone) window(s span, now time.Time) (w stats.Window, err error) {
	if s.since != "" {
		if w.Since, _, err = z.moment("--since", s.since, now); err != nil {
			return w, err
		}
	}
	if s.until != "" {
		if _, w.Until, err = z.moment("--until", s.until, now); err != nil {
			return w, err
		}
	}
	if s.until != "" && !w.Since.Before(w.Until) {
		err = usage("found --since %s and --until %s, expected --since to be before --until",
			s.since, s.until)
	}
	return w, err
}

// moment reads a time as a person gives it, in their own zone: how long ago, a day, or a time as Orange prints it. Only
// a day has an end that is not its beginning.
func (z zone) moment(flag, word string, now time.Time) (from, to time.Time, err error) {
	zone := z.place()
	if day, no := time.ParseInLocation(time.DateOnly, word, zone); no == nil {
		return day, day.AddDate(0, 0, 1), nil
	}
	if at, no := time.Parse(time.RFC3339, word); no == nil {
		return at, at, nil
	}
	ago, is := length(word)
	if !is {
		return from, to, usage("found %q as %s, expected how long ago, such as 24h or 7d, a day such as %s, or a time "+
			"such as %s", word, flag, now.In(zone).Format(time.DateOnly), now.In(zone).Format(time.RFC3339))
	}
	return now.Add(-ago), now.Add(-ago), nil
}

// length reads a length of time such as "90m", "24h" or "7d".
func length(word string) (time.Duration, bool) {
	const day, mostDays = 24 * time.Hour, 100 * 365
	var days time.Duration
	if number, rest, is := strings.Cut(word, "d"); is {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > mostDays {
			return 0, false
		}
		if days = time.Duration(n) * day; rest == "" {
			return days, true
		}
		word = rest
	}
	d, err := time.ParseDuration(word)
	return days + d, err == nil && d >= 0 && d < mostDays*day
}

// exactly puts into the flags of a command the very times that they mean here: at another host they may mean others.
func (z zone) exactly(c *cobra.Command) error {
	s := span{c.Flags().Lookup("since").Value.String(), c.Flags().Lookup("until").Value.String()}
	w, err := z.window(s, time.Now())
	if err == nil && s.since != "" {
		err = c.Flags().Set("since", task.FormatTime(w.Since))
	}
	if err == nil && s.until != "" {
		err = c.Flags().Set("until", task.FormatTime(w.Until))
	}
	return err
}

// windowLine is a window for people.
func (z zone) windowLine(w stats.Window) string {
	var words []string
	if !w.Since.IsZero() {
		words = append(words, "since "+z.clock(w.Since, time.DateTime))
	}
	if !w.Until.IsZero() {
		words = append(words, "until "+z.clock(w.Until, time.DateTime))
	}
	return strings.Join(words, " ")
}
