package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark/text"
)

// hostile are documents of about so many bytes on which a parser of Markdown or YAML may be slow, by name.
func hostile(size int) map[string]string {
	of := func(unit string) string { return strings.Repeat(unit, size/len(unit)+1)[:size] }
	numbered := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()[:size]
	}
	// stairs is a list in a list in a list, each item on a line of its own.
	stairs := func(step, item string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.Repeat(step, i) + item)
		}
		return b.String()[:size]
	}
	deep := strings.Repeat("- ", 95)
	quotes := strings.Repeat(">", 190)
	tabs := strings.Repeat("-\t", 95)
	return map[string]string{
		"one line of list markers":         of("- "),
		"one line of numbers":              of("1. "),
		"one line of quote markers":        of("> "),
		"one line of tight quote markers":  of(">"),
		"one line of tabs":                 of("\t"),
		"one line of markers and tabs":     of("-\t"),
		"one line of brackets":             of("["),
		"one line of angles":               of("<"),
		"one line of backticks":            of("`"),
		"one line of stars":                of("*"),
		"one line of emphasis":             of("*a_"),
		"one line of hashes":               of("#"),
		"one line of letters":              of("x"),
		"one line of attributes":           "<a " + of("b='c' "),
		"one line of open attributes":      "<a " + of("b "),
		"one line of closed scripts":       "<pre " + of("</"),
		"one line of comments":             of("a<!---->"),
		"one line of opened comments":      of("a <!-- "),
		"deep list, then a long line":      tabs + of("x"),
		"deep rule":                        deep + of("_ "),
		"blank lines":                      of("\n"),
		"lines of blanks":                  of(" \n\t\n"),
		"blank lines in a deep list":       deep + "x\n" + of("\n"),
		"odd blanks in a deep list":        deep + "x\n" + of("\f\n"),
		"lines of a deep list":             of(deep + "x\n\n\n"),
		"lines in a deep list":             deep + "x\n" + of("\n\n"+strings.Repeat("  ", 95)+"x\n"),
		"lines in a deep list of tabs":     tabs + "x\n" + of("\n\n"+strings.Repeat("\t", 190)+"x\n"),
		"lines of deep quotes":             of(quotes + "x\n"),
		"lines of deep quoted lists":       of(strings.Repeat("> - ", 45) + "x\n"),
		"stairs of lists":                  stairs("  ", "- x\n"),
		"stairs of tabs":                   stairs("\t", "- x\n"),
		"stairs of quotes":                 stairs(">", "x\n\n"),
		"headings":                         numbered("## %d\n"),
		"the same heading":                 of("## A\n"),
		"empty headings":                   of("##\n"),
		"headings of other levels":         of("# \n"),
		"items":                            of("- a\n"),
		"empty items":                      of("-\n"),
		"items with blank lines":           of("-\n\n"),
		"items of other markers":           of("-\n*\n"),
		"numbered items":                   numbered("%d. \n"),
		"children of an item":              "- a\n" + of("  #\n  a\n"),
		"quotes":                           of(">\n"),
		"quoted lines":                     of("> a\n\n"),
		"rules":                            of("***\n"),
		"paragraphs":                       of("a\n\n"),
		"lines that are not plain":         of("é\n"),
		"short lines":                      of("0\n"),
		"fences":                           of("```\n"),
		"a fence that is not closed":       "```\n" + of("``\n"),
		"a long fence":                     of("`````````x\n"),
		"indented code":                    of("    x\n"),
		"code of tabs":                     of("\tx\n"),
		"an HTML block that is not closed": "<pre>\n" + of("</p\n"),
		"an HTML block with a long line":   "<pre>\n" + of("</p"),
		"tags":                             of("<a>\n"),
		"tags with many attributes":        of("<a " + strings.Repeat("b = 'c'  ", 30) + "\n"),
		"tags with very many attributes":   of("<a " + strings.Repeat("b = 'c'  ", 300) + "\n"),
		"scripts with long lines":          "<pre>\n" + of(strings.Repeat("</p", 100)+"\n"),
		"tags that are none":               of("<a b='\n"),
		"tags with attributes":             of("<a b=c d=\"e\"\n"),
		"block tags":                       of("<p\n\n"),
		"declarations":                     of("<!A\n"),
		"comments":                         of("<!-- a\n-->\n"),
		"comments that are not closed":     of("a <!--\n"),
		"a comment that is not closed":     of("<!--\n"),
		"definitions of links":             numbered("[%d]: <a> 'b'\n"),
		"definitions of links, unfinished": of("[a]:\n"),
		"carriage returns":                 of("\r"),
		"zero bytes":                       of("\x00"),
		"bytes that are no text":           of("\xff"),
		"labels":                           "## A\n" + of("DONE: x\n"),
		"almost headings":                  of("#＃ x\n"),
		"a header that is not closed":      "---\n" + of("a: b\n"),
		"a header of keys":                 "---\n" + numbered("k%d: x\n")[:min(size, maxFront-100)] + "\n---\n",
		"a broken header":                  "---\n" + of("a: b: c\n")[:min(size, maxFront-100)] + "\n---\n",
		"a header of brackets":             "---\na: " + of("[")[:min(size, maxFront-100)] + "\n---\n",
	}
}

// counting is a reader that counts the bytes at which a parser can look.
type counting struct {
	text.Reader
	bytes int
}

func (c *counting) PeekLine() ([]byte, text.Segment) {
	line, segment := c.Reader.PeekLine()
	c.bytes += len(line) + 1
	return line, segment
}

// Counts and not times: whatever a document is, the parser looks at each of its bytes so many times at most. The
// deepest lists are the worst.
func TestRead_looksAtEachByteAFewTimes(t *testing.T) {
	t.Parallel()
	const most, size = 200, 1 << 14
	for name, body := range hostile(size) {
		out := linesOf(body)
		counted := &counting{Reader: text.NewReader(out.bytesShown())}
		out.parse(counted)
		if counted.bytes > most*size {
			t.Errorf("%s: the parser looked at %d bytes, %d times the size", name, counted.bytes, counted.bytes/size)
		}
	}
}

// At each blank line the parser looks at every open list and quote, and notes what it saw.
func TestTheParserSeesTheFirstAndTheLastOfARun(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"plain\n", "\n", " \t\n"} {
		out := linesOf("- x\n\n" + strings.Repeat(unit, 1000) + "  y\n")
		if out.bytesShown(); len(out.lines) < 1000 || len(out.numbers) > 8 {
			t.Errorf("of %q it sees %d lines", unit, len(out.numbers))
		}
	}
}

// What each of them takes is for people to read:
// go test ./internal/rules/document -run NONE -bench Hostile -benchtime 1x
func BenchmarkRead_Hostile(b *testing.B) {
	for name, text := range hostile(2<<20 - 1<<10) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read([]byte(text))
			}
		})
	}
}
