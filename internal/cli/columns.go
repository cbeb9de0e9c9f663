package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/printable"
)

// columns prints rows whose cells stand below each other. A cell is one line, and as wide as it is on a screen.
func (p *Program) columns(rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable.Line(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 { // nothing comes after the last one
				widths[i] = max(widths[i], ansi.StringWidth(row[i]))
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if _, err := fmt.Fprint(p.Out, b.String()); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}
