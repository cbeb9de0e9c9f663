package cli

import (
	"strings"
	"time"

	"orange/internal/rules/task"
)

// zone is the zone in which people read and write times: their own, or UTC.
type zone struct {
	utc bool
	own *time.Location // of the person; nil for that of this process
}

// place is the zone by its name.
func (z zone) place() *time.Location {
	switch {
	case z.utc:
		return time.UTC
	case z.own != nil:
		return z.own
	}
	return time.Local
}

// zoned is how a time is written for people who may not know in which zone: as the record has it, but in their own.
const zoned = "2006-01-02T15:04:05.000Z07:00"

// SetZone has times be those of a person's zone, where --utc does not say otherwise. Without it they are those of this
// process's.
func (z *zone) SetZone(own *time.Location) { z.own = own }

// clock is a time as people read it, in their own zone; with --utc it says that it is not.
func (z zone) clock(t time.Time, layout string) string {
	if z.utc {
		return t.UTC().Format(layout) + " UTC"
	}
	return t.In(z.place()).Format(layout)
}

// day is the day of a time with its zone: "2026-05-03 +02:00", or with --utc "2026-05-03 UTC".
func (z zone) day(t time.Time) string {
	if z.utc {
		return t.UTC().Format("2006-01-02 UTC")
	}
	return t.In(z.place()).Format("2006-01-02 -07:00")
}

// timeOfDay is a time without its day, which people have read already.
func (z zone) timeOfDay(t time.Time) string {
	return t.In(z.place()).Format(time.TimeOnly)
}

// stamp is a time with its zone: "2026-05-03T14:20:00.000+02:00", or with --utc as JSON has it.
func (z zone) stamp(t time.Time) string {
	if z.utc {
		return task.FormatTime(t)
	}
	return t.In(z.place()).Format(zoned)
}

// stamped is a text for people whose times, as the record has them, are in their own zone.
func (z zone) stamped(text string) string {
	if z.utc || !strings.Contains(text, "Z") {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ",;.:)")
		if t, err := time.Parse(task.TimeFormat, bare); err == nil {
			words[i] = z.stamp(t) + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}
