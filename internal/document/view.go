package document

// view is what is left of a line behind the markers of the boxes that it is in.
type view struct {
	text string // the whole text
	pos  int    // where what is left begins
	stop int    // where the line ends
	col  int    // the column of pos, tabs counted to the next multiple of four
	pad  int    // blanks before pos: what a marker left of a tab
}

func (v *view) rest() string { return v.text[v.pos:v.stop] }

// last reports whether no line end follows.
func (v *view) last() bool { return v.stop == len(v.text) }

// gone reports whether nothing is left to read, not even a line end. Blanks that a tab left do not count.
func (v *view) gone() bool { return v.pos == v.stop && v.last() }

// indent is the width of the blanks at the beginning, and where the text behind them is.
func (v *view) indent() (width, at int) {
	width, bytes := blanks(v.rest(), v.col-v.pad, v.pad, -1)
	return width, v.pos + bytes
}

// blanks adds the blanks at the beginning of text to a width, up to a limit, which a tab may pass; -1 is no limit.
func blanks(text string, col, width, limit int) (total, bytes int) {
	for bytes < len(text) && (limit < 0 || width < limit) {
		switch text[bytes] {
		case ' ':
			width++
		case '\t':
			width += 4 - (col+width)%4
		default:
			return width, bytes
		}
		bytes++
	}
	return width, bytes
}

// skip goes on at a place of the line. Some blanks before it may be left over.
func (v *view) skip(to, left int) {
	for _, c := range []byte(v.text[v.pos:to]) {
		if c == '\t' {
			v.col += 4 - v.col%4
		} else {
			v.col++
		}
	}
	v.pos, v.pad = to, left
}

// dedent takes a width of blanks away that is there.
func (v *view) dedent(width int) {
	if width <= v.pad {
		v.pad -= width
		return
	}
	total, bytes := blanks(v.rest(), v.col-v.pad, v.pad, width)
	v.skip(v.pos+bytes, total-width)
}

// blank reports whether a line shows nothing: the parser knows no other blanks.
func blank(text string) bool {
	for i := range len(text) {
		if text[i] != ' ' && text[i] != '\t' {
			return false
		}
	}
	return true
}

// listMark is the marker of a list item.
type listMark struct {
	char   byte // one of - + * . )
	first  bool // a list may begin with it right below a paragraph
	hollow bool // nothing follows it
	behind int  // where it ends
	end    int  // the same, counted from the beginning of what is left of the line
}

// listMark looks for a marker at the beginning.
func (s *scanner) listMark() bool {
	text, at := s.rest(), 0
	for at < len(text) && text[at] == ' ' {
		at++
	}
	if s.pad+at > 3 || at == len(text) {
		return false
	}
	char, first := text[at], true
	if isDigit(char) {
		number, begin := 0, at
		for at < len(text) && isDigit(text[at]) && at-begin < 10 {
			number = number*10 + int(text[at]-'0')
			at++
		}
		if at-begin > 9 || at == len(text) || text[at] != '.' && text[at] != ')' {
			return false
		}
		char, first = text[at], number == 1
	} else if char != '-' && char != '+' && char != '*' {
		return false
	}
	at++
	if at < len(text) && text[at] != ' ' && text[at] != '\t' {
		return false
	}
	m := &s.sign
	m.char, m.first, m.hollow = char, first, blank(text[at:])
	m.behind, m.end = s.pos+at, s.pad+at
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isRule reports whether a text is a thematic break: three or more of one sign, and blanks.
func isRule(text string) bool {
	sign, count := byte(0), 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
		case c == sign:
			count++
		case sign == 0 && (c == '-' || c == '*' || c == '_'):
			sign, count = c, 1
		default:
			return false
		}
	}
	return count > 2
}
