package document

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parse has goldmark find the innermost blocks, in order.
// Setext headings are left out, so that "DONE: x" above a rule stays a label; inline parsing is left out because
// it is not needed.
func (o *outline) parse(source text.Reader) {
	leaf := func(k kind, inner parser.BlockParser, priority int) util.PrioritizedValue {
		return util.Prioritized(&recorder{BlockParser: inner, kind: k, out: o}, priority)
	}
	box := func(inner parser.BlockParser, priority int) util.PrioritizedValue {
		return util.Prioritized(container{inner}, priority)
	}
	p := parser.NewParser(parser.WithBlockParsers(
		leaf(rule, parser.NewThematicBreakParser(), 200),
		box(parser.NewListParser(), 300),
		box(parser.NewListItemParser(), 400),
		leaf(code, parser.NewCodeBlockParser(), 500),
		leaf(heading, parser.NewATXHeadingParser(), 600),
		leaf(fence, parser.NewFencedCodeBlockParser(), 700),
		box(parser.NewBlockquoteParser(), 800),
		leaf(hidden, parser.NewHTMLBlockParser(), 900),
		leaf(prose, parser.NewParagraphParser(), 1000),
	))
	p.Parse(source)
	o.place()
}

// maxDepth is how deep lists and quotes may hold each other; what is deeper is text. The parser looks at each line, and
// at the rest of it, again at every level: without a bound a megabyte of "- - - " would keep it busy for hours.
const maxDepth = 20

// container bounds the parsers of blocks that hold others.
type container struct{ parser.BlockParser }

// Open opens no list and no quote that is too deep. The item of a list is a part of it.
func (c container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for up := parent; up != nil && parent.Kind() != ast.KindList; up = up.Parent() {
		if up.Kind() != ast.KindListItem {
			depth++
		}
	}
	if depth > maxDepth { // the document is one more
		return nil, parser.NoChildren
	}
	return c.BlockParser.Open(parent, reader, pc)
}

// Close forgets the block before this one.
func (c container) Close(node ast.Node, _ text.Reader, _ parser.Context) { forgetBefore(node) }

// forgetBefore takes the block before a closed one out of the tree. The parser looks at the last one alone, and the
// tree of all of them would have a hundred times the size of the document.
func forgetBefore(node ast.Node) {
	if before := node.PreviousSibling(); before != nil {
		before.Parent().RemoveChild(before.Parent(), before)
	}
}

// recorder notes the lines of the blocks that a parser opens. The tree alone does not say
// whether a fence was closed, nor on which lines its ends are.
type recorder struct {
	parser.BlockParser
	kind kind
	out  *outline
}

// Open notes a new block.
func (r *recorder) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	at, _ := reader.Position()
	first, _ := reader.PeekLine()
	node, state := r.BlockParser.Open(parent, reader, pc)
	if node == nil {
		return node, state
	}
	r.out.place()
	s := span{first: at, last: at, kind: r.kind, node: node, top: parent.Kind() == ast.KindDocument}
	for up := parent; up != nil; up = up.Parent() {
		s.list = s.list || up.Kind() == ast.KindList
		s.quote = s.quote || up.Kind() == ast.KindBlockquote
	}
	switch n := node.(type) {
	case *ast.Heading:
		if s.top && n.Level == 2 {
			r.out.headings = append(r.out.headings, title{r.out.numbers[at], nameOf(n, reader.Source())})
		}
	case *ast.FencedCodeBlock:
		s.closer = fenceMarker(string(first))
	case *ast.HTMLBlock:
		s.html = n.HTMLBlockType
		s.kind, s.closer = htmlKind(n.HTMLBlockType, string(first))
	}
	r.out.last = s
	return node, state
}

// nameOf is the text of a heading.
func nameOf(n *ast.Heading, source []byte) string {
	if n.Lines().Len() == 0 {
		return ""
	}
	name := n.Lines().At(0)
	return strings.TrimSpace(string(name.Value(source)))
}

// Continue notes that a block goes on. Only the newest block without children can.
func (r *recorder) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	at, _ := reader.Position()
	state := r.BlockParser.Continue(node, reader, pc)
	s := &r.out.last
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

// Close forgets the lines of a block, which are noted, and the block before it.
func (r *recorder) Close(node ast.Node, _ text.Reader, _ parser.Context) {
	node.SetLines(text.NewSegments())
	forgetBefore(node)
}
