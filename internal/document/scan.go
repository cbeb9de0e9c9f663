package document

import "strings"

// maxBoxes is how deep the scanner follows lists and quotes that hold each other; no person nests deeper.
const maxBoxes = 12

// scanner finds the blocks of Markdown line by line, and remembers only what is open. It agrees with the parser line
// for line, also where that differs from the standard. Where it is not sure it says so, and the parser has to read
// the whole text.
type scanner struct {
	text   string
	at     int // of the next line
	lf, cr int // the next ones; the length of the text when there is none

	boxes  [maxBoxes]box
	depth  int  // of the open boxes
	block  leaf // what is open in the innermost box
	hollow bool // a blank line follows the marker of an item with nothing in it
	unsure bool

	view
	row
}

// row is the line that the scanner is at.
type row struct {
	begin, stop int // in the text, without its line end
	number      int // 0-based
	in          leaf
	title       bool // it is a top-level heading of level 2
}

// box is an open block that holds others: a quote, or a list with its last item.
type box struct {
	list, quote bool // it or a box around it is one
	sign        byte // of the list's markers; 0 for a quote
	offset      int  // where the content of the item begins
	filled      bool // the item holds something
}

// leaf is a block that holds no other blocks.
type leaf struct {
	kind        kind // nothing when there is none
	html        bool
	list, quote bool // it is in one
	top         bool // it is in none
	first       int  // its first line
	// what would close it: of a fence the marker; empty when nothing has to
	closer string
}

// isParagraph tells a paragraph from HTML whose text is shown.
func (l *leaf) isParagraph() bool { return l.kind == prose && !l.html }

func newScanner(text string) scanner {
	return scanner{text: text, lf: -1, cr: -1, row: row{number: -1}}
}

// next goes to the next line. It reports whether there is one and the scanner is sure about it.
// What is behind the last line end is no line when it is empty.
func (s *scanner) next() bool {
	if s.at >= len(s.text) || s.unsure {
		return false
	}
	s.cut()
	s.rest, s.col, s.pad = s.text[s.begin:s.stop], 0, 0
	if len(s.rest) > maxMarkers {
		s.rest = squeeze(s.rest)
	}
	s.in, s.title = leaf{}, false
	s.walk()
	return !s.unsure
}

// cut finds the end of the next line. LF, CRLF and a lone CR all end one.
func (s *scanner) cut() {
	s.begin = s.at
	s.number++
	if s.lf < s.begin {
		s.lf = indexFrom(s.text, '\n', s.begin)
	}
	if s.cr < s.begin {
		s.cr = indexFrom(s.text, '\r', s.begin)
	}
	s.stop = min(s.lf, s.cr)
	s.at = min(s.stop+1, len(s.text))
	if s.cr+1 == s.lf && s.lf < len(s.text) {
		s.at = s.lf + 1
	}
	s.last = s.stop == len(s.text)
}

// indexFrom is where the next c is in text, and its length when there is none.
func indexFrom(text string, c byte, from int) int {
	if text[from] == c {
		return from
	}
	at := strings.IndexByte(text[from:], c)
	if at < 0 {
		return len(text)
	}
	return from + at
}

// walk goes through the open blocks, the outermost first, up to one that the line does not continue.
func (s *scanner) walk() {
	for i := range s.depth {
		if s.gone() {
			return
		}
		b := &s.boxes[i]
		switch s.step(b) {
		case leaves:
			s.open(i)
			return
		case begins:
			s.depth, s.block = i+1, leaf{}
			if s.openItem(b) {
				s.open(i + 1)
			}
			return
		}
	}
	if s.block.kind == nothing || s.block.isParagraph() {
		s.open(s.depth)
		return
	}
	if s.gone() {
		return
	}
	switch s.follow() {
	case goesOn:
		s.in = s.block
	case endsHere:
		s.in, s.block = s.block, leaf{}
	case ended:
		s.block = leaf{}
		s.open(s.depth)
	}
}

// step is what a line does to an open box.
type step uint8

const (
	stays  step = iota // the line is in it
	begins             // the line begins the next item of the list
	leaves             // the line is not in it
)

// step takes away what makes the line a part of the box.
func (s *scanner) step(b *box) step {
	if b.sign == 0 {
		if s.quoteMark() {
			return stays
		}
		return leaves
	}
	if blank(s.rest) {
		s.hollow = s.hollow || !b.filled
		s.rest, s.pad = "", 0
		return stays
	}
	width, _ := s.indent()
	if width < 4 && (width < b.offset || !b.filled) {
		if mark, found := s.listMark(); found {
			if mark.sign != b.sign || isRule(s.rest) {
				return leaves
			}
			if width < b.offset || s.hollow {
				return begins
			}
			s.dedent(b.offset)
			return stays
		}
	}
	if width < b.offset || s.hollow {
		return leaves
	}
	s.dedent(b.offset)
	return stays
}

// open finds the blocks that begin behind the first so many boxes. The first that begins closes what was open behind
// them. When none begins, the line may go on with a paragraph, also one in a deeper box.
func (s *scanner) open(depth int) {
	for !s.unsure {
		width, at := s.indent()
		lazy := s.block.isParagraph()
		if at == len(s.rest) {
			s.depth, s.block = depth, leaf{}
			return
		}
		if width <= 3 {
			switch s.mark(depth, at) {
			case single:
				return
			case boxed:
				depth = s.depth
				continue
			}
		}
		switch {
		case lazy:
			s.in = s.block
		case width > 3:
			s.put(depth, leaf{kind: code})
		default:
			s.put(depth, leaf{kind: prose})
		}
		return
	}
}

// put opens a block behind the first so many boxes.
func (s *scanner) put(depth int, l leaf) {
	s.depth = depth
	l.first, l.top = s.number, depth == 0
	if depth > 0 {
		b := &s.boxes[depth-1]
		b.filled = true
		l.list, l.quote = b.list, b.quote
	}
	s.in, s.block = l, l
}

// putLine is put for a block of one line.
func (s *scanner) putLine(depth int, k kind) {
	s.put(depth, leaf{kind: k})
	s.block = leaf{}
}

// putBox opens a quote or a list behind the first so many boxes.
func (s *scanner) putBox(depth int, sign byte) {
	if depth == maxBoxes {
		s.unsure = true
		return
	}
	b := box{list: sign != 0, quote: sign == 0, sign: sign}
	if depth > 0 {
		around := &s.boxes[depth-1]
		around.filled = true
		b.list, b.quote = b.list || around.list, b.quote || around.quote
	}
	s.boxes[depth] = b
	s.depth, s.block = depth+1, leaf{}
}

// unclosed is the block at the end that nothing closes and that hides all that follows it.
func (s *scanner) unclosed() (leaf, bool) {
	return s.block, s.block.top && s.block.closer != ""
}
