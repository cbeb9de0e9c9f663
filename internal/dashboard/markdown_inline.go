package dashboard

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// mostInline is the longest text in which emphasis and links are looked for: some of that takes the parser long,
// and nobody emphasises anything in a paragraph of that length.
const mostInline = 4 << 10

func inlineParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
}

// inline is the text of a block with its emphasis, code and links.
func (p *page) inline(raw string, look *lipgloss.Style) []ink {
	raw = strings.TrimRight(raw, "\n")
	if len(raw) > mostInline || !strings.ContainsAny(raw, "*_`[]<>&\\!\n") {
		return []ink{inked(look, raw)}
	}
	raw = ownLines(raw)
	source := []byte(raw)
	root := p.within.Parse(text.NewReader(source))
	out := spans{style: p.style, source: source}
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		out.children(node, look)
	}
	return out.inks
}

// ownLines keeps a label at the beginning of its line, where Markdown would run it into the line before.
func ownLines(raw string) string {
	if !strings.Contains(raw, "\n") || !strings.Contains(raw, ":") {
		return raw
	}
	return label.ReplaceAllString(raw, "  \n$1")
}

// spans collects the pieces of a text.
type spans struct {
	style  *style
	source []byte
	inks   []ink
}

func (o *spans) add(text string, look *lipgloss.Style) {
	o.inks = append(o.inks, inked(look, text))
}

func (o *spans) children(parent ast.Node, look *lipgloss.Style) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		o.node(node, look)
	}
}

func (o *spans) node(node ast.Node, look *lipgloss.Style) {
	switch node := node.(type) {
	case *ast.Text:
		o.text(node, look)
	case *ast.String:
		o.add(string(node.Value), look)
	case *ast.CodeSpan:
		for child := node.FirstChild(); child != nil; child = child.NextSibling() {
			if part, is := child.(*ast.Text); is {
				o.add(strings.ReplaceAll(string(part.Segment.Value(o.source)), "\n", " "), &o.style.code)
			}
		}
	case *ast.Emphasis:
		o.children(node, o.emphasis(node.Level, look))
	case *ast.Link:
		o.children(node, o.link(look))
		o.target(string(node.Destination))
	case *ast.Image:
		o.add("image: ", &o.style.faint)
		o.children(node, look)
		o.target(string(node.Destination))
	case *ast.AutoLink:
		o.add(string(node.URL(o.source)), o.link(look))
	case *ast.RawHTML:
		for i := range node.Segments.Len() {
			at := node.Segments.At(i)
			o.add(string(at.Value(o.source)), &o.style.faint)
		}
	default:
		o.children(node, look)
	}
}

func (o *spans) text(node *ast.Text, look *lipgloss.Style) {
	value := node.Segment.Value(o.source)
	if !node.IsRaw() {
		value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
	}
	o.add(string(value), look)
	switch {
	case node.HardLineBreak():
		o.inks = append(o.inks, breakHere())
	case node.SoftLineBreak():
		o.inks = append(o.inks, ink{" ", look})
	}
}

// target is where a link leads, in brackets.
func (o *spans) target(to string) {
	o.inks = append(o.inks, ink{" ", nil})
	o.add("("+to+")", &o.style.faint)
}

func (o *spans) link(look *lipgloss.Style) *lipgloss.Style {
	if look == nil {
		return &o.style.info
	}
	return look
}

// emphasis is a look with more weight.
func (o *spans) emphasis(level int, look *lipgloss.Style) *lipgloss.Style {
	var out lipgloss.Style
	if look != nil {
		out = *look
	}
	if level == 1 {
		out = out.Italic(true)
	} else {
		out = out.Bold(true)
	}
	return &out
}
