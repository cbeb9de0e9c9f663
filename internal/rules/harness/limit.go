package harness

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// lastLines are those of a screen that say how it is now: what is above may have been said long ago.
const lastLines = 15

// GoOn is what Orange types for an agent whose limit is over.
const GoOn = overNow + " should be over now. Go on with the task where you stopped."

// overNow begins the message after which an earlier line about a limit says nothing any more.
const overNow = "The limit of your provider"

// Limit is the line among the last ones of a program's screen that says that its provider lets it do no more for now;
// empty where none does, or the harness does not know such lines. What follows below up to the time that it names is
// part of it: programs break their lines. Where Orange has typed GoOn below a limit, that limit is over.
func (h *Harness) Limit(screen string) string { return untilTime(from(h.Limited, screen)) }

// Refusal is the line among the last ones of a program's screen that says that its model refuses it; empty where none
// does, or the harness does not know such lines.
func (h *Harness) Refusal(screen string) string {
	found := from(h.Refused, screen)
	if len(found) == 0 {
		return ""
	}
	return withoutFrame(found[0])
}

// from are the lines of a screen from the last one on that matches, if that is among the last that are not blank, and
// Orange has not typed GoOn below it.
func from(pattern *regexp.Regexp, screen string) []string {
	if pattern == nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	for i, seen := len(lines)-1, 0; i >= 0 && seen < lastLines; i-- {
		switch {
		case strings.TrimSpace(lines[i]) == "":
			continue
		case strings.Contains(lines[i], overNow):
			return nil
		case pattern.MatchString(lines[i]):
			return lines[i:]
		}
		seen++
	}
	return nil
}

// mostBroken is how many lines a program makes at most of the one that tells of a limit and its time.
const mostBroken = 4

// untilTime is the first of some lines, and those after it in the same paragraph up to one that names a time; empty
// where there are no lines.
func untilTime(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var whole string
	first := withoutFrame(lines[0])
	for _, line := range lines[:min(mostBroken, len(lines))] {
		line = withoutFrame(line)
		if line == "" {
			break
		}
		whole = strings.TrimSpace(whole + " " + line)
		for _, form := range []*regexp.Regexp{spans, instant, epoch, clock} {
			if form.MatchString(whole) {
				return whole
			}
		}
	}
	return first
}

func withoutFrame(line string) string {
	return strings.Trim(line, " \t│┃|■●•⎿╰─✕⚡ℹ")
}

// longestLimit is how far the end of a limit can be: providers count by the week. What is farther is no time of theirs.
const longestLimit = 8 * 24 * time.Hour

// Zone finds a time zone by its name, as time.LoadLocation does, which reads the files of the machine.
type Zone func(name string) (*time.Location, error)

// LimitTime is when a limit is over by the line that tells of it, in the forms that the known programs have. It is
// false where the line names no time between now and a week on. A time of day is one of the zone of now, if the line
// names no other that this machine knows.
func LimitTime(line string, now time.Time, zone Zone) (time.Time, bool) {
	for _, read := range []func(string, time.Time, Zone) (time.Time, bool){afterSpan, atInstant, atClock} {
		if at, found := read(line, now, zone); found && at.After(now) && at.Sub(now) <= longestLimit {
			return at, true
		}
	}
	return time.Time{}, false
}

// length is one number with its unit.
const length = `\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|ms|m|seconds?|secs?|s)`

var (
	spans = regexp.MustCompile(`(?i)\b(?:again|retry(?:ing)?|resets?)\b[^.]{0,12}?\b(?:in|after)[ :]+(?:about )?` +
		`((?:` + length + `[ ,]*(?:and )?)*` + length + `)\b`)
	span    = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|[dhms])`)
	instant = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)
	epoch   = regexp.MustCompile(`\|(\d{10})\b`)
	clock   = regexp.MustCompile(`(?i)(?:resets?|again|until|available)(?: again)?(?: on| at)? ` +
		`(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, ?(\d{4}))?,?(?: at)? )?` +
		`(\d{1,2})(?::(\d\d))?\s*(am|pm)?\b(?:[^(]{0,3}\(([A-Za-z0-9_+/-]+)\))?`)
)

// afterSpan reads "try again in 2 days 3 hours" and "retrying in 5m 20s".
func afterSpan(line string, now time.Time, _ Zone) (time.Time, bool) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second,
		"ms": time.Millisecond}
	found := spans.FindStringSubmatch(line)
	if found == nil {
		return time.Time{}, false
	}
	var wait time.Duration
	for _, one := range span.FindAllStringSubmatch(found[1], -1) {
		n, err := strconv.ParseFloat(one[1], 64)
		if err != nil || n > 1e6 {
			return time.Time{}, false
		}
		wait += time.Duration(n * float64(units[strings.ToLower(one[2])]))
	}
	return now.Add(wait), true
}

// atInstant reads "2026-11-24T03:00:00Z" and the seconds since 1970 behind a bar.
func atInstant(line string, _ time.Time, _ Zone) (time.Time, bool) {
	if found := epoch.FindStringSubmatch(line); found != nil {
		seconds, err := strconv.ParseInt(found[1], 10, 64)
		return time.Unix(seconds, 0), err == nil
	}
	text := strings.Replace(instant.FindString(line), " ", "T", 1)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// lately is how long ago a time of day may be that a line names: the limit is over then. Programs name the end of a few
// hours, and rarely that of a whole day.
const lately = 6 * time.Hour

// atClock reads "resets 5:10pm (Europe/Paris)" and "try again at Nov 24th, 2026 3:05 PM". It is false for a zone that
// this machine does not know.
func atClock(line string, now time.Time, zone Zone) (time.Time, bool) {
	found := clock.FindStringSubmatch(line)
	if found == nil || found[5] == "" && found[6] == "" {
		return time.Time{}, false
	}
	if found[7] != "" {
		place, err := zone(found[7])
		if err != nil {
			return time.Time{}, false
		}
		now = now.In(place)
	}
	hour, minute, valid := timeOfDay(found[4], found[5], found[6])
	year, month, day := now.Date()
	if found[1] != "" {
		named, err := time.Parse("Jan", strings.ToUpper(found[1][:1])+strings.ToLower(found[1][1:]))
		if err != nil {
			return time.Time{}, false
		}
		month, day = named.Month(), number(found[2])
		if found[3] != "" {
			year = number(found[3])
		}
	}
	at := time.Date(year, month, day, hour, minute, 0, 0, now.Location())
	switch {
	case at.After(now):
	case found[5] != "" && now.Sub(at) < time.Minute:
		at = at.Add(time.Minute) // the minute of now is not over
	case found[1] == "" && now.Sub(at) > lately:
		at = at.AddDate(0, 0, 1)
	case found[1] != "" && found[3] == "" && now.Sub(at) > longestLimit:
		at = at.AddDate(1, 0, 0)
	}
	return at, valid
}

// timeOfDay reads "5", "10" and "pm".
func timeOfDay(hours, minutes, half string) (hour, minute int, valid bool) {
	hour, minute, half = number(hours), number(minutes), strings.ToLower(half)
	most := 23
	if half != "" {
		most = 12
	}
	valid = hour <= most && minute <= 59
	if half != "" {
		hour %= 12
	}
	if half == "pm" {
		hour += 12
	}
	return hour, minute, valid
}

// number reads digits; no digits are 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
