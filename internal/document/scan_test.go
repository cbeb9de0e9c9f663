package document

import (
	"fmt"
	"strings"
	"testing"
)

// differs compares what the scanner finds in a body with what the parser does, and says what differs first; sure
// reports whether the scanner is.
func differs(body string) (difference string, sure bool) {
	text := strings.TrimPrefix(body, byteOrderMark)
	found, x := make([]line, 0, 16), index{text: text}
	read := read(text)
	for read.next() {
		found = append(found, read.line())
		if read.title {
			x.add(&read.scanner)
		}
	}
	if read.unsure {
		return "", false
	}
	want := outlineOf(body)
	if n := len(want.lines) - len(found); n < 0 || n > 1 || n == 1 && want.lines[len(found)].raw != "" {
		return fmt.Sprintf("%d lines, want %d", len(found), len(want.lines)), true
	}
	for i, l := range found {
		if l != want.lines[i] {
			return fmt.Sprintf("line %d is %+v, want %+v", i, l, want.lines[i]), true
		}
	}
	if difference := sectionsDiffer(&x, found, want.headings); difference != "" {
		return difference, true
	}
	open, closer := read.unclosed()
	w := span{}
	if n := len(want.unclosed); n > 0 {
		w = want.unclosed[n-1]
	}
	if closer != w.closer || closer != "" && (w.first != int(open.first) || w.kind.noun() != open.kind.noun()) ||
		len(want.unclosed) > 1 {
		return fmt.Sprintf("unclosed is %+v until %q, want %+v", open, closer, want.unclosed), true
	}
	return "", true
}

// sectionsDiffer compares the sections of an index with the headings that the parser found. A section that is read
// alone has the lines that it has in the whole text.
func sectionsDiffer(x *index, found []line, want []span) string {
	if len(x.titles) != len(want) {
		return fmt.Sprintf("%d headings, want %d", len(x.titles), len(want))
	}
	for i, w := range want {
		if name := x.name(i); int(x.titles[i].line) != w.first || name != w.name {
			return fmt.Sprintf("heading %q on line %d, want %q on line %d", name, x.titles[i].line, w.name, w.first)
		}
		content, at, behind := x.content(i)
		if behind < 0 {
			behind = len(found)
		}
		again := read(content)
		for again.next() {
			if at >= behind || again.line() != found[at] {
				return fmt.Sprintf("alone, line %d of section %d is %+v", at, i, again.line())
			}
			at++
		}
		if again.unsure || at != behind {
			return fmt.Sprintf("alone, section %d ends on line %d, want %d", i, at, behind)
		}
	}
	return ""
}

// FuzzScan compares the scanner with the parser.
func FuzzScan(f *testing.F) {
	for _, seed := range awkward() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if difference, _ := differs(body); difference != "" {
			t.Fatalf("%q: %s", body, difference)
		}
	})
}
