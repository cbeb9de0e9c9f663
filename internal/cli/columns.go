package cli

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/printable"
)

// columns prints rows whose cells stand below each other, in one write. A cell is one line, and as wide as it is on a
// screen.
func (p *Program) columns(rows [][]string) error {
	var widths []int
	size := 0
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable.Line(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 { // nothing comes after the last one
				widths[i] = max(widths[i], screenWidth(row[i]))
			} else {
				size += len(row[i]) + 1
			}
		}
	}
	for _, width := range widths {
		size += len(rows) * (width + 2)
	}
	p.lines.Grow(size)
	for _, row := range rows {
		p.lines.Write(appendRow(p.lines.AvailableBuffer(), row, widths))
	}
	return p.flush()
}

// appendRow adds a line with the cells of a row. There are no blanks at its end.
func appendRow(line []byte, row []string, widths []int) []byte {
	blanks := 0
	for i, cell := range row {
		if cell != "" {
			for range blanks {
				line = append(line, ' ')
			}
			line = append(line, cell...)
			blanks = 0
		}
		if i < len(row)-1 {
			blanks += max(0, widths[i]-screenWidth(cell)) + 2
		}
	}
	return append(line, '\n')
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
