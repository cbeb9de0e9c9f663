package document

import (
	"strings"

	"orange/internal/lazyregexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
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
	headings []span // top-level, level 2
	unclosed []span // top-level, hiding all that follows
}

type line struct {
	raw  string // without the line end
	text string // raw with blanks in place of what is in comments
	kind kind
	list bool
}

// span is one block that holds no other blocks, in lines.
type span struct {
	first, last int // 0-based, both included
	kind        kind
	html        ast.HTMLBlockType
	top         bool // a child of the document
	list, quote bool
	level       int // of a heading
	name        string
	closer      string // what would close it; empty when nothing need or did
	node        ast.Node
}

// outlineOf reads the blocks of a body with the parser, where the scanner is not sure of them. No line is lost:
// outline.lines has as many as the body.
func outlineOf(body string) *outline {
	raw := strings.Split(toLF.Replace(strings.TrimPrefix(body, byteOrderMark)), "\n")
	out := &outline{lines: make([]line, len(raw))}
	var view []string
	var numbers []int // of the lines in view
	for i, l := range raw {
		out.lines[i] = line{raw: l, text: l}
		if i > 0 && i+1 < len(raw) && plain(raw[i-1]) && plain(l) && plain(raw[i+1]) {
			continue
		}
		view, numbers = append(view, squeeze(l)), append(numbers, i)
	}
	for _, s := range blocks([]byte(strings.Join(view, "\n"))) {
		s.first, s.last = numbers[s.first], numbers[min(s.last, len(numbers)-1)]
		out.place(s)
	}
	return out
}

// plain reports whether a line can neither begin nor end a block when its neighbours are plain too: it goes on with
// whatever the line before it is part of. An agent that logs into its document writes such lines by the hundred
// thousand, and the parser need see only the first and the last of a run.
func plain(l string) bool {
	if l == "" || l[0]|0x20 < 'a' || l[0]|0x20 > 'z' {
		return false
	}
	return !strings.ContainsAny(l, "<>")
}

// maxMarkers bounds how deep a single line can nest. The parser looks at the rest of the line again at every level,
// so that without a bound a megabyte of "- - - " would keep it busy for hours.
const maxMarkers = 200

// markers are what the markers of lists and quotes are made of.
const markers = " \t>*+-.)0123456789"

// squeeze shortens the run of list and quote markers at the beginning of a line.
func squeeze(l string) string {
	if len(l) <= maxMarkers {
		return l
	}
	end := len(l) - len(strings.TrimLeft(l, markers))
	if end <= maxMarkers {
		return l
	}
	return l[:maxMarkers] + l[end:]
}

// blocks parses Markdown into its innermost blocks, in order.
// Setext headings are left out, so that "DONE: x" above a rule stays a label; inline parsing is left out because
// it is not needed.
func blocks(source []byte) []span {
	var found []span
	leaf := func(k kind, inner parser.BlockParser, priority int) util.PrioritizedValue {
		return util.Prioritized(&recorder{BlockParser: inner, kind: k, found: &found}, priority)
	}
	p := parser.NewParser(parser.WithBlockParsers(
		leaf(rule, parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		leaf(code, parser.NewCodeBlockParser(), 500),
		leaf(heading, parser.NewATXHeadingParser(), 600),
		leaf(fence, parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		leaf(hidden, parser.NewHTMLBlockParser(), 900),
		leaf(prose, parser.NewParagraphParser(), 1000),
	))
	p.Parse(text.NewReader(source))
	return found
}

// recorder notes the lines of the blocks that a parser opens. The tree alone does not say
// whether a fence was closed, nor on which lines its ends are.
type recorder struct {
	parser.BlockParser
	kind  kind
	found *[]span
}

// Open notes a new block.
func (r *recorder) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	at, _ := reader.Position()
	first, _ := reader.PeekLine()
	node, state := r.BlockParser.Open(parent, reader, pc)
	if node == nil {
		return node, state
	}
	s := span{first: at, last: at, kind: r.kind, node: node, top: parent.Kind() == ast.KindDocument}
	for up := parent; up != nil; up = up.Parent() {
		s.list = s.list || up.Kind() == ast.KindList
		s.quote = s.quote || up.Kind() == ast.KindBlockquote
	}
	switch n := node.(type) {
	case *ast.Heading:
		s.level = n.Level
		if n.Lines().Len() > 0 {
			name := n.Lines().At(0)
			s.name = strings.TrimSpace(string(name.Value(reader.Source())))
		}
	case *ast.FencedCodeBlock:
		s.closer = fenceMarker(string(first))
	case *ast.HTMLBlock:
		s.html = n.HTMLBlockType
		s.kind, s.closer = htmlKind(n.HTMLBlockType, string(first))
	}
	*r.found = append(*r.found, s)
	return node, state
}

// Continue notes that a block goes on. Only the newest block without children can.
func (r *recorder) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	at, _ := reader.Position()
	state := r.BlockParser.Continue(node, reader, pc)
	s := &(*r.found)[len(*r.found)-1]
	if s.node != node {
		return state
	}
	if state&parser.Continue != 0 {
		s.last = at
		return state
	}
	html, isHTML := node.(*ast.HTMLBlock)
	if s.kind == fence || isHTML && html.HasClosure() {
		s.last, s.closer = at, ""
	}
	return state
}

func fenceMarker(first string) string {
	marker := strings.TrimLeft(first, " \t")
	return marker[:len(marker)-len(strings.TrimLeft(marker, marker[:1]))]
}

var preformatted = lazyregexp.New(`(?i)<(script|pre|style|textarea)`)
var preformattedEnd = lazyregexp.New(`(?i)</(script|pre|style|textarea)>`)

// htmlKind says what an HTML block is and, when it did not close on its first line, what would close it.
func htmlKind(t ast.HTMLBlockType, first string) (k kind, closer string) {
	k = hidden
	switch t {
	case ast.HTMLBlockType1:
		if preformattedEnd().MatchString(first) {
			return k, ""
		}
		return k, "</" + strings.ToLower(preformatted().FindStringSubmatch(first)[1]) + ">"
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

// place writes a block into the lines that it is on.
func (o *outline) place(s span) {
	last := min(s.last, len(o.lines)-1)
	for i := s.first; i <= last; i++ {
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
		o.blankComments(s, last)
	}
	if s.top && s.kind == heading && s.level == 2 {
		o.headings = append(o.headings, s)
	}
	if s.top && s.closer != "" {
		o.unclosed = append(o.unclosed, s)
	}
}

// blankComments puts blanks in place of the comments of one block. A comment that does not end inside its block
// is one where the block is HTML, and plain text in a paragraph.
func (o *outline) blankComments(s span, last int) {
	final := -1 // the last line on which a comment can end
	for i := last; i >= s.first && final < 0; i-- {
		if strings.Contains(o.lines[i].raw, "-->") {
			final = i
		}
	}
	if final < 0 && s.html == 0 {
		return
	}
	inside := false
	for i := s.first; i <= last; i++ {
		l := &o.lines[i]
		l.text, inside = withoutComments(l.raw, inside, s.html == 0 && i >= final)
	}
}
