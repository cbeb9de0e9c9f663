package dashboard

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes text from outside fit for the screen: one line, without anything that a terminal would obey.
func clean(text string) string {
	if strings.IndexFunc(text, obeyed) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r): // every kind of line end too
			return ' '
		case unicode.IsControl(r) || obeyed(r) && r != utf8.RuneError:
			return -1
		}
		return r // a byte that is no character has become the sign for one
	}, ansi.Strip(text))
}

// obeyed says whether a terminal may obey a character instead of showing it. Marks of direction would turn the
// line about. The joiner is shown: it holds the parts of an emoji together.
func obeyed(r rune) bool {
	return r != '\u200d' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) ||
		r == utf8.RuneError)
}

// cleanLines is a long text fit for the screen, line by line.
func cleanLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = clean(strings.ReplaceAll(line, "\t", "    "))
	}
	return lines
}

// colours keeps the colours of a terminal's line and nothing else that a terminal would obey.
func colours(line string) string {
	var b strings.Builder
	var state byte
	for len(line) > 0 {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		state = next
		if n == 0 {
			break
		}
		switch {
		case isColour(seq):
			b.WriteString(seq)
		case width > 0:
			b.WriteString(clean(seq))
		}
		line = line[n:]
	}
	return b.String()
}

// isColour says whether a sequence sets colours and the like, and nothing else: others that end in the same
// letter set the keyboard.
func isColour(seq string) bool {
	inner, begun := strings.CutPrefix(seq, "\x1b[")
	inner, ended := strings.CutSuffix(inner, "m")
	return begun && ended && strings.Trim(inner, "0123456789;:") == ""
}

// fit makes text exactly so many cells wide.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	have := ansi.StringWidth(text)
	if have > width {
		text = ansi.Truncate(text, width, "…")
		have = ansi.StringWidth(text)
	}
	return text + strings.Repeat(" ", max(0, width-have))
}

// cut makes text at most so many cells wide.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(text, width, "…")
}

// squeeze makes text at most so many cells wide and keeps both of its ends: names often differ in the last
// letters alone.
func squeeze(text string, width int) string {
	have := ansi.StringWidth(text)
	if have <= width {
		return text
	}
	if width < 8 {
		return cut(text, width)
	}
	tail := ansi.TruncateLeft(text, have-(width-1)/2, "") // one cell more where a wide character stands on the edge
	return ansi.Truncate(text, width-1-ansi.StringWidth(tail), "") + "…" + tail
}

// pad makes text exactly so many cells wide, with the blanks before it.
func pad(text string, width int) string {
	text = cut(text, width)
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

// count is a number in at most four characters, for as long as that can be.
func count(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// age is how long ago something was, in a few letters.
func age(from, now time.Time) string {
	if from.IsZero() {
		return ""
	}
	d := now.Sub(from)
	switch {
	case d < 5*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// wrap breaks text into lines of a width, between words where it can.
func wrap(text string, width int) []string {
	if width < 1 {
		return nil
	}
	return strings.Split(ansi.Wrap(text, width, "-/"), "\n")
}
