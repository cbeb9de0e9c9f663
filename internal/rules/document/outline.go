package document

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// kind is what a line of Markdown is part of.
type kind uint8

const (
	nothing kind = iota // blank, or a marker with nothing behind it
	prose               // text that a reader sees as text
	heading
	rule
	fence
	code // indented
	quoted
	comment
	hidden // HTML that is not shown as text: scripts, declarations, preformatted
)

func (k kind) noun() string {
	switch k {
	case fence:
		return "the code fence"
	case comment:
		return "the comment"
	default:
		return "the HTML block"
	}
}

// outline is a body, line by line.
type outline struct {
	lines    []line
	headings []title // top-level, level 2
	unclosed []span  // top-level, hiding all that follows
	numbers  []int   // of the lines that the parser sees
	last     span    // the newest block
}

// title is the heading of a section.
type title struct {
	first int // its line
	name  string
}

type line struct {
	begin int    // where it begins in the body
	text  string // without the line end, with blanks in place of what is in comments
	kind  kind
	list  bool
}

// span is one block that holds no other blocks, in lines.
type span struct {
	first, last int // 0-based, both included
	kind        kind
	html        ast.HTMLBlockType
	top         bool // a child of the document
	list, quote bool
	closer      string   // what would close it; empty when nothing need or did
	node        ast.Node // nil where there is no block
}

// outlineOf reads the blocks of a body. No line is lost: what is behind the last line end is one too.
func outlineOf(body string) *outline {
	out := linesOf(body)
	out.parse(text.NewReader(out.bytesShown()))
	return out
}

// linesOf is a body whose blocks are not known yet.
func linesOf(body string) *outline {
	out := &outline{lines: make([]line, 0, lineCount(body)+1)}
	for at := 0; at >= 0; {
		end, next := lineEnd(body[at:])
		out.lines = append(out.lines, line{begin: at, text: body[at : at+end]})
		if at += next; end == next {
			at = -1 // without a line end it is the last one
		}
	}
	return out
}

// bytesShown is what the parser sees of the lines.
func (o *outline) bytesShown() []byte {
	var source []byte
	o.numbers = make([]int, 0, len(o.lines))
	for i, l := range o.lines {
		if i > 0 && i+1 < len(o.lines) && goesOn(o.lines[i-1].text, l.text, o.lines[i+1].text) {
			continue
		}
		o.numbers = append(o.numbers, i)
		source = append(append(source, l.text...), '\n')
	}
	return source[:len(source)-1]
}

// goesOn reports whether a line is inside a run of lines that are all plain, or all blank. The parser need see only the
// first and the last of a run: an agent that logs into its document writes plain lines by the hundred thousand, and at
// each blank line the parser looks at all lists that are open.
func goesOn(before, l, after string) bool {
	return plain(before) && plain(l) && plain(after) || blank(before) && blank(l) && blank(after)
}

// blank reports whether a line shows nothing: the parser knows no other blanks.
func blank(l string) bool { return strings.TrimLeft(l, " \t") == "" }

// plain reports whether a line can neither begin nor end a block when its neighbours are plain too: it goes on with
// whatever the line before it is part of.
func plain(l string) bool {
	if l == "" || l[0]|0x20 < 'a' || l[0]|0x20 > 'z' {
		return false
	}
	return !strings.ContainsAny(l, "<>")
}

func fenceMarker(first string) string {
	marker := strings.TrimLeft(first, " \t")
	return marker[:len(marker)-len(strings.TrimLeft(marker, marker[:1]))]
}

var preformatted = regexp.MustCompile(`(?i)<(script|pre|style|textarea)`)
var preformattedEnd = regexp.MustCompile(`(?i)</(script|pre|style|textarea)>`)

// htmlKind says what an HTML block is and, when it did not close on its first line, what would close it.
func htmlKind(t ast.HTMLBlockType, first string) (k kind, closer string) {
	k = hidden
	switch t {
	case ast.HTMLBlockType1:
		if preformattedEnd.MatchString(first) {
			return k, ""
		}
		return k, "</" + strings.ToLower(preformatted.FindStringSubmatch(first)[1]) + ">"
	case ast.HTMLBlockType2:
		k, closer = comment, "-->"
	case ast.HTMLBlockType3:
		closer = "?>"
	case ast.HTMLBlockType4:
		closer = ">"
	case ast.HTMLBlockType5:
		closer = "]]>"
	default: // tags such as <details>, which end at a blank line and whose text is shown
		return prose, ""
	}
	if strings.Contains(first, closer) {
		closer = ""
	}
	return k, closer
}

// place writes the newest block into the lines that it is on.
func (o *outline) place() {
	s := o.last
	if s.node == nil {
		return
	}
	s.first, s.last = o.numbers[s.first], o.numbers[min(s.last, len(o.numbers)-1)]
	for i := s.first; i <= s.last; i++ {
		l := &o.lines[i]
		l.list = l.list || s.list
		l.kind = s.kind
		if s.quote {
			l.kind = quoted
		}
		if s.kind == comment && !s.quote {
			l.kind = prose // what is before or behind the comment is; the comment itself is blanked out
		}
	}
	if s.kind == prose || s.kind == comment {
		o.blankComments(s)
	}
	if s.top && s.closer != "" {
		o.unclosed = append(o.unclosed, s)
	}
}

// blankComments puts blanks in place of the comments of one block. A comment that does not end inside its block
// is one where the block is HTML, and plain text in a paragraph.
func (o *outline) blankComments(s span) {
	final := -1 // the last line on which a comment can end
	for i := s.last; i >= s.first && final < 0; i-- {
		if strings.Contains(o.lines[i].text, "-->") {
			final = i
		}
	}
	if final < 0 && s.html == 0 {
		return
	}
	inside := false
	for i := s.first; i <= s.last; i++ {
		l := &o.lines[i]
		l.text, inside = withoutComments(l.text, inside, s.html == 0 && i >= final)
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
