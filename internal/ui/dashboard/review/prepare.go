package review

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orange/internal/rules/diff"
	"orange/internal/rules/printable"
	"orange/internal/ui/dashboard/highlight"
)

// Bounds of what is looked for in a change: beyond them code is plain, and no words are marked.
const (
	mostBytes = 200 << 10
	mostTime  = 50 * time.Millisecond
	asksClock = 64 // lines between two looks at the clock
	// longestLine is how many bytes of a line are shown
	longestLine = 4 << 10
)

// content is a change that is ready to be drawn.
type content struct {
	patch   diff.Patch
	parts   diff.Parts
	lines   map[*diff.Line]line
	remarks []diff.Remark
	numbers int // the width of the highest number of a line
	plain   bool
}

// line is a line of a hunk that is fit to be shown, with what is known of its parts.
type line struct {
	text    string
	tokens  []highlight.Token
	changed []diff.Range
}

// prepare takes a change apart. It may take a while.
func prepare(p diff.Patch, now func() time.Time) *content {
	c := &content{patch: p, parts: diff.Parse(p.Text), lines: map[*diff.Line]line{}, numbers: 1}
	c.remarks = diff.Remarks(p.Review, c.parts.Files)
	b := budget{now: now, until: now().Add(mostTime)}
	for i := range c.parts.Files {
		c.file(&c.parts.Files[i], &b)
	}
	c.plain = b.spent
	return c
}

// budget is how much of a change is looked at closely.
type budget struct {
	now          func() time.Time
	until        time.Time
	bytes, lines int
	spent        bool
}

// take reports whether a text is looked at too.
func (b *budget) take(text string) bool {
	b.bytes += len(text)
	b.lines++
	if b.bytes > mostBytes || b.lines%asksClock == 0 && b.now().After(b.until) {
		b.spent = true
	}
	return !b.spent
}

func (c *content) file(f *diff.ChangedFile, b *budget) {
	crlf := hasCRLF(f)
	language := highlight.Of(f.Name)
	for h := range f.Hunks {
		hunk := &f.Hunks[h]
		var old, new highlight.Inside // the two files, each by itself
		for i := range hunk.Lines {
			l := &hunk.Lines[i]
			one := line{text: printableCode(l.Text, crlf)}
			for c.numbers < len(strconv.Itoa(max(l.Old, l.New))) {
				c.numbers++
			}
			if l.Kind != diff.Note && b.take(one.text) {
				switch l.Kind {
				case diff.Removed:
					one.tokens, old = language.Line(one.text, old)
				case diff.Added:
					one.tokens, new = language.Line(one.text, new)
				default:
					one.tokens, new = language.Line(one.text, new)
					old = new
				}
			}
			c.lines[l] = one
		}
		for _, pair := range hunk.Pairs() {
			old, new := &hunk.Lines[pair[0]], &hunk.Lines[pair[1]]
			a, z := c.lines[old], c.lines[new]
			if !b.take(a.text + z.text) {
				break
			}
			a.changed, z.changed = diff.Words(a.text, z.text)
			c.lines[old], c.lines[new] = a, z
		}
	}
}

// hasCRLF reports whether every line of a file ends as on Windows. Then that is not shown; where only some do, it is:
// it may be all that changed.
func hasCRLF(f *diff.ChangedFile) bool {
	for h := range f.Hunks {
		for i := range f.Hunks[h].Lines {
			if l := &f.Hunks[h].Lines[i]; l.Kind != diff.Note && !strings.HasSuffix(l.Text, "\r") {
				return false
			}
		}
	}
	return true
}

// printableCode is a line that is fit to be shown: what a terminal would execute, and what turns a line around, is
// written out.
func printableCode(text string, crlf bool) string {
	if crlf {
		text = strings.TrimSuffix(text, "\r")
	}
	cut := ""
	if len(text) > longestLine {
		end := longestLine
		for end > longestLine-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		cut = " … and " + strconv.Itoa(len(text)-end) + " bytes more"
		text = text[:end]
	}
	return printable.Line(strings.ReplaceAll(text, "\t", "    ")) + cut
}
