// Package document is TASK.md as bytes in, facts out.
//
// It owns how TASK.md is taken apart (frontmatter, sections, labels, verdicts), how its frontmatter is rendered,
// and the normal form over which evidence is digested.
// It does not own where the file is or how it is written (mirror), whose value wins when the frontmatter
// and the record differ (mirror), nor what a section is needed for (decide).
package document

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bodies and frontmatters beyond these sizes are named as a problem and not looked into:
// no person wrote them, and a list of tasks must not wait for them.
const (
	maxFront = 64 << 10
	maxBody  = MaxSize
)

// maxNames is how many sections are listed by name: a refusal lists them, and an event keeps them.
const maxNames = 20

// maxProblems is where a document counts as broken enough; more lines would not help.
const maxProblems = 20

// Document is what one reading of TASK.md found.
type Document struct {
	Front Front // the frontmatter
	// bytes of the frontmatter block: a byte order mark, both --- lines and the newline after the closing one; 0
	// when there is none
	FrontLen int
	Body     string    // everything after it, exactly as it is
	Problems []Problem // what is wrong, sorted by line

	header     string // the frontmatter block itself
	frontLines int    // lines of the frontmatter block

	lines    []line         // of the body
	sections []Section      // each key once, the last of duplicates, in the order of the document
	at       map[string]int // the number of the section of a key
	named    int            // how many of the sections are listed by name
	more     int            // how many there are besides those
}

// Header is the frontmatter block exactly as it is; empty when there is none or it is of an insane size, and for
// no document at all.
func (d *Document) Header() string {
	if d == nil || len(d.header) > maxFront {
		return ""
	}
	return d.header
}

// Problem is one thing that is wrong with a document, in words for the person who will fix it.
type Problem struct {
	Line int    `json:"line"` // 1-based, in the whole file
	Text string `json:"text"`
}

// Read takes a whole TASK.md apart.
// It never fails: what is wrong is listed in Problems, and everything that can be read is read.
// FrontLen and the length of Body always add up to the length of text.
// LF, CRLF and a lone CR all end a line.
func Read(text []byte) *Document {
	d := &Document{}
	d.checkBytes(text)
	whole := string(text)
	block := delimit(whole)
	d.FrontLen = block.end
	d.header, d.Body = whole[:block.end], whole[block.end:]
	// The body goes first, so that many broken keys cannot crowd out what hides a section.
	d.frontLines = lineCount(whole[:block.end])
	d.readBody()
	if block.end == 0 {
		d.problem(1, "%s", block.missing)
	} else {
		d.readFront(block.yaml)
	}
	slices.SortStableFunc(d.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return d
}

func (d *Document) problem(line int, format string, args ...any) {
	if len(d.Problems) < maxProblems {
		d.Problems = append(d.Problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

func (d *Document) checkBytes(text []byte) {
	if at := bytes.IndexByte(text, 0); at >= 0 {
		d.problem(lineAt(string(text[:at])),
			"cannot read the document as text: there is a NUL byte; save it as plain UTF-8 text")
	}
	if utf8.Valid(text) {
		return
	}
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	d.problem(lineAt(string(text[:at])),
		"cannot read the document as text: the byte 0x%02x is not UTF-8; save it as plain UTF-8 text", text[at])
}

func (d *Document) readBody() {
	if len(d.Body) > maxBody {
		d.problem(d.frontLines+1, "cannot look for sections: the body is %d bytes long, more than %d, and "+
			"%s; move what is not needed into files of its own", len(d.Body), maxBody,
			LargestSection(strings.NewReader(d.Body)))
		return
	}
	body := strings.TrimPrefix(d.Body, byteOrderMark)
	out := outlineOf(body)
	for _, open := range out.unclosed {
		d.problem(d.frontLines+open.first+1, "cannot see what follows line %d: %s that opens there is never closed; "+
			"close it with %s", d.frontLines+open.first+1, open.kind.noun(), open.closer)
	}
	d.lines = out.lines
	d.addSections(body, out.headings)
}

// addSections notes what is below each heading, up to the next one. A heading without a name ends a section and begins
// none.
func (d *Document) addSections(body string, headings []title) {
	copies := make(map[string]int, len(headings))
	for _, h := range headings {
		copies[nameKey(h.name)]++
	}
	d.at = make(map[string]int, len(copies))
	for i, h := range headings {
		key := nameKey(h.name)
		if key == "" {
			continue
		}
		if d.at[key]++; d.at[key] < copies[key] { // until the last one it counts them
			continue
		}
		s := Section{Name: h.name, Key: key, Line: d.frontLines + h.first + 1, Copies: copies[key],
			lines: d.lines[h.first+1:]}
		end := len(body)
		if i+1 < len(headings) {
			next := headings[i+1].first
			s.lines, end = d.lines[h.first+1:next], d.lines[next].begin
		}
		if len(s.lines) > 0 {
			s.Text = Normalise(body[s.lines[0].begin:end])
		}
		d.at[key] = len(d.sections)
		d.sections = append(d.sections, s)
	}
	d.named = min(len(d.sections), maxNames)
	d.more = len(d.sections) - d.named
}

// lineEnd is where the first line of text ends, and where the next one begins.
func lineEnd(text string) (end, next int) {
	end = strings.IndexAny(text, "\r\n")
	if end < 0 {
		return len(text), len(text)
	}
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// splitLines cuts text into lines that keep their line ends.
func splitLines(text string) []string {
	lines := make([]string, 0, lineCount(text)+1)
	for text != "" {
		_, next := lineEnd(text)
		lines = append(lines, text[:next])
		text = text[next:]
	}
	return lines
}

// lineCount is the number of line ends in text.
func lineCount(text string) int {
	return strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}

// lineAt is the number of the line that follows before.
func lineAt(before string) int { return lineCount(before) + 1 }

var toLF = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// QuoteHeading names a section in messages, as its heading in quotes.
func QuoteHeading(section string) string {
	return strconv.Quote("## " + strings.TrimSpace(strings.TrimLeft(section, "# ")))
}
