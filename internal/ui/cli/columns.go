package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/printable"
)

// table is rows whose cells stand below each other; the first one has the heads, where there are any.
type table struct {
	rows [][]string
	// gives are the columns that become narrower first where a terminal is not wide enough, the first one first. Paths
	// lose their beginning there, and everything else its end.
	gives, paths []int
	// spare is the column that is left out where those that give are not enough; 0 where there is none.
	spare    int
	headless bool
	// look is how a cell looks at a terminal with colours; nil where only the heads have a look.
	look func(row, column int) printable.Paint
	// leads is the address that a cell leads to there; nil where none does.
	leads func(row, column int) string
}

const (
	comfortable = 16 // how narrow a column becomes that gives, while others can give too
	leastColumn = 8  // and how narrow where that is not enough
	leastOfAll  = 3  // and how narrow any becomes then
	leastOfID   = 6  // how many letters of an id there are at least: the list may leave out tasks
)

// columns prints rows without heads whose cells stand below each other. A cell is one line.
func (p *printer) columns(rows [][]string) error {
	return p.table(table{rows: rows, headless: true})
}

// table prints a table in one write: as it is for a program, and as it fits for a person at a terminal.
func (p *printer) table(t table) error {
	for _, row := range t.rows {
		for i, cell := range row {
			row[i] = printable.Line(cell)
		}
	}
	width, coloured := p.outTerminal()
	if width > 0 {
		t.fit(width)
	}
	if coloured {
		return p.pieces(t.pieces())
	}
	return p.rows(t.rows)
}

// outTerminal is how wide the terminal at the output is, and whether it shall show colours; 0 where it is none.
func (p *printer) outTerminal() (width int, coloured bool) {
	if p.OutTerminal == nil || p.json {
		return 0, false
	}
	width, coloured = p.OutTerminal()
	return width, coloured && !p.plain
}

// rows prints rows that need no more than their cells.
func (p *printer) rows(rows [][]string) error {
	var widths []int
	size := 0
	for _, row := range rows {
		for i := range row {
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

// widths are those of all columns.
func (t table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], screenWidth(cell))
		}
	}
	return widths
}

// fit makes columns narrower until the rows fit: ids to the letters that tell them apart, then the columns that give,
// in their order; then it leaves out the spare one, and then whichever is widest gives.
func (t *table) fit(width int) {
	if t.over(width) > 0 {
		t.shortenIDs()
	}
	fits := t.widths()
	over := t.give(fits, t.over(width), comfortable)
	if over > 0 && t.spare > 0 {
		t.leaveOut(t.spare)
		fits = t.widths()
		over = t.give(fits, t.over(width), comfortable)
	}
	over = t.give(fits, over, leastColumn)
	widths := t.widths()
	others := fits
	if t.hasIDs() { // an id that is cut again is none
		others = fits[1:]
	}
	for ; over > 0 && len(others) > 0 && slices.Max(others) > leastOfAll; over-- {
		others[slices.Index(others, slices.Max(others))]--
	}
	for _, row := range t.rows {
		for i := range row {
			if fits[i] < widths[i] {
				row[i] = shorten(row[i], fits[i], slices.Contains(t.paths, i))
			}
		}
	}
}

// give makes those columns narrower that give, each down to a width as long as the rows are too wide, and reports how
// much too wide they still are.
func (t *table) give(fits []int, over, down int) int {
	for _, i := range t.gives {
		if i < len(fits) && over > 0 {
			least := min(fits[i], max(down, screenWidth(t.rows[0][i])))
			given := min(over, fits[i]-least)
			over, fits[i] = over-given, fits[i]-given
		}
	}
	return over
}

// leaveOut takes a column away.
func (t *table) leaveOut(gone int) {
	for i, row := range t.rows {
		t.rows[i] = slices.Delete(row, gone, gone+1)
	}
	for _, all := range []*[]int{&t.gives, &t.paths} {
		*all = slices.DeleteFunc(slices.Clone(*all), func(i int) bool { return i == gone })
		for at, i := range *all {
			if i > gone {
				(*all)[at]--
			}
		}
	}
	switch {
	case t.spare == gone:
		t.spare = 0
	case t.spare > gone:
		t.spare--
	}
	before := func(column int) int { // as it was counted then
		if column >= gone {
			return column + 1
		}
		return column
	}
	if look := t.look; look != nil {
		t.look = func(row, column int) printable.Paint { return look(row, before(column)) }
	}
	if leads := t.leads; leads != nil {
		t.leads = func(row, column int) string { return leads(row, before(column)) }
	}
}

// over is how many columns of a terminal the rows are too wide.
func (t table) over(width int) int {
	widths := t.widths()
	over := 2*(len(widths)-1) - width
	for _, one := range widths {
		over += one
	}
	return over
}

// hasIDs reports whether the first column has the ids of tasks.
func (t table) hasIDs() bool { return !t.headless && len(t.rows) > 0 && t.rows[0][0] == "ID" }

// shortenIDs leaves of the ids of tasks as many letters as tell them apart: every command takes those.
func (t table) shortenIDs() {
	if !t.hasIDs() {
		return
	}
	ids := make([]string, 0, len(t.rows))
	for _, row := range t.rows[1:] {
		ids = append(ids, row[0])
	}
	slices.Sort(ids)
	letters := leastOfID
	for i := 1; i < len(ids); i++ {
		same := 0
		for same < min(len(ids[i]), len(ids[i-1])) && ids[i][same] == ids[i-1][same] {
			same++
		}
		letters = max(letters, same+1)
	}
	for _, row := range t.rows[1:] {
		row[0] = row[0][:min(letters, len(row[0]))]
	}
}

// shorten cuts a cell to a width: at its beginning where it is a path.
func shorten(cell string, width int, path bool) string {
	switch over := screenWidth(cell) - width; {
	case over <= 0:
		return cell
	case path:
		return ansi.TruncateLeft(cell, over+1, "…")
	}
	return ansi.Truncate(cell, width, "…")
}

// pieces are the table's cells with their looks.
func (t table) pieces() []printable.Piece {
	widths := t.widths()
	var out []printable.Piece
	for r, row := range t.rows {
		blanks := 0
		for i, cell := range row {
			if cell != "" {
				out = append(out, printable.Piece{Text: strings.Repeat(" ", blanks)},
					printable.Piece{Text: cell, Paint: t.lookOf(r, i), Link: t.leadsTo(r, i)})
				blanks = 0
			}
			blanks += widths[i] - screenWidth(cell) + 2
		}
		out = append(out, printable.Piece{Text: "\n"})
	}
	return out
}

func (t table) leadsTo(row, column int) string {
	if t.leads == nil || row == 0 && !t.headless {
		return ""
	}
	return t.leads(row, column)
}

func (t table) lookOf(row, column int) printable.Paint {
	switch {
	case row == 0 && !t.headless:
		return printable.Bold
	case t.look == nil:
		return printable.Plain
	}
	return t.look(row, column)
}

// pieces prints coloured text behind what was said before it.
func (p *printer) pieces(all []printable.Piece) error {
	if err := p.flush(); err != nil {
		return err
	}
	p.clear()
	if err := p.Out.WritePieces(all); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
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
