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
	switch c := s.rest[at]; c {
	case '-', '*', '_':
		if isRule(s.rest) {
			s.putLine(depth, rule)
			return single
		}
		if c == '_' {
			return none
		}
		return s.openList(depth)
	case '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.openList(depth)
	case '#':
		if s.crooked() || !isHeading(s.rest[at:]) {
			return none
		}
		s.putLine(depth, heading)
		s.title = depth == 0 && strings.HasPrefix(s.rest[at:], "##") && !strings.HasPrefix(s.rest[at:], "###")
		return single
	case '`', '~':
		closer := s.fenceAt(at)
		if closer == "" {
			return none
		}
		s.put(depth, leaf{kind: fence, closer: closer})
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
// The parser then sees neither heading nor fence.
func (s *scanner) crooked() bool {
	width, _ := s.indent()
	length := s.pad + len(s.rest)
	if !s.last {
		length++
	}
	return width >= length
}

func isHeading(text string) bool {
	level := 0
	for level < len(text) && text[level] == '#' {
		level++
	}
	return level <= 6 && (level == len(text) || text[level] == ' ' || text[level] == '\t')
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

// fenceAt is the marker of the fence that begins at a place of the line; empty when none does.
func (s *scanner) fenceAt(at int) string {
	end := at
	for end < len(s.rest) && s.rest[end] == s.rest[at] {
		end++
	}
	if end-at < 3 || s.rest[at] == '`' && strings.IndexByte(s.rest[end:], '`') >= 0 || s.crooked() {
		return ""
	}
	return s.rest[at:end]
}

// openList opens a list with its first item, unless a paragraph goes on instead.
func (s *scanner) openList(depth int) found {
	mark, is := s.listMark()
	if !is || s.block.isParagraph() && s.depth == depth && (!mark.first || mark.hollow) {
		return none
	}
	s.putBox(depth, mark.sign)
	if s.unsure || !s.openItem(&s.boxes[depth]) {
		return single
	}
	return boxed
}

// openItem begins an item, and reports whether something follows its marker.
func (s *scanner) openItem(b *box) bool {
	mark, _ := s.listMark()
	s.hollow, b.filled = false, false
	b.offset = mark.end + 1
	if mark.hollow {
		return false
	}
	// The parser counts these tabs from the beginning of what is left, and not of the line.
	behind := s.rest[mark.bytes:]
	if width, _ := blanks(behind, mark.end, 0, -1); width <= 4 {
		b.offset = mark.end + width
	}
	width, bytes := blanks(behind, mark.end, 0, b.offset-mark.end)
	s.skip(mark.bytes+bytes, width-(b.offset-mark.end))
	return true
}

// follow is what a line does to the open block.
type follow uint8

const (
	goesOn   follow = iota
	endsHere        // with this line
	ended           // before this line
)

// follow looks at code, fences and HTML; paragraphs go on when nothing begins.
func (s *scanner) follow() follow {
	width, at := s.indent()
	switch {
	case s.block.kind == code:
		if width < 4 && at < len(s.rest) {
			return ended
		}
	case s.block.kind == fence:
		if width < 4 && s.closes(at) {
			return endsHere
		}
	case s.block.closer == "": // HTML that ends at a blank line
		if at == len(s.rest) {
			return ended
		}
	case s.endsHTML(s.block.closer, s.rest):
		return endsHere
	}
	return goesOn
}

// closes reports whether a place of the line has the marker that closes the open fence.
func (s *scanner) closes(at int) bool {
	marker := s.block.closer
	if at == len(s.rest) || s.rest[at] != marker[0] || !strings.HasPrefix(s.rest[at:], marker) {
		return false
	}
	behind := at + len(marker)
	for behind < len(s.rest) && s.rest[behind] == marker[0] {
		behind++
	}
	return blank(s.rest[behind:])
}

// quoteMark takes the marker of a quote away, and reports whether there was one.
func (v *view) quoteMark() bool {
	width, at := v.indent()
	if width > 3 || at == len(v.rest) || v.rest[at] != '>' {
		return false
	}
	v.skip(at+1, 0)
	if v.rest != "" && v.rest[0] == '\t' {
		v.skip(1, 3-v.col%4)
	} else if v.rest != "" && v.rest[0] == ' ' {
		v.skip(1, 0)
	}
	return true
}
