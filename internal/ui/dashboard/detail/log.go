package detail

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"orange/internal/ui/dashboard/screen"
)

// logLines draws lines of the program's log as "15:04:05 info component msg key=value", with a heading for each day.
func (r renderer) logLines(lines []string, id string) []string {
	var out []string
	day := ""
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		entry, ok := readLog(line, id)
		if !ok {
			out = append(out, r.flow("", strings.Repeat(" ", clockWidth), screen.Text(nil, line))...)
			continue
		}
		at := entry.at.In(r.zone)
		if today := at.Format(time.DateOnly); today != day && !entry.at.IsZero() {
			if day != "" {
				out = append(out, "")
			}
			out = append(out, r.day(at))
			day = today
		}
		out = append(out, r.logLine(entry, at)...)
	}
	if len(out) == 0 {
		return []string{r.faint("the log says nothing about this task")}
	}
	return out
}

func (r renderer) logLine(e logEntry, at time.Time) []string {
	clock := strings.Repeat(" ", clockWidth)
	if !e.at.IsZero() {
		clock = r.faint(at.Format("15:04:05")) + " "
	}
	words := []screen.Fragment{screen.Text(levelStyle(r.style, e.level), e.level), screen.Raw(nil, " ")}
	if e.component != "" {
		words = append(words, screen.Text(&r.style.Info, e.component), screen.Raw(nil, " "))
	}
	words = append(words, screen.Text(nil, e.msg))
	for _, pair := range e.rest {
		words = append(words, screen.Raw(nil, " "), screen.Text(&r.style.Faint, pair[0]+"="), screen.Text(nil, pair[1]))
	}
	return r.flow(clock, strings.Repeat(" ", clockWidth), words...)
}

func levelStyle(s *screen.Style, level string) *lipgloss.Style {
	switch level {
	case "error":
		return &s.Bad
	case "warn":
		return &s.Warn
	}
	return &s.Faint
}

type logEntry struct {
	at                    time.Time
	level, component, msg string
	rest                  [][2]string // in the order of the line
}

// readLog parses a line of the log. It omits the id of the task, which all lines have.
func readLog(line, id string) (e logEntry, ok bool) {
	d := json.NewDecoder(strings.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return e, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return e, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return e, false
		}
		name, _ := key.(string)
		e.take(name, valueOf(raw), id)
	}
	_, err := d.Token()
	return e, err == nil
}

func (e *logEntry) take(name, value, id string) {
	switch {
	case name == "ts":
		at, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			e.rest = append(e.rest, [2]string{name, value})
			return
		}
		e.at = at
	case name == "level":
		e.level = value
	case name == "component":
		e.component = value
	case name == "msg":
		e.msg = value
	case value == "" || name == "task" && value == id:
	default:
		if strings.ContainsAny(value, " \n\t") {
			value = `"` + strings.Join(strings.Fields(value), " ") + `"`
		}
		e.rest = append(e.rest, [2]string{name, value})
	}
}

// valueOf is a value as people write it: a string without quotes, anything else as compact JSON.
func valueOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil {
		return b.String()
	}
	return string(raw)
}
