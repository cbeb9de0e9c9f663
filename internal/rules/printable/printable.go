// Package printable makes text from outside fit to be shown: what a terminal would obey, what turns a line about,
// and invisible characters is written out, as \x1b or \u202e.
//
// It owns which characters those are, how they are written out, and the few colours that a text of Orange's own may
// have at a terminal; and how names and sizes are said. It shortens no text.
package printable

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Invisible reports whether a character shows nothing by itself and is no blank: a control character, a mark of
// direction, a joiner, a filler, a selector of variants, a tag. Two texts that differ in these alone look the
// same, and a text of these alone is empty.
func Invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// Text is a text of several lines that can be shown: newlines and tabs stay as they are.
func Text(text string) string { return show(text, false) }

// Line is a text that can be shown in one line: newlines and tabs are written out too.
func Line(text string) string { return show(text, true) }

// JSON is JSON that can be shown: within its strings, what would be written out is a \u escape, which means the
// same to a program. A byte that is no character becomes the sign for one, as every reader of JSON makes it.
func JSON(encoded []byte) []byte {
	var b []byte
	for at := 0; at < len(encoded); {
		r, size := utf8.DecodeRune(encoded[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, `\ufffd`...)
		case r > 0xffff && Invisible(r):
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		case Invisible(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, encoded[at:at+size]...)
		}
		at += size
	}
	return b
}

// Writer writes text so that it can be shown. Each call is a text of its own: a character must not be cut in two
// by them.
type Writer struct{ to io.Writer }

// NewWriter makes a writer that writes to another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to} }

// Write writes a text of several lines.
func (w *Writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Paint is how a piece of text looks at a terminal: a colour of its own palette, or bold or faint.
type Paint string

// The looks, as the number that tells a terminal of them.
const (
	Plain  Paint = ""
	Bold   Paint = "1"
	Faint  Paint = "2"
	Red    Paint = "31"
	Green  Paint = "32"
	Yellow Paint = "33"
	Cyan   Paint = "36"
)

// Piece is a text with its paint, and the address that a terminal leads to from it; empty for none.
type Piece struct {
	Text  string
	Paint Paint
	Link  string
}

// WritePieces writes pieces in one write. Each of them is made fit to be shown, so that only their paint colours
// anything, and only their links lead to an address.
func (w *Writer) WritePieces(pieces []Piece) error {
	var b strings.Builder
	for _, p := range pieces {
		text := Link(Text(p.Text), p.Link)
		if p.Paint == Plain || p.Text == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString("\x1b[" + string(p.Paint) + "m" + text + "\x1b[0m")
	}
	_, err := io.WriteString(w.to, b.String())
	return err
}

// firstHidden is where a text has the first character that cannot be shown; -1 where it has none, as most.
func firstHidden(text string, oneLine bool) int {
	for at, r := range text {
		switch {
		case r >= ' ' && r <= '~':
		case r == utf8.RuneError || Invisible(r) || oneLine && (r == '\n' || r == '\t'):
			return at
		}
	}
	return -1
}

// show writes out what cannot be shown.
func show(text string, oneLine bool) string {
	if firstHidden(text, oneLine) < 0 {
		return text
	}
	var b strings.Builder
	before := rune(' ')
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case r == '\n' && oneLine:
			b.WriteString(`\n`)
		case r == '\t' && oneLine:
			b.WriteString(`\t`)
		case r == '\r' && !oneLine && strings.HasPrefix(text[at+1:], "\n"):
			// the line ends as lines do elsewhere
		case r == '\r':
			b.WriteString(`\r`)
		case !Invisible(r) || joins(r, before):
			b.WriteString(text[at : at+size])
			before, at = r, at+size
			continue
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		before, at = ' ', at+size
	}
	return b.String()
}

// Characters that are seen in what they do to the one before them: they hold the parts of an emoji together, or
// shape letters.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	asText    = '\ufe0e'
	asPicture = '\ufe0f'
)

// joins reports whether an invisible character is part of the one before it, as people write it: in an emoji, or
// in a script whose letters join. The result has at most one of them, so that nothing can be hidden in a row of
// them.
func joins(r, before rune) bool {
	symbol := unicode.In(before, unicode.So, unicode.Sk)
	switch r {
	case asText, asPicture:
		return symbol
	case joiner:
		return symbol || before == asPicture || letter(before)
	case nonJoiner:
		return letter(before)
	}
	return false
}

// letter reports whether a character belongs to a script without capitals; the marks that any script may have are
// of none.
func letter(r rune) bool {
	return unicode.In(r, unicode.Lo, unicode.Mn, unicode.Mc) &&
		!unicode.In(r, unicode.Inherited, unicode.Latin) && !Invisible(r)
}

// Size tells how large something is, in the units of the metric system.
func Size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	at, size := 0, float64(bytes)/1000
	for ; size >= 999.95 && at < len("kMGTP")-1; at++ {
		size /= 1000
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGTP"[at])
}

// Names quotes the first of some names, at most so many, and says how many more there are.
func Names(all []string, most int) string {
	names := make([]string, 0, most)
	for _, name := range all[:min(len(all), most)] {
		names = append(names, strconv.Quote(name))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
