package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/printable"
)

// columns prints rows whose cells stand below each other, in one write. A cell is one line, and as wide as it is on a
// screen.
func (p *Program) columns(rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable.Line(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 { // nothing comes after the last one
				widths[i] = max(widths[i], screenWidth(row[i]))
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		blanks := 0
		for i, cell := range row {
			if cell != "" {
				b.WriteString(strings.Repeat(" ", blanks))
				b.WriteString(cell)
				blanks = 0
			}
			blanks += max(0, widths[i]-screenWidth(cell)) + 2
		}
		b.WriteByte('\n')
	}
	return p.print(b.String())
}

// screenWidth is how many columns a text takes: as many as it has bytes where it is nothing but ASCII.
func screenWidth(text string) int {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}
