package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"orange/internal/ui/dashboard/screen"
)

// maxInline is the length of the longest text in which inline looks for emphasis and links: the parser needs long for
// larger texts.
const maxInline = 4 << 10

func inlineParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
}

// inline parses the text of a block: emphasis, code and links. A line end stays one, unlike elsewhere in Markdown:
// agents write a TASK.md in lines, such as "DONE: all tests pass".
func (p *page) inline(raw string, style *lipgloss.Style) []screen.Fragment {
	raw = strings.TrimRight(raw, "\n")
	source := []byte(raw)
	out := spans{style: p.style, source: source}
	if len(raw) > maxInline || !strings.ContainsAny(raw, "*_`[]<>&\\!") {
		out.add(raw, style)
		return out.spans
	}
	root := p.within.Parse(text.NewReader(source))
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		out.children(node, style)
	}
	return out.spans
}

type spans struct {
	style  *screen.Style
	source []byte
	spans  []screen.Fragment
}

// add adds a text with its line ends.
func (o *spans) add(text string, style *lipgloss.Style) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			o.spans = append(o.spans, screen.Raw(nil, "\n"))
		}
		o.spans = append(o.spans, screen.Text(style, line))
	}
}

func (o *spans) children(parent ast.Node, style *lipgloss.Style) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		o.node(node, style)
	}
}

func (o *spans) node(node ast.Node, style *lipgloss.Style) {
	switch node := node.(type) {
	case *ast.Text:
		o.text(node, style)
	case *ast.String:
		o.add(string(node.Value), style)
	case *ast.CodeSpan:
		for child := node.FirstChild(); child != nil; child = child.NextSibling() {
			if part, is := child.(*ast.Text); is {
				o.add(string(part.Segment.Value(o.source)), &o.style.Code)
			}
		}
	case *ast.Emphasis:
		o.children(node, o.emphasis(node.Level, style))
	case *ast.Link:
		o.children(node, o.link(style))
		o.target(string(node.Destination))
	case *ast.Image:
		o.add("image: ", &o.style.Faint)
		o.children(node, style)
		o.target(string(node.Destination))
	case *ast.AutoLink:
		o.add(string(node.URL(o.source)), o.link(style))
	case *ast.RawHTML:
		for i := range node.Segments.Len() {
			at := node.Segments.At(i)
			o.add(string(at.Value(o.source)), &o.style.Faint)
		}
	default:
		o.children(node, style)
	}
}

func (o *spans) text(node *ast.Text, style *lipgloss.Style) {
	value := node.Segment.Value(o.source)
	if !node.IsRaw() {
		value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
	}
	o.add(string(value), style)
	if node.HardLineBreak() || node.SoftLineBreak() {
		o.spans = append(o.spans, screen.Raw(nil, "\n"))
	}
}

func (o *spans) target(to string) {
	o.spans = append(o.spans, screen.Raw(nil, " "))
	o.add("("+to+")", &o.style.Faint)
}

func (o *spans) link(style *lipgloss.Style) *lipgloss.Style {
	if style == nil {
		return &o.style.Info
	}
	return style
}

func (o *spans) emphasis(level int, style *lipgloss.Style) *lipgloss.Style {
	var out lipgloss.Style
	if style != nil {
		out = *style
	}
	if level == 1 {
		out = out.Italic(true)
	} else {
		out = out.Bold(true)
	}
	return &out
}
