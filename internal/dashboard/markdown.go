package dashboard

import (
	"fmt"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"orange/internal/document"
)

// mostDocument is how many bytes of a TASK.md are shown: nobody reads more on a screen.
const mostDocument = 1 << 20

// bounded is the beginning of a long text, kept without the rest of it, and how many bytes that is.
func bounded(text string) (begin string, beyond int) {
	if len(text) <= mostDocument {
		return text, 0
	}
	return strings.Clone(text[:mostDocument]), len(text) - mostDocument
}

// documentLines is a TASK.md as people read it, of which some bytes are beyond what is shown.
// Its header is left out: what it says stands above.
func documentLines(s *style, source string, beyond, width int) []string {
	lines := markdown(s, document.Read([]byte(source)).Body, width)
	if len(lines) == 0 {
		lines = []string{s.faint.Render("nothing stands in TASK.md yet")}
	}
	if beyond > 0 {
		lines = append(lines, "", s.faint.Render(fmt.Sprintf("… and %d bytes more: the file has all", beyond)))
	}
	return lines
}

// markdown draws a text in Markdown. Like the reading of evidence it knows no headings that are underlined,
// so that a label above a rule stays a label.
func markdown(s *style, body string, width int) []string {
	source := []byte(shallow(body))
	p := page{style: s, source: source, width: max(1, width), within: inlineParser()}
	root := blockParser().Parse(text.NewReader(source))
	p.blocks(root, margin{})
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

// deepest bounds how deep one line can nest: the parser looks at the rest of the line again at every level.
const deepest = 60

// shallow is the text with the runs of list and quote markers at the beginning of lines bounded, and with one
// kind of line end.
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

// page is a text that is being drawn.
type page struct {
	style  *style
	source []byte
	width  int
	within parser.Parser // of what stands in one block
	lines  []string
}

// blocks draws what a block holds, with a blank line between two.
func (p *page) blocks(parent ast.Node, g margin) {
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
			p.lines = append(p.lines, strings.TrimRight(g.rest, " "))
		}
		if node.PreviousSibling() != nil {
			g.first = g.rest
		}
		p.block(node, g, number)
		number++
	}
}

func (p *page) block(node ast.Node, g margin, number int) {
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
		g = g.bounded(p.width)
		p.lines = append(p.lines,
			g.first+p.style.faint.Render(strings.Repeat("─", max(1, min(40, p.width-visible(g.first))))))
	case *ast.Blockquote:
		bar := p.style.faint.Render("┃") + " "
		p.blocks(node, g.under(bar, bar))
	case *ast.List:
		p.blocks(node, g)
	case *ast.ListItem:
		p.item(node, g, number)
	default:
		p.hidden(node, g)
	}
}

// item draws one item of a list: a dot, a number, or the box of a task.
func (p *page) item(node *ast.ListItem, g margin, number int) {
	list := node.Parent().(*ast.List)
	sign := "•"
	if list.IsOrdered() {
		sign = fmt.Sprintf("%d%c", list.Start+number, list.Marker)
	}
	if box := p.box(node); box != "" {
		sign = box
	}
	if node.FirstChild() == nil {
		p.lines = append(p.lines, g.first+p.style.faint.Render(sign))
		return
	}
	wide := visible(sign) + 1
	p.blocks(node, g.under(p.style.faint.Render(sign)+" ", strings.Repeat(" ", wide)))
}

// box is the box of an item that is a task, and empty for another one.
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

func (p *page) heading(node *ast.Heading, g margin) {
	look := &p.style.header
	if node.Level > 2 {
		look = &p.style.bold
	}
	inks := []ink{{strings.Repeat("#", node.Level) + " ", &p.style.faint}}
	inks = append(inks, p.inline(p.raw(node), look)...)
	p.lines = append(p.lines, flow(inks, p.width, g)...)
}

// raw is the text of a block's lines.
func (p *page) raw(node ast.Node) string {
	var b strings.Builder
	lines := node.Lines()
	for i := range lines.Len() {
		at := lines.At(i)
		b.Write(at.Value(p.source))
	}
	return b.String()
}

func (p *page) paragraph(node ast.Node, g margin) {
	raw := p.raw(node)
	if item, is := node.Parent().(*ast.ListItem); is && node.PreviousSibling() == nil && p.box(item) != "" {
		raw = raw[4:]
	}
	if isTable(raw) {
		p.asItStands(raw, g)
		return
	}
	p.lines = append(p.lines, flow(p.inline(raw, nil), p.width, g)...)
}

// isTable says whether the second line of a text is that of a table: dashes and bars alone.
func isTable(raw string) bool {
	first, rest, _ := strings.Cut(raw, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	return strings.Contains(first, "|") && strings.Contains(second, "|") && strings.Contains(second, "-") &&
		strings.Trim(second, " \t|:-") == ""
}

// asItStands draws lines as they are; one that is too wide goes on beneath.
func (p *page) asItStands(raw string, g margin) {
	g = g.bounded(p.width)
	for _, line := range properLines(strings.TrimRight(raw, "\n")) {
		for _, piece := range broken(line, p.width-visible(g.first)) {
			p.lines = append(p.lines, g.first+piece)
			g.first = g.rest
		}
	}
}

func (p *page) code(node ast.Node, g margin) {
	g = g.under(p.style.faint.Render("▏")+" ", p.style.faint.Render("▏")+" ").bounded(p.width)
	p.painted(p.raw(node), &p.style.code, g)
}

// hidden is what a reader of Markdown does not see: HTML, and comments above all.
func (p *page) hidden(node ast.Node, g margin) {
	if node.Lines() == nil {
		return
	}
	raw := p.raw(node)
	if html, is := node.(*ast.HTMLBlock); is && html.HasClosure() {
		raw += string(html.ClosureLine.Value(p.source))
	}
	p.painted(raw, &p.style.faint, g.bounded(p.width))
}

func (p *page) painted(raw string, look *lipgloss.Style, g margin) {
	for _, line := range properLines(strings.TrimRight(raw, "\n")) {
		for _, piece := range broken(line, p.width-visible(g.first)) {
			p.lines = append(p.lines, g.first+ink{piece, look}.paint())
			g.first = g.rest
		}
	}
}

// label is the beginning of a line that a person or an agent wrote on a line of its own: "DONE: ", "**Next step**: ".
var label = regexp.MustCompile(`\n([*_]{0,2}[\pL][\pL\pN _-]{0,30}[*_]{0,2}:(?:[*_]{0,2})(?:\s|$))`)
