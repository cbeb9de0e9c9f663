package document

// view is what is left of a line behind the markers of the blocks that it is in.
type view struct {
	rest string
	col  int  // the column of rest, tabs counted to the next multiple of four
	pad  int  // blanks before rest: what a marker left of a tab
	last bool // no line end follows
}

// gone reports whether nothing is left to read, not even a line end. Blanks that a tab left do not count.
func (v *view) gone() bool { return v.last && v.rest == "" }

// indent is the width of the blanks at the beginning, and how many bytes of rest they are.
func (v *view) indent() (width, bytes int) {
	width, bytes = blanks(v.rest, v.col-v.pad, v.pad, -1)
	return width, bytes
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

// skip goes on behind so many bytes, of whose width some may be left over.
func (v *view) skip(bytes, left int) {
	for i := range bytes {
		if v.rest[i] == '\t' {
			v.col += 4 - v.col%4
		} else {
			v.col++
		}
	}
	v.rest, v.pad = v.rest[bytes:], left
}

// dedent takes a width of blanks away, and reports whether there were as many.
func (v *view) dedent(width int) bool {
	if width <= v.pad {
		v.pad -= width
		return true
	}
	total, bytes := blanks(v.rest, v.col-v.pad, v.pad, width)
	if total < width {
		return false
	}
	v.skip(bytes, total-width)
	return true
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
	sign   byte // one of - + * . )
	bytes  int  // of the rest, up to the end of the marker
	end    int  // the same with the blanks before the rest
	first  bool // the list may begin with it in the middle of a paragraph
	hollow bool // nothing follows
}

// listMark reads the marker at the beginning.
func (v *view) listMark() (m listMark, found bool) {
	at := 0
	for at < len(v.rest) && v.rest[at] == ' ' {
		at++
	}
	if v.pad+at > 3 || at == len(v.rest) {
		return m, false
	}
	m.sign, m.first = v.rest[at], true
	if isDigit(m.sign) {
		number, begin := 0, at
		for at < len(v.rest) && isDigit(v.rest[at]) && at-begin < 10 {
			number = number*10 + int(v.rest[at]-'0')
			at++
		}
		if at-begin > 9 || at == len(v.rest) || v.rest[at] != '.' && v.rest[at] != ')' {
			return m, false
		}
		m.sign, m.first = v.rest[at], number == 1
	} else if m.sign != '-' && m.sign != '+' && m.sign != '*' {
		return m, false
	}
	at++
	if at < len(v.rest) && v.rest[at] != ' ' && v.rest[at] != '\t' {
		return m, false
	}
	m.bytes, m.end, m.hollow = at, v.pad+at, blank(v.rest[at:])
	return m, true
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
