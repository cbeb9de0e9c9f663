package document

import "strings"

// reading goes through the lines of a text, one after the other.
type reading struct {
	scanner
	first  int32 // of the block whose comments are known
	inside bool  // a comment that began above goes on
	final  int   // the last line of the block on which a comment can end

	kept []line // what is left of the lines that the parser saw; nil where the scanner is sure
	now  line   // the last of them
}

func read(text string) reading { return reading{scanner: newScanner(text), first: -1} }

func (s Section) read() reading {
	if s.kept != nil {
		return reading{kept: s.kept}
	}
	return read(s.body)
}

// next goes to the next line, and reports whether there is one.
func (l *reading) next() bool {
	if l.kept == nil {
		return l.scanner.next()
	}
	if len(l.kept) == 0 {
		return false
	}
	l.now, l.kept = l.kept[0], l.kept[1:]
	return true
}

// line is the line that was read last.
func (l *reading) line() line {
	if l.kept != nil {
		return l.now
	}
	raw := l.text[l.begin:l.stop]
	out := line{raw: raw, text: raw}
	if !l.part {
		return out
	}
	out.kind, out.list = l.block.kind, l.block.list
	if out.kind == prose || out.kind == comment {
		out.text, out.kind = l.shown(raw), prose
	}
	if l.block.quote {
		out.kind = quoted
	}
	return out
}

// shown is a line with a blank in place of each comment.
func (l *reading) shown(raw string) string {
	if l.first != l.block.first {
		l.first, l.inside, l.final = l.block.first, false, -1
	}
	if !l.inside && !strings.Contains(raw, "<!--") {
		return raw
	}
	if l.final < 0 && l.block.html == noHTML {
		l.final = l.end()
	}
	var text string
	text, l.inside = withoutComments(raw, l.inside, l.block.html == noHTML && l.number >= l.final)
	return text
}

// end looks ahead for the last line of a paragraph on which a comment can end; 0 when there is none.
func (l *reading) end() int {
	ahead, end := l.scanner, 0
	for {
		if strings.Contains(ahead.text[ahead.begin:ahead.stop], "-->") {
			end = ahead.number
		}
		if !ahead.next() || !ahead.part || ahead.block.first != l.block.first {
			return end
		}
	}
}

// withoutComments puts a blank in place of each comment of a line. On a line that is the last on which a comment can
// end, one that does not end there is text.
func withoutComments(raw string, inside, last bool) (text string, still bool) {
	var kept strings.Builder
	for raw != "" {
		if inside {
			_, after, closed := strings.Cut(raw, "-->")
			if !closed {
				break
			}
			inside, raw = false, after
			continue
		}
		at := strings.Index(raw, "<!--")
		if at < 0 || last && !strings.Contains(raw[at+2:], "-->") {
			kept.WriteString(raw)
			break
		}
		kept.WriteString(raw[:at] + " ")
		inside, raw = true, raw[at+2:] // the two dashes stay, as <!--> is a whole comment
	}
	return kept.String(), inside
}
