package document

import "strings"

// maxBoxes is how deep the scanner follows lists and quotes that hold each other; no person nests deeper.
const maxBoxes = 10

// scanner finds the blocks of Markdown line by line, and remembers only what is open. It agrees with the parser line
// for line, also where that differs from the standard. Where it is not sure it says so, and the parser has to read
// the whole text.
type scanner struct {
	view
	at     int // of the next line
	lf, cr int // the next ones; the length of the text when there is none

	begin  int  // of the line
	number int  // of the line, 0-based
	part   bool // the line is part of the block
	title  bool // the line is a top-level heading of level 2

	open   bool // the block is still open
	hollow bool // a blank line follows the marker of an item with nothing in it
	unsure bool
	block  leaf     // the last one that began
	sign   listMark // the last one that was looked at
	depth  int      // of the open boxes
	boxes  [maxBoxes]box
}

// box is an open block that holds others: a quote, or a list with its last item.
type box struct {
	list, quote bool // it or a box around it is one
	filled      bool // the item holds something
	sign        byte // of the list's markers; 0 for a quote
	offset      int  // where the content of the item begins
}

// leaf is a block that holds no other blocks.
type leaf struct {
	kind        kind
	html        html
	list, quote bool  // it is in one
	top         bool  // it is in none
	char        byte  // of a fence
	length      int32 // of a fence's marker
	first       int32 // its first line
}

// inParagraph tells a paragraph from HTML whose text is shown.
func (s *scanner) inParagraph() bool {
	return s.open && s.block.kind == prose && s.block.html == noHTML
}

func newScanner(text string) scanner {
	return scanner{view: view{text: text}, lf: -1, cr: -1, number: -1}
}

// next goes to the next line. It reports whether there is one and the scanner is sure about it.
// What is behind the last line end is no line when it is empty.
func (s *scanner) next() bool {
	if s.at >= len(s.text) || s.unsure {
		return false
	}
	s.part, s.title = false, false
	s.begin = s.at
	s.number++
	c := s.text[s.at]
	if c == '\n' {
		s.stop = s.at
		s.at++
		s.empty()
		return true
	}
	s.cut()
	s.pos, s.col, s.pad = s.begin, 0, 0
	if s.stop-s.begin > maxMarkers && s.crowded() {
		s.unsure = true
	}
	if s.depth > 0 || isMarker(c) || !s.plain() {
		s.walk()
	}
	return !s.unsure
}

// crowded reports whether the line begins with so many markers that the parser sees a shorter one, unless it is only a
// run of one of them that is shorter: no boxes reach so far.
func (s *scanner) crowded() bool {
	text := s.rest()
	end := len(text) - len(strings.TrimLeft(text, markers))
	const last = maxMarkers - 1
	return end > maxMarkers && strings.Trim(text[last-20:end], text[last:last+1]) != ""
}

// cut finds the end of the line. LF, CRLF and a lone CR all end one.
func (s *scanner) cut() {
	if s.lf < s.begin {
		s.lf = nextByte(s.text, s.begin, '\n')
	}
	if s.cr < s.begin {
		s.cr = nextByte(s.text, s.begin, '\r')
	}
	s.stop, s.at = s.lf, s.lf+1
	if s.cr < s.lf {
		s.stop = s.cr
		if s.cr+1 < s.lf {
			s.at = s.cr + 1
		}
	}
	s.at = min(s.at, len(s.text))
}

// nextByte is where the next c is, and the length of the text when there is none.
func nextByte(text string, from int, c byte) int {
	near := min(from+16, len(text)) // most lines are short, and the call costs more than them
	for ; from < near; from++ {
		if text[from] == c {
			return from
		}
	}
	if at := strings.IndexByte(text[from:], c); at >= 0 {
		return from + at
	}
	return len(text)
}

// empty is what walk does to an empty line.
func (s *scanner) empty() {
	for i := range s.depth {
		b := &s.boxes[i]
		if b.sign == 0 {
			s.depth, s.open = i, false
			return
		}
		s.hollow = s.hollow || !b.filled
	}
	s.open = s.open && s.block.kind != prose
	s.part = s.open
}

// plain is what walk does to most lines in no box that begin with no marker; it reports whether this is one.
func (s *scanner) plain() bool {
	switch {
	case !s.open || s.block.kind == code:
		s.put(0, prose)
	case s.block.kind == prose || s.block.kind == fence:
		s.part = true
	default:
		return false
	}
	return true
}

// isMarker reports whether a line may be more than text when it begins with a byte.
func isMarker(c byte) bool {
	const low = 1<<' ' | 1<<'\t' | 1<<'\r' | 1<<'-' | 1<<'*' | 1<<'+' | 1<<'#' | 1<<'<' | 1<<'>' | 1023<<'0'
	const high = 1<<('_'-64) | 1<<('`'-64) | 1<<('~'-64)
	if c < 64 {
		return uint64(low)>>c&1 > 0
	}
	return c < 128 && uint64(high)>>(c-64)&1 > 0
}

// walk goes through the open blocks, the outermost first, up to one that the line does not continue.
func (s *scanner) walk() {
	for i := range s.depth {
		if s.gone() {
			return
		}
		b := &s.boxes[i]
		switch s.enter(b) {
		case leaves:
			s.find(i)
			return
		case begins:
			s.depth, s.open = i+1, false
			if s.openItem(b) {
				s.find(i + 1)
			}
			return
		}
	}
	if !s.open || s.inParagraph() {
		s.find(s.depth)
		return
	}
	if s.gone() {
		return
	}
	switch s.carry() {
	case goesOn:
		s.part = true
	case endsHere:
		s.part, s.open = true, false
	case ended:
		s.open = false
		s.find(s.depth)
	}
}

// step is what a line does to an open box.
type step uint8

const (
	stays  step = iota // the line is in it
	begins             // the line begins the next item of the list
	leaves             // the line is not in it
)

// enter takes away what makes the line a part of the box.
func (s *scanner) enter(b *box) step {
	if b.sign == 0 {
		if s.quoteMark() {
			return stays
		}
		return leaves
	}
	width, at := s.indent()
	if at == s.stop {
		s.hollow = s.hollow || !b.filled
		s.pos, s.pad = s.stop, 0
		return stays
	}
	outside := width < b.offset || s.hollow
	if width < 4 && (width < b.offset || !b.filled) && s.listMark() {
		if s.sign.char != b.sign || isRule(s.rest()) {
			return leaves
		}
		if outside {
			return begins
		}
	} else if outside {
		return leaves
	}
	s.dedent(b.offset)
	return stays
}

// find opens the blocks that begin behind the first so many boxes. The first one closes what was open behind them.
// When none begins, the line may go on with a paragraph, also one in a deeper box.
func (s *scanner) find(depth int) {
	for !s.unsure {
		width, at := s.indent()
		if at == s.stop {
			s.depth, s.open = depth, false
			return
		}
		if width <= 3 && isMarker(s.text[at]) {
			switch s.mark(depth, at) {
			case single:
				return
			case boxed:
				depth = s.depth
				continue
			}
		}
		switch {
		case s.inParagraph():
			s.part = true
		case width > 3:
			s.put(depth, code)
		default:
			s.put(depth, prose)
		}
		return
	}
}

// put opens a block behind the first so many boxes.
func (s *scanner) put(depth int, k kind) {
	l := &s.block // field by field, which is faster than a whole one
	l.kind, l.html, l.first = k, noHTML, int32(s.number)
	l.list, l.quote, l.top = false, false, depth == 0
	if depth > 0 {
		b := &s.boxes[depth-1]
		b.filled = true
		l.list, l.quote = b.list, b.quote
	}
	s.depth, s.open, s.part = depth, true, true
}

// putBox opens a quote or a list behind the first so many boxes.
func (s *scanner) putBox(depth int, sign byte) {
	if depth == maxBoxes {
		s.unsure = true
		return
	}
	b := &s.boxes[depth]
	b.sign, b.list, b.quote = sign, sign != 0, sign == 0
	if depth > 0 {
		around := &s.boxes[depth-1]
		around.filled = true
		b.list, b.quote = b.list || around.list, b.quote || around.quote
	}
	s.depth, s.open = depth+1, false
}

// unclosed is the block at the end that nothing closes and that hides all that follows it, and what would close it.
func (s *scanner) unclosed() (block leaf, closer string) {
	if !s.open || !s.block.top {
		return s.block, ""
	}
	if s.block.kind == fence {
		return s.block, strings.Repeat(string(rune(s.block.char)), int(s.block.length))
	}
	return s.block, s.block.html.closer()
}
