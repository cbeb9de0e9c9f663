package screen

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Fragment is a piece of text with one style; without a style it is plain.
type Fragment struct {
	Text  string
	Style *lipgloss.Style
}

// Text is a fragment of untrusted text. It removes everything that a terminal would execute.
func Text(style *lipgloss.Style, text string) Fragment { return Fragment{CleanRaw(text), style} }

// Raw is a fragment of text that is safe to print as it is.
func Raw(style *lipgloss.Style, text string) Fragment { return Fragment{text, style} }

// Render renders the fragment with its style.
func (f Fragment) Render() string {
	if f.Style == nil || f.Text == "" {
		return f.Text
	}
	return f.Style.Render(f.Text)
}

// Indent is the prefix of the first line of a text and the prefix of every other line.
type Indent struct{ First, Rest string }

// Under is an indent within the indent g.
func (g Indent) Under(first, rest string) Indent { return Indent{g.First + first, g.Rest + rest} }

// narrowest is the least room for text. Text that is nested deeper gets no indent.
const narrowest = 12

// Bounded is the indent, or none where it would leave no room for text.
func (g Indent) Bounded(width int) Indent {
	if width-max(Width(g.First), Width(g.Rest)) >= min(narrowest, width) {
		return g
	}
	return Indent{}
}

// Flow wraps fragments to a width, between words where it can. It replaces several blanks in a row by one.
func Flow(fragments []Fragment, width int, g Indent) []string {
	g = g.Bounded(width)
	f := wrapper{width: max(1, width), margin: g.First, rest: g.Rest}
	f.room = max(1, f.width-Width(g.First))
	for _, one := range fragments {
		f.add(one)
	}
	f.endWord()
	if len(f.line) > 0 || len(f.lines) == 0 {
		f.endLine()
	}
	return f.lines
}

// wrapper is the state of Flow.
type wrapper struct {
	width, room  int
	margin, rest string // prefixes of this line and of those that follow
	lines        []string

	line      []Fragment
	used      int
	word      []Fragment
	wordWidth int
	gap       *Fragment // the blank before the word
}

func (f *wrapper) add(one Fragment) {
	text := one.Text
	for text != "" {
		if text[0] == '\n' {
			f.endWord()
			f.endLine()
			text = text[1:]
			continue
		}
		if text[0] == ' ' {
			f.endWord()
			if len(f.line) > 0 {
				f.gap = &Fragment{" ", one.Style}
			}
			text = strings.TrimLeft(text, " ")
			continue
		}
		end := strings.IndexAny(text, " \n")
		if end < 0 {
			end = len(text)
		}
		f.word = append(f.word, Fragment{text[:end], one.Style})
		f.wordWidth += Width(text[:end])
		text = text[end:]
	}
}

func (f *wrapper) endWord() {
	if len(f.word) == 0 {
		return
	}
	gap := 0
	if f.gap != nil {
		gap = 1
	}
	if len(f.line) > 0 && f.used+gap+f.wordWidth > f.room {
		f.endLine()
	}
	if f.gap != nil {
		f.put(*f.gap, 1)
		f.gap = nil
	}
	if f.used+f.wordWidth > f.room {
		f.breakWord()
	} else {
		for _, piece := range f.word {
			f.put(piece, 0)
		}
		f.used += f.wordWidth
	}
	f.word, f.wordWidth = f.word[:0], 0
}

// breakWord spreads a word that is wider than a line over several lines.
func (f *wrapper) breakWord() {
	for _, piece := range f.word {
		for text := piece.Text; text != ""; {
			letter, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if f.used > 0 && f.used+width > f.room {
				f.endLine()
			}
			f.put(Fragment{letter, piece.Style}, width)
			text = text[len(letter):]
		}
	}
}

func (f *wrapper) put(one Fragment, width int) {
	f.used += width
	if last := len(f.line) - 1; last >= 0 && f.line[last].Style == one.Style {
		f.line[last].Text += one.Text
		return
	}
	f.line = append(f.line, one)
}

func (f *wrapper) endLine() {
	var b strings.Builder
	b.WriteString(f.margin)
	for _, one := range f.line {
		b.WriteString(one.Render())
	}
	f.lines = append(f.lines, b.String())
	f.line, f.used, f.gap = f.line[:0], 0, nil
	f.margin = f.rest
	f.room = max(1, f.width-Width(f.rest))
}

// Break cuts a line into pieces of a width and keeps its blanks, as code needs it.
func Break(text string, width int) []string {
	if width < 1 || Width(text) <= width {
		return []string{text}
	}
	wrapped := ansi.Hardwrap(text, width, true) // it begins with an empty line where the first letter is too wide
	return strings.Split(strings.TrimPrefix(wrapped, "\n"), "\n")
}

// Most are the first lines of a text, as many as there is room for, each cut to a width; the last one says that there
// are more.
func Most(lines []string, most, width int) []string {
	if len(lines) > most && most > 0 {
		lines[most-1] = Cut(Cut(lines[most-1], width-2)+" …", width)
	}
	lines = lines[:min(len(lines), max(0, most))]
	for i := range lines {
		lines[i] = Cut(lines[i], width)
	}
	return lines
}

// OneLine is the beginning of an untrusted text of any length, on one line.
func OneLine(text string, most int) string {
	text = strings.Join(strings.Fields(CleanRaw(text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
