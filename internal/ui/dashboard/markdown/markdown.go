// Package markdown draws Markdown for the screen.
package markdown

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"orange/internal/rules/document"
	"orange/internal/ui/dashboard/screen"
)

// maxDocument is how many bytes of a TASK.md the screen shows.
const maxDocument = 1 << 20

// Limit is the beginning of a long text, and how many bytes of the text it leaves out. It keeps no reference to those.
func Limit(text string) (begin string, beyond int) {
	if len(text) <= maxDocument {
		return text, 0
	}
	return strings.Clone(text[:maxDocument]), len(text) - maxDocument
}

// Document draws a TASK.md whose last beyond bytes were left out. It omits the document's header, which repeats what
// the screen shows above.
func Document(s *screen.Style, source string, beyond, width int) []string {
	lines := lines(s, document.Read([]byte(source)).Body, width)
	if len(lines) == 0 {
		lines = []string{s.Faint.Render("TASK.md has no text yet")}
	}
	if beyond > 0 {
		lines = append(lines, "", s.Faint.Render(fmt.Sprintf("… and %d bytes more: the file has all", beyond)))
	}
	return lines
}

// lines draws a text in Markdown. Like the code that reads evidence, it does not support underlined headings, so that
// a label above a rule stays a label.
func lines(s *screen.Style, body string, width int) []string {
	source := []byte(shallow(body))
	p := page{style: s, source: source, width: max(1, width), within: inlineParser()}
	root := blockParser().Parse(text.NewReader(source))
	p.blocks(root, screen.Indent{})
	return p.lines
}

func blockParser() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	))
}

// deepest limits how deep one line can nest: the parser reads the rest of the line again at every level.
const deepest = 60

// shallow limits the list and quote markers at the beginning of each line, and makes all line ends the same.
func shallow(body string) string {
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	for line := range strings.Lines(body) {
		if len(line) > deepest {
			if end := len(line) - len(strings.TrimLeft(line, " \t>*+-.)0123456789")); end > deepest {
				b.WriteString(line[:deepest])
				line = line[end:]
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

type page struct {
	style  *screen.Style
	source []byte
	width  int
	within parser.Parser // of the text in one block
	lines  []string
}

// blocks draws the children of a block, with a blank line between two.
func (p *page) blocks(parent ast.Node, g screen.Indent) {
	tight := false
	if list, is := parent.(*ast.List); is {
		tight = list.IsTight
	}
	if _, is := parent.(*ast.ListItem); is {
		tight = parent.Parent().(*ast.List).IsTight
	}
	number := 0
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		if node.PreviousSibling() != nil && !tight {
			p.lines = append(p.lines, strings.TrimRight(g.Rest, " "))
		}
		if node.PreviousSibling() != nil {
			g.First = g.Rest
		}
		p.block(node, g, number)
		number++
	}
}

func (p *page) block(node ast.Node, g screen.Indent, number int) {
	switch node := node.(type) {
	case *ast.Heading:
		p.heading(node, g)
	case *ast.Paragraph, *ast.TextBlock:
		p.paragraph(node, g)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.code(node, g)
	case *ast.HTMLBlock:
		p.hidden(node, g)
	case *ast.ThematicBreak:
		g = g.Bounded(p.width)
		p.lines = append(p.lines,
			g.First+p.style.Faint.Render(strings.Repeat("─", max(1, min(40, p.width-screen.Width(g.First))))))
	case *ast.Blockquote:
		bar := p.style.Faint.Render("┃") + " "
		p.blocks(node, g.Under(bar, bar))
	case *ast.List:
		p.blocks(node, g)
	case *ast.ListItem:
		p.item(node, g, number)
	default:
		p.hidden(node, g)
	}
}

// item draws one item of a list: with a dot, a number or a checkbox.
func (p *page) item(node *ast.ListItem, g screen.Indent, number int) {
	list := node.Parent().(*ast.List)
	sign := "•"
	if list.IsOrdered() {
		sign = fmt.Sprintf("%d%c", list.Start+number, list.Marker)
	}
	if box := p.box(node); box != "" {
		sign = box
	}
	if node.FirstChild() == nil {
		p.lines = append(p.lines, g.First+p.style.Faint.Render(sign))
		return
	}
	wide := screen.Width(sign) + 1
	p.blocks(node, g.Under(p.style.Faint.Render(sign)+" ", strings.Repeat(" ", wide)))
}

// box is the checkbox of an item; empty where the item has none.
func (p *page) box(node *ast.ListItem) string {
	first := node.FirstChild()
	if first == nil || first.Lines() == nil || first.Lines().Len() == 0 {
		return ""
	}
	at := first.Lines().At(0)
	text := string(at.Value(p.source))
	if len(text) < 4 || text[0] != '[' || text[2] != ']' || text[3] != ' ' ||
		!strings.ContainsRune(" xX", rune(text[1])) {
		return ""
	}
	return strings.ToLower(text[:3])
}

func (p *page) heading(node *ast.Heading, g screen.Indent) {
	style := &p.style.Header
	if node.Level > 2 {
		style = &p.style.Bold
	}
	spans := []screen.Fragment{screen.Raw(&p.style.Faint, strings.Repeat("#", node.Level)+" ")}
	spans = append(spans, p.inline(p.raw(node), style)...)
	p.lines = append(p.lines, screen.Flow(spans, p.width, g)...)
}

func (p *page) raw(node ast.Node) string {
	var b strings.Builder
	lines := node.Lines()
	for i := range lines.Len() {
		at := lines.At(i)
		b.Write(at.Value(p.source))
	}
	return b.String()
}

func (p *page) paragraph(node ast.Node, g screen.Indent) {
	raw := p.raw(node)
	if item, is := node.Parent().(*ast.ListItem); is && node.PreviousSibling() == nil && p.box(item) != "" {
		raw = raw[4:]
	}
	if isTable(raw) {
		p.painted(raw, nil, g)
		return
	}
	p.lines = append(p.lines, screen.Flow(p.inline(raw, nil), p.width, g)...)
}

// isTable reports whether the second line of a text is the delimiter row of a table: only dashes and bars.
func isTable(raw string) bool {
	first, rest, _ := strings.Cut(raw, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return strings.Contains(first, "|") && strings.Contains(second, "|") && strings.Contains(second, "-") &&
		strings.Trim(second, " \t|:-") == ""
}

func (p *page) code(node ast.Node, g screen.Indent) {
	bar := p.style.Faint.Render("▏") + " "
	p.painted(p.raw(node), &p.style.Code, g.Under(bar, bar))
}

// hidden draws what Markdown usually hides: HTML, mostly comments.
func (p *page) hidden(node ast.Node, g screen.Indent) {
	if node.Lines() == nil {
		return
	}
	raw := p.raw(node)
	if html, is := node.(*ast.HTMLBlock); is && html.HasClosure() {
		raw += string(html.ClosureLine.Value(p.source))
	}
	p.painted(raw, &p.style.Faint, g)
}

// painted draws lines as they are, in a style, and breaks those that are too wide.
func (p *page) painted(source string, style *lipgloss.Style, g screen.Indent) {
	g = g.Bounded(p.width)
	for _, line := range screen.CleanRawLines(strings.TrimRight(source, "\n")) {
		for _, piece := range screen.Break(line, p.width-screen.Width(g.First)) {
			p.lines = append(p.lines, g.First+screen.Raw(style, piece).Render())
			g.First = g.Rest
		}
	}
}
