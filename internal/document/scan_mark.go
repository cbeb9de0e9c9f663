package document

import "strings"

// found is what a line begins with.
type found uint8

const (
	none   found = iota // text, as far as that goes
	single              // a block that holds no others, or an empty item
	boxed               // a box that holds what follows
)

// mark opens the block whose marker is at a place of the line, behind the first so many boxes.
func (s *scanner) mark(depth, at int) found {
	switch c := s.text[at]; c {
	case '-', '*', '_':
		if isRule(s.rest()) {
			s.put(depth, rule)
			s.open = false
			return single
		}
		if c == '_' {
			return none
		}
		return s.openList(depth)
	case '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.openList(depth)
	case '#':
		text := s.text[at:s.stop]
		level := run(text)
		if level > 6 || level < len(text) && text[level] != ' ' && text[level] != '\t' || s.crooked() {
			return none
		}
		s.put(depth, heading)
		s.open, s.title = false, depth == 0 && level == 2
		return single
	case '`', '~':
		length := run(s.text[at:s.stop])
		if length < 3 || c == '`' && strings.IndexByte(s.text[at+length:s.stop], '`') >= 0 {
			return none
		}
		s.put(depth, fence)
		s.block.char, s.block.length = c, int32(length)
		return single
	case '>':
		s.putBox(depth, 0)
		s.quoteMark()
		return boxed
	case '<':
		return s.openHTML(depth, at)
	}
	return none
}

// crooked reports whether the blanks before the text are as wide as the line has bytes, because tabs are among them.
// The parser then sees no heading.
func (s *scanner) crooked() bool {
	width, _ := s.indent()
	length := s.pad + s.stop - s.pos
	if !s.last() {
		length++
	}
	return width >= length
}

// run is how often the first byte of a text is repeated.
func run(text string) int {
	length := 1
	for length < len(text) && text[length] == text[0] {
		length++
	}
	return length
}

// headingName is the text of a heading, without its hashes.
func headingName(line string) string {
	name := strings.Trim(strings.TrimLeft(strings.TrimLeft(line, " "), "#"), " \t")
	open := strings.TrimRight(name, "#")
	if open == "" {
		return ""
	}
	if shorter := strings.TrimRight(open, " \t"); shorter != open {
		name = shorter
	}
	return strings.TrimSpace(name)
}

// openList opens a list with its first item, unless a paragraph goes on instead.
func (s *scanner) openList(depth int) found {
	if !s.listMark() || s.inParagraph() && s.depth == depth && (!s.sign.first || s.sign.hollow) {
		return none
	}
	s.putBox(depth, s.sign.char)
	if s.unsure || !s.openItem(&s.boxes[depth]) {
		return single
	}
	return boxed
}

// openItem begins the item whose marker was looked at, and reports whether something follows the marker.
func (s *scanner) openItem(b *box) bool {
	s.hollow, b.filled = false, false
	b.offset = s.sign.end + 1
	if s.sign.hollow {
		return false
	}
	if behind := s.text[s.sign.behind:s.stop]; behind[0] == ' ' && behind[1] != ' ' && behind[1] != '\t' {
		b.offset = s.sign.end + 1
		s.skip(s.sign.behind+1, 0)
		return true
	}
	// The parser counts these tabs from the beginning of what is left, and not of the line.
	behind := s.text[s.sign.behind:s.stop]
	if width, _ := blanks(behind, s.sign.end, 0, -1); width <= 4 {
		b.offset = s.sign.end + width
	}
	width, bytes := blanks(behind, s.sign.end, 0, b.offset-s.sign.end)
	s.skip(s.sign.behind+bytes, width-(b.offset-s.sign.end))
	return true
}

// follow is what a line does to the open block.
type follow uint8

const (
	goesOn   follow = iota
	endsHere        // with this line
	ended           // before this line
)

// carry looks at code, fences and HTML; paragraphs go on when nothing begins.
func (s *scanner) carry() follow {
	width, at := s.indent()
	switch {
	case s.block.kind == code:
		if width < 4 && at < s.stop {
			return ended
		}
	case s.block.kind == fence:
		if width < 4 && s.closesFence(at) {
			return endsHere
		}
	case s.block.html == shownHTML:
		if at == s.stop {
			return ended
		}
	case s.endsHTML():
		return endsHere
	}
	return goesOn
}

// closesFence reports whether the marker that closes the open fence is at a place of the line.
func (s *scanner) closesFence(at int) bool {
	if at == s.stop || s.text[at] != s.block.char {
		return false
	}
	length := run(s.text[at:s.stop])
	return length >= int(s.block.length) && blank(s.text[at+length:s.stop])
}

// quoteMark takes the marker of a quote away, and reports whether there was one.
func (v *view) quoteMark() bool {
	width, at := v.indent()
	if width > 3 || at == v.stop || v.text[at] != '>' {
		return false
	}
	v.skip(at+1, 0)
	if v.pos < v.stop && v.text[v.pos] == '\t' {
		v.skip(v.pos+1, 3-v.col%4)
	} else if v.pos < v.stop && v.text[v.pos] == ' ' {
		v.skip(v.pos+1, 0)
	}
	return true
}
