package dashboard

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// ink is a piece of a line in one look; without a look it is plain.
type ink struct {
	text string
	look *lipgloss.Style
}

// inked is a piece of text from outside, fit for the screen.
func inked(look *lipgloss.Style, text string) ink { return ink{proper(text), look} }

// proper is text from outside on one line: bytes that are no text are shown as such, for a terminal may obey them too.
func proper(text string) string { return clean(strings.ToValidUTF8(text, "\uFFFD")) }

// properLines is a long text from outside, line by line.
func properLines(text string) []string { return cleanLines(strings.ToValidUTF8(text, "\uFFFD")) }

// breakHere is ink that ends a line.
func breakHere() ink { return ink{text: "\n"} }

func (i ink) paint() string {
	if i.look == nil || i.text == "" {
		return i.text
	}
	return i.look.Render(i.text)
}

// cells is how wide a text is. Most of it is plain letters, for which the count of bytes does.
func cells(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// margin is what stands before the first line of a text and before each other one.
type margin struct{ first, rest string }

// under is a margin within another one.
func (g margin) under(first, rest string) margin { return margin{g.first + first, g.rest + rest} }

// narrowest is the least room for text: what is nested deeper has no more margin of its own.
const narrowest = 12

// bounded is the margin, or none where it would leave no room for text.
func (g margin) bounded(width int) margin {
	if width-max(visible(g.first), visible(g.rest)) >= min(narrowest, width) {
		return g
	}
	return margin{}
}

// flow breaks inks into lines of a width, between words where it can. Blanks in a row are one.
func flow(inks []ink, width int, g margin) []string {
	g = g.bounded(width)
	f := flowing{width: max(1, width), margin: g.first, rest: g.rest}
	f.room = max(1, f.width-visible(g.first))
	for _, one := range inks {
		f.add(one)
	}
	f.endWord()
	if len(f.line) > 0 || len(f.lines) == 0 {
		f.endLine()
	}
	return f.lines
}

// flowing is a text that is being broken into lines.
type flowing struct {
	width, room  int
	margin, rest string // of this line, and of those that follow
	lines        []string

	line      []ink
	used      int
	word      []ink
	wordWidth int
	gap       *ink // the blank before the word
}

func (f *flowing) add(one ink) {
	text := one.text
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
				f.gap = &ink{" ", one.look}
			}
			text = strings.TrimLeft(text, " ")
			continue
		}
		end := strings.IndexAny(text, " \n")
		if end < 0 {
			end = len(text)
		}
		f.word = append(f.word, ink{text[:end], one.look})
		f.wordWidth += cells(text[:end])
		text = text[end:]
	}
}

func (f *flowing) endWord() {
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

// breakWord spreads a word that is wider than a line over several.
func (f *flowing) breakWord() {
	for _, piece := range f.word {
		for text := piece.text; text != ""; {
			letter, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if f.used > 0 && f.used+width > f.room {
				f.endLine()
			}
			f.put(ink{letter, piece.look}, width)
			text = text[len(letter):]
		}
	}
}

func (f *flowing) put(one ink, width int) {
	f.used += width
	if last := len(f.line) - 1; last >= 0 && f.line[last].look == one.look {
		f.line[last].text += one.text
		return
	}
	f.line = append(f.line, one)
}

func (f *flowing) endLine() {
	var b strings.Builder
	b.WriteString(f.margin)
	for _, one := range f.line {
		b.WriteString(one.paint())
	}
	f.lines = append(f.lines, b.String())
	f.line, f.used, f.gap = f.line[:0], 0, nil
	f.margin = f.rest
	f.room = max(1, f.width-visible(f.rest))
}

// broken cuts a line into pieces of a width: for code, where blanks count.
func broken(text string, width int) []string {
	if width < 1 || cells(text) <= width {
		return []string{text}
	}
	var out []string
	start, used := 0, 0
	for at := 0; at < len(text); {
		letter, wide := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		if used > 0 && used+wide > width {
			out = append(out, text[start:at])
			start, used = at, 0
		}
		used += wide
		at += len(letter)
	}
	return append(out, text[start:])
}

// oneLine is the beginning of a text of any length, on one line.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(proper(text)), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
