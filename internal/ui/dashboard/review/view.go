package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"orange/internal/rules/diff"
	"orange/internal/ui/dashboard/highlight"
	"orange/internal/ui/dashboard/screen"
)

// Sizes of the view.
const (
	wideFrom   = 110 // cells from which the list of files is next to the lines
	filesWidth = 34
	mediumHead = 9  // lines from which the head has the range too
	fullHead   = 14 // and a blank line below it
)

func isWide(size screen.Size) bool { return size.Width >= wideFrom }

// View draws the view.
func (m *Model) View(size screen.Size) []string {
	t, found := m.tasks.Selected()
	if !found {
		return []string{"", m.style.Faint.Render("no task is selected")}
	}
	out := m.head(t.Branch, size)
	switch {
	case m.task != t.ID || m.content == nil && m.err == nil:
		return append(out, m.style.Faint.Render("looking…"))
	case m.content == nil:
		return out
	case len(m.rows) == 0:
		return append(out, m.style.Faint.Render(screen.Cut(m.empty(), size.Width)))
	}
	return append(out, m.body(screen.Size{Width: size.Width, Height: max(1, size.Height-len(out))})...)
}

func (m *Model) empty() string {
	if m.since {
		return "nothing is changed since then; " + m.style.Keys.Of("since-review") + " shows all"
	}
	return "nothing that the default branch does not have"
}

// head has the task's name, how much is changed, and between which commits.
func (m *Model) head(branch string, size screen.Size) []string {
	s := m.style
	parts := []string{s.Bold.Render(screen.CleanRaw(branch))}
	if c := m.content; c != nil {
		added, removed := c.parts.Counts()
		parts = append(parts, files(len(c.parts.Files)), s.Added.Render("+"+screen.Count(added))+" "+
			s.Removed.Render("-"+screen.Count(removed)))
	}
	if n := len(m.written); n == 1 {
		parts = append(parts, s.Warn.Render("1 comment to send"))
	} else if n > 1 {
		parts = append(parts, s.Warn.Render(fmt.Sprintf("%d comments to send", n)))
	}
	out := []string{screen.Cut(strings.Join(parts, "  "), size.Width)}
	if size.Height >= mediumHead {
		out = append(out, s.Faint.Render(screen.Cut(m.span(), size.Width)))
	}
	if why := m.problem(); why != nil {
		out = append(out, screen.Problem(s, why.Error()+"\n"+s.Keys.Of("look-again")+" looks again", size.Width,
			max(1, size.Height/2))...)
	}
	if size.Height >= fullHead {
		out = append(out, "")
	}
	return out
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return screen.Count(n) + " files"
}

// span names what is compared.
func (m *Model) span() string {
	if m.content == nil {
		return ""
	}
	p := m.content.patch
	to := fmt.Sprintf("%.7s", p.To)
	if p.Loose {
		to += " and what is not committed"
	}
	text := ""
	switch {
	case m.since && p.Last != "":
		text = fmt.Sprintf("since the last review: %.7s (%s) to %s", p.From, p.Judged, to)
	case m.since:
		text = "no other commit was reviewed: all of it"
	case p.From == "":
	default:
		text = fmt.Sprintf("from %s at %.7s to %s", p.Base, p.From, to)
		if p.Last != "" {
			text += fmt.Sprintf("; %s: only since the last review, %.7s", m.style.Keys.Of("since-review"), p.Last)
		}
	}
	return screen.CleanRaw(text)
}

// room is the room of the rows in that of the view.
func (m *Model) room(size screen.Size) screen.Size {
	return m.textSize(screen.Size{Width: size.Width, Height: max(1, size.Height-len(m.head("", size)))})
}

// Room is how many lines of the change a view of a size has.
func (m *Model) Room(size screen.Size) int { return m.room(size).Height }

// textSize is the room of the rows, next to the list of files.
func (m *Model) textSize(body screen.Size) screen.Size {
	if m.wide {
		body.Width -= filesWidth + 3
	}
	return screen.Size{Width: max(1, body.Width), Height: body.Height}
}

// body draws the rows, and the list of files next to them where there is room.
func (m *Model) body(size screen.Size) []string {
	text := m.textSize(size)
	var out []string
	for at := m.follow(m.top, text); at < len(m.rows) && len(out) < size.Height; at++ {
		out = append(out, m.draw(at, text)...)
	}
	out = out[:min(len(out), size.Height)]
	if !m.wide {
		return out
	}
	list := m.fileList(size.Height)
	for i := range max(len(out), len(list)) {
		left, right := "", ""
		if i < len(list) {
			left = list[i]
		}
		if i < len(out) {
			right = out[i]
		} else {
			out = append(out, "")
		}
		out[i] = screen.Fit(left, filesWidth) + " " + m.style.Faint.Render("│") + " " + right
	}
	return out
}

// withoutPlace is what a finding says, without the place before it that is named already.
func withoutPlace(text, place string) string {
	if named, rest, found := strings.Cut(text, ": "); found && strings.HasSuffix(place, strings.Trim(named, "`*")) {
		return rest
	}
	return text
}

// fileList is the list of files with that of the cursor in it.
func (m *Model) fileList(height int) []string {
	all := m.content.parts.Files
	at := 0
	for i := range all {
		if m.cursor < len(m.rows) && m.rows[m.cursor].file == &all[i] {
			at = i
		}
	}
	var out []string
	top := screen.Follow(max(0, at-height/2), at, height, len(all))
	for i := top; i < min(len(all), top+height); i++ {
		line := m.listed(&all[i], filesWidth)
		if i == at {
			line = m.style.Bold.Render(">") + line[1:]
		}
		out = append(out, line)
	}
	return out
}

// listed is a file of the list with its counts.
func (m *Model) listed(f *diff.ChangedFile, width int) string {
	counts := m.style.Added.Render("+"+screen.Count(f.Added)) + " " +
		m.style.Removed.Render("-"+screen.Count(f.Removed))
	if f.Binary {
		counts = m.style.Faint.Render("binary")
	}
	name := screen.SqueezeTo(printableCode(f.Name, false), max(1, width-3-screen.Width(counts)))
	return screen.Cut("  "+name+" "+counts, width)
}

// follow is the first visible row: top, or as far from it as the row of the cursor needs to be seen. No room is left
// below the last row while there are rows above.
func (m *Model) follow(top int, size screen.Size) int {
	top = max(0, min(top, m.cursor, len(m.rows)-1))
	if len(m.rows)-top < size.Height { // each row has at least one line: else there is no room left
		for last, used := len(m.rows), 0; last > 0; last-- {
			if used += len(m.draw(last-1, size)); used > size.Height {
				top = min(top, last)
				break
			}
			top = min(top, last-1)
		}
	}
	used := 0
	for at := min(m.cursor, len(m.rows)-1); at >= top; at-- {
		if used += len(m.draw(at, size)); used > size.Height {
			return min(at+1, m.cursor)
		}
	}
	return top
}

// draw draws a row: one line, or several where it is wrapped.
func (m *Model) draw(at int, size screen.Size) []string {
	r := m.rows[at]
	from, to := m.selection()
	sign := " "
	if at == m.cursor {
		sign = m.style.Chosen.Render(">")
	} else if at >= from && at <= to {
		sign = m.style.Warn.Render("*")
	}
	width := max(1, size.Width-1)
	var lines []string
	switch r.kind {
	case rowBlank:
		return []string{""}
	case rowListed:
		lines = []string{m.listed(r.file, width)}
	case rowFile:
		lines = []string{m.fileHead(r.file, width)}
	case rowNote:
		lines = []string{m.style.Faint.Render(screen.Cut(" "+r.text, width))}
	case rowHunk:
		lines = []string{m.style.Info.Render(screen.Cut(r.text, width))}
	case rowComment:
		c := m.written[r.remark]
		lines = m.said("you, on "+c.String()+": ", c.Text, m.style.Warn, width)
	case rowRemark:
		one := m.content.remarks[r.remark]
		lines = m.said("review, on "+one.String()+": ", withoutPlace(one.Text, one.String()), m.style.Info, width)
	default:
		lines = m.code(r.line, width, size.Height)
	}
	for i := range lines {
		if i > 0 && at != m.cursor {
			sign = " "
		}
		lines[i] = sign + lines[i]
	}
	return lines
}

func (m *Model) fileHead(f *diff.ChangedFile, width int) string {
	name := printableCode(f.Name, false)
	if f.Old != "" {
		name = printableCode(f.Old, false) + " → " + name
	}
	counts := "+" + screen.Count(f.Added) + " -" + screen.Count(f.Removed)
	if f.Binary {
		counts = "binary"
	}
	name = screen.Squeeze(name, max(1, width-screen.Width(counts)-6))
	line := "── " + name + " " + counts + " "
	line += strings.Repeat("─", max(0, width-screen.Width(line)))
	return m.style.Header.Render(screen.Cut(line, width))
}

// mostSaid is how many lines of a comment or finding are shown.
const mostSaid = 12

// said is a comment or a finding, below the line that it is about.
func (m *Model) said(who, text string, style lipgloss.Style, width int) []string {
	indent := strings.Repeat(" ", min(m.content.numbers+3, max(0, width-20)))
	room := max(1, width-len(indent)-2)
	var out []string
	for i, line := range screen.CleanRawLines(strings.TrimSpace(text)) {
		if i == 0 {
			line = screen.CleanRaw(who) + line
		}
		for _, part := range screen.Wrap(line, room) {
			if len(out) == mostSaid {
				return append(out, indent+style.Render("│ …"))
			}
			out = append(out, indent+style.Render("│ "+part))
		}
	}
	return out
}

// code is a line of a hunk, with its number.
func (m *Model) code(l *diff.Line, width, height int) []string {
	n := l.New
	base, number, sign := (*lipgloss.Style)(nil), &m.style.Faint, " "
	switch l.Kind {
	case diff.Added:
		base, number, sign = &m.style.Added, &m.style.Added, "+"
	case diff.Removed:
		base, number, sign, n = &m.style.Removed, &m.style.Removed, "-", l.Old
	case diff.Note:
		base = &m.style.Faint
	}
	gutter := strings.Repeat(" ", m.content.numbers)
	if n > 0 {
		gutter = screen.PadLeft(strconv.Itoa(n), m.content.numbers)
	}
	head := number.Render(gutter+" "+sign) + " "
	indent := m.content.numbers + 3
	room := width - indent
	if room < 1 {
		return []string{screen.Cut(head, width)}
	}
	one := m.content.lines[l]
	pieces := m.pieces(one, base, l.Kind)
	var out []string
	if !m.wrap {
		text := one.text
		if cut := screen.Cut(text, room); cut != text {
			end := len(strings.TrimSuffix(cut, "…"))
			return []string{head + render(text, pieces, 0, end) + m.style.Faint.Render("…")}
		}
		return []string{head + render(text, pieces, 0, len(text))}
	}
	at := 0
	for i, part := range screen.Break(one.text, room) {
		if i == max(1, height-1) {
			break
		}
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		out = append(out, head+render(one.text, pieces, at, min(len(one.text), at+len(part))))
		at += len(part)
	}
	return out
}

// piece is a part of a line with one style.
type piece struct {
	from, to int
	escapes  escapes
}

// escapes is what begins a style on the terminal, and what ends it.
type escapes struct{ begin, end string }

// allEscapes are those of styles, each made once: a screen of code has hundreds of pieces.
type allEscapes map[escapesKey]escapes

type escapesKey struct {
	style    *lipgloss.Style
	emphasis bool // of a word that changed, which is seen without colours too
}

func (all allEscapes) of(style *lipgloss.Style, emphasis bool) escapes {
	key := escapesKey{style, emphasis}
	one, known := all[key]
	if known {
		return one
	}
	if style == nil {
		style = &lipgloss.Style{}
	}
	drawn := *style
	if emphasis {
		drawn = drawn.Bold(true).Underline(true).UnderlineSpaces(true)
	}
	one.begin, one.end, _ = strings.Cut(drawn.Render("x"), "x")
	all[key] = one
	return one
}

// pieces are the parts of a line, all of it: by the language, by what changed, and by what is searched for. Removed
// lines have one colour: they are read last.
func (m *Model) pieces(one line, base *lipgloss.Style, kind diff.Kind) []piece {
	edges := []int{0, len(one.text)}
	found := matchesIn(one.text, m.search.Text)
	for _, t := range one.tokens {
		edges = append(edges, t.From, t.To)
	}
	for _, r := range slices.Concat(one.changed, found) {
		edges = append(edges, r.From, r.To)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var out []piece
	token, changed, match := 0, 0, 0
	for i := 0; i+1 < len(edges); i++ {
		p, style, emphasis := piece{from: edges[i], to: edges[i+1]}, base, false
		for token < len(one.tokens) && one.tokens[token].To <= p.from {
			token++
		}
		if kind != diff.Removed && token < len(one.tokens) && one.tokens[token].From <= p.from {
			style = m.ofToken(one.tokens[token].Kind)
		}
		for changed < len(one.changed) && one.changed[changed].To <= p.from {
			changed++
		}
		emphasis = changed < len(one.changed) && one.changed[changed].From <= p.from
		for match < len(found) && found[match].To <= p.from {
			match++
		}
		if match < len(found) && found[match].From <= p.from {
			style, emphasis = &m.style.Chosen, false
		}
		p.escapes = m.escapes.of(style, emphasis)
		out = append(out, p)
	}
	return out
}

func (m *Model) ofToken(kind highlight.TokenKind) *lipgloss.Style {
	switch kind {
	case highlight.Comment:
		return &m.style.Comment
	case highlight.String:
		return &m.style.String
	case highlight.Number:
		return &m.style.Number
	}
	return &m.style.Keyword
}

// render draws the part of a text between two places.
func render(text string, pieces []piece, from, to int) string {
	var b strings.Builder
	for _, p := range pieces {
		if start, end := max(p.from, from), min(p.to, to); start < end {
			b.WriteString(p.escapes.begin + text[start:end] + p.escapes.end)
		}
	}
	return b.String()
}
