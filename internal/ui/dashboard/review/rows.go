package review

import (
	"fmt"

	"orange/internal/rules/diff"
)

// rowKind is what a row of the view is.
type rowKind int

const (
	rowListed  rowKind = iota // a file in the list of files
	rowBlank                  // nothing; the cursor passes over it
	rowFile                   // the name of a file, above its hunks
	rowNote                   // what else there is to say
	rowHunk                   // the head of a hunk
	rowLine                   // a line of it
	rowComment                // what a person wrote
	rowRemark                 // what a reviewer found
)

// row is one row of the view. It may take several lines of the screen.
type row struct {
	kind   rowKind
	file   *diff.ChangedFile
	line   *diff.Line
	text   string // of a note, or the title of a hunk
	remark int    // the number of the comment or finding
	at     int    // its line in the patch
}

// build makes the rows, and leaves the cursor where it was in the change.
func (m *Model) build() {
	at := m.whereabouts()
	m.rows, m.mark = nil, -1
	if m.content != nil {
		b := builder{m: m, commented: make([]bool, len(m.written)), found: make([]bool, len(m.content.remarks))}
		b.all()
		m.rows = b.rows
	}
	m.cursor = m.find(at)
	if m.cursor < len(m.rows) && m.rows[m.cursor].kind == rowBlank {
		m.step(1)
	}
}

// whereabouts is where the cursor is, in words that hold when the change is read again.
type whereabouts struct {
	kind     rowKind
	file     string
	old, new int
	row      int
}

func (m *Model) whereabouts() whereabouts {
	if m.cursor >= len(m.rows) {
		return whereabouts{}
	}
	r := m.rows[m.cursor]
	w := whereabouts{kind: r.kind, row: m.cursor}
	if r.file != nil {
		w.file = r.file.Name
	}
	if r.line != nil {
		w.old, w.new = r.line.Old, r.line.New
	}
	return w
}

// find is the row that is there, or the one that is nearest before it.
func (m *Model) find(w whereabouts) int {
	best := -1
	for i, r := range m.rows {
		if r.file == nil || r.file.Name != w.file || w.file == "" {
			continue
		}
		switch {
		case r.kind == rowFile && best < 0:
			best = i
		case r.kind == w.kind && r.line == nil && w.old == 0 && w.new == 0:
			return i
		case r.line != nil && r.kind == rowLine &&
			(w.new > 0 && r.line.New > 0 && r.line.New <= w.new || w.new == 0 && r.line.Old > 0 && r.line.Old <= w.old):
			best = i
		}
	}
	if best >= 0 {
		return best
	}
	return max(0, min(w.row, len(m.rows)-1))
}

type builder struct {
	m         *Model
	rows      []row
	commented []bool // comments that have their row already
	found     []bool // and findings
	ofFile    []int  // the findings about the present file
	mine      []int  // and the comments
}

func (b *builder) add(r row) { b.rows = append(b.rows, r) }

func (b *builder) note(file *diff.ChangedFile, text string) {
	b.add(row{kind: rowNote, file: file, text: text})
}

func (b *builder) all() {
	c := b.m.content
	files := c.parts.Files
	if !b.m.wide {
		for i := range files {
			b.add(row{kind: rowListed, file: &files[i], at: files[i].At})
		}
	}
	for _, name := range c.parts.Untracked {
		b.note(nil, "new, not added: "+printableCode(name, false))
	}
	b.lost()
	for i := range files {
		if len(b.rows) > 0 {
			b.add(row{kind: rowBlank})
		}
		b.file(&files[i])
	}
	for _, text := range c.parts.Rest {
		b.note(nil, printableCode(text, false))
	}
	if c.plain {
		b.add(row{kind: rowBlank})
		b.note(nil, "the change is large: from some line on it has no colours, and no words are marked")
	}
}

// lost has comments on files that are not among those that are changed: they are sent with the others.
func (b *builder) lost() {
	for i, c := range b.m.written {
		known := false
		for f := range b.m.content.parts.Files {
			known = known || isOf(c.Place, &b.m.content.parts.Files[f])
		}
		if !known {
			b.commented[i] = true
			b.add(row{kind: rowComment, remark: i})
		}
	}
}

func (b *builder) file(f *diff.ChangedFile) {
	b.enter(f)
	b.add(row{kind: rowFile, file: f, at: f.At})
	for _, text := range f.Notes {
		b.add(row{kind: rowNote, file: f, text: printableCode(text, false), at: f.At})
	}
	at := len(b.rows)
	for h := range f.Hunks {
		hunk := &f.Hunks[h]
		b.add(row{kind: rowHunk, file: f, text: hunkText(hunk), at: hunk.At})
		for i := range hunk.Lines {
			l := &hunk.Lines[i]
			b.add(row{kind: rowLine, file: f, line: l, at: l.At})
			b.remarks(f, l)
		}
	}
	// those on lines that the change does not show are below the name of the file
	lines := b.rows[at:]
	b.rows = append([]row(nil), b.rows[:at]...)
	b.remarks(f, nil)
	b.rows = append(b.rows, lines...)
}

// isOf reports whether a place is in a file of the change: by its present name, or by its old one for lines that are
// gone.
func isOf(p diff.Place, f *diff.ChangedFile) bool {
	return p.File == f.Name || p.Gone && f.Old != "" && p.File == f.Old
}

// enter looks up what there is about a file.
func (b *builder) enter(f *diff.ChangedFile) {
	b.ofFile, b.mine = b.ofFile[:0], b.mine[:0]
	for i, one := range b.m.content.remarks {
		if isOf(one.Place, f) {
			b.ofFile = append(b.ofFile, i)
		}
	}
	for i, one := range b.m.written {
		if isOf(one.Place, f) {
			b.mine = append(b.mine, i)
		}
	}
}

// remarks adds the comments and findings that end at a line; without a line, all of the file that are not there yet.
func (b *builder) remarks(f *diff.ChangedFile, l *diff.Line) {
	ends := func(p diff.Place) bool {
		switch {
		case l == nil:
			return true
		case p.Gone:
			return l.Old == p.To
		}
		return l.New == p.To
	}
	for _, i := range b.ofFile {
		if !b.found[i] && ends(b.m.content.remarks[i].Place) {
			b.found[i] = true
			b.add(row{kind: rowRemark, file: f, line: l, remark: i})
		}
	}
	for _, i := range b.mine {
		if !b.commented[i] && ends(b.m.written[i].Place) {
			b.commented[i] = true
			b.add(row{kind: rowComment, file: f, line: l, remark: i})
		}
	}
}

// hunkText says which lines a hunk has.
func hunkText(h *diff.Hunk) string {
	first, last := 0, 0
	for _, l := range h.Lines {
		if first == 0 {
			first = max(l.New, l.Old)
		}
		last = max(last, l.New)
	}
	text := fmt.Sprintf("lines %d to %d", first, max(first, last))
	if h.Title != "" {
		text += "  " + printableCode(h.Title, false)
	}
	return text
}

// textOf is what can be searched for in a row.
func (m *Model) textOf(r row) string {
	switch r.kind {
	case rowFile:
		return printableCode(r.file.Name, false)
	case rowLine:
		return m.content.lines[r.line].text
	case rowComment:
		return m.written[r.remark].Text
	case rowRemark:
		return m.content.remarks[r.remark].Text
	case rowNote, rowHunk:
		return r.text
	}
	return ""
}
