package screen

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells a text takes on the screen.
func Width(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return ansi.StringWidth(text)
		}
	}
	return len(text) // plain letters take one cell each
}

// Clean makes one line of untrusted text and removes everything that a terminal would execute.
func Clean(text string) string {
	if strings.IndexFunc(text, mayExecute) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r): // every kind of line end too
			return ' '
		case unicode.IsControl(r) || mayExecute(r) && r != utf8.RuneError:
			return -1
		}
		return r // a byte that is no character has become the sign for one
	}, ansi.Strip(text))
}

// mayExecute reports whether a terminal may execute a character instead of showing it. Direction marks would reverse
// the line. The zero-width joiner stays: it holds the parts of an emoji together.
func mayExecute(r rune) bool {
	return r != '\u200d' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) ||
		r == utf8.RuneError)
}

// CleanRaw is like clean, but shows each invalid byte as U+FFFD: a terminal may execute such bytes too.
func CleanRaw(text string) string { return Clean(strings.ToValidUTF8(text, "\uFFFD")) }

// CleanRawLines is like cleanLines, but shows each invalid byte as U+FFFD.
func CleanRawLines(text string) []string { return CleanLines(strings.ToValidUTF8(text, "\uFFFD")) }

// CleanLines splits untrusted text into lines and cleans each.
func CleanLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Clean(strings.ReplaceAll(line, "\t", "    "))
	}
	return lines
}

// KeepColours cleans a line of a terminal's screen but keeps its colours.
func KeepColours(line string) string {
	var b strings.Builder
	var state byte
	for len(line) > 0 {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		state = next
		if n == 0 {
			break
		}
		switch {
		case IsColour(seq):
			b.WriteString(seq)
		case width > 0:
			b.WriteString(Clean(seq))
		}
		line = line[n:]
	}
	return b.String()
}

// IsColour reports whether a sequence only sets colours and other attributes of text. Some sequences that end in the
// same letter configure the keyboard.
func IsColour(seq string) bool {
	inner, begun := strings.CutPrefix(seq, "\x1b[")
	inner, ended := strings.CutSuffix(inner, "m")
	return begun && ended && strings.Trim(inner, "0123456789;:") == ""
}

// Fit makes text exactly width cells wide: it cuts it or pads it at its right.
func Fit(text string, width int) string {
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

// Cut makes text at most width cells wide.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(text, width, "…")
}

// Squeeze makes text at most width cells wide and keeps both of its ends: names often differ only in their last
// letters.
func Squeeze(text string, width int) string {
	have := ansi.StringWidth(text)
	if have <= width {
		return text
	}
	if width < 8 {
		return Cut(text, width)
	}
	tail := ansi.TruncateLeft(text, have-(width-1)/2, "") // one cell more where a wide character is on the edge
	return ansi.Truncate(text, width-1-ansi.StringWidth(tail), "") + "…" + tail
}

// SqueezeTo is squeeze, padded to exactly width cells.
func SqueezeTo(text string, width int) string { return Fit(Squeeze(text, width), width) }

// PadLeft makes text exactly width cells wide, aligned to the right.
func PadLeft(text string, width int) string {
	text = Cut(text, width)
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}

// Count is a number in at most four characters up to 999 million.
func Count(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// Age is how long ago a time was, in a few letters.
func Age(from, now time.Time) string {
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

// Wrap wraps text to a width, between words where it can.
func Wrap(text string, width int) []string {
	if width < 1 {
		return nil
	}
	return strings.Split(ansi.Wrap(text, width, "-/"), "\n")
}
