package detail

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"orange/internal/rules/eventtext"
	"orange/internal/rules/history"
	"orange/internal/ui/dashboard/screen"
)

// clockWidth is the width of "15:04:05 ".
const clockWidth = 9

// historyLines draws the history of a task, the newest event last.
func (r renderer) historyLines(events []history.Event) []string {
	if len(events) == 0 {
		return []string{r.faint("nothing happened yet")}
	}
	var out []string
	day := ""
	for i := range events {
		at := events[i].Time.In(r.zone)
		if today := at.Format(time.DateOnly); today != day {
			if day != "" {
				out = append(out, "")
			}
			out = append(out, r.day(at))
			day = today
		}
		out = append(out, r.eventLines(&events[i], at)...)
	}
	return out
}

// eventLines draws one event: when, what and who; below it the reason and the details.
func (r renderer) eventLines(e *history.Event, at time.Time) []string {
	sign, tone := eventtext.Mark(e.Type)
	indent := strings.Repeat(" ", clockWidth+2)
	words := []screen.Fragment{screen.Raw(r.styleOf(tone), sign), screen.Raw(nil, " ")}
	if e.IsMove() {
		words = append(words, screen.Text(nil, string(e.From)), screen.Raw(&r.style.Faint, " → "),
			screen.Text(&r.style.Bold, string(e.To)))
	} else {
		words = append(words, screen.Text(nil, eventtext.What(e)))
	}
	words = append(words, screen.Raw(nil, "  "), screen.Text(&r.style.Faint, eventtext.Who(e)))
	if e.Subject.Commit != "" {
		words = append(words, screen.Text(&r.style.Faint, fmt.Sprintf("  at %.7s", e.Subject.Commit)))
	}
	out := r.flow(r.faint(at.Format(time.TimeOnly))+" ", indent, words...)
	if e.Reason != "" {
		for _, line := range screen.CleanRawLines(strings.TrimSpace(e.Reason)) {
			out = append(out, r.flow(indent, indent, screen.Raw(nil, line))...)
		}
	}
	if details := strings.Join(append(eventtext.Evidence(e), eventtext.Details(e)...), " · "); details != "" {
		out = append(out, r.flow(indent, indent, screen.Text(&r.style.Faint, details))...)
	}
	return out
}

// styleOf is the colour of a tone.
func (r renderer) styleOf(tone eventtext.Tone) *lipgloss.Style {
	s := r.style
	switch tone {
	case eventtext.Info:
		return &s.Info
	case eventtext.Good:
		return &s.Good
	case eventtext.Warn:
		return &s.Warn
	case eventtext.Bad:
		return &s.Bad
	}
	return &s.Faint
}
