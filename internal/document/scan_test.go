package document

import (
	"fmt"
	"strings"
	"testing"
)

// differs compares what the scanner finds in a body with what the parser does, and says what differs first.
// The scanner is sure or not.
func differs(body string) (difference string, sure bool) {
	text := strings.TrimPrefix(body, byteOrderMark)
	found, headings := make([]line, 0, 16), make([]span, 0, 4)
	read := read(text)
	for read.next() {
		found = append(found, read.line())
		if read.title {
			headings = append(headings, span{first: read.number, name: headingName(text[read.begin:read.stop])})
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
	if len(headings) != len(want.headings) {
		return fmt.Sprintf("%d headings, want %d", len(headings), len(want.headings)), true
	}
	for i, h := range headings {
		if w := want.headings[i]; h.first != w.first || h.name != w.name {
			return fmt.Sprintf("heading %+v, want %+v", h, w), true
		}
	}
	open, is := read.unclosed()
	switch {
	case is != (len(want.unclosed) > 0) || len(want.unclosed) > 1:
		return fmt.Sprintf("unclosed %v %+v, want %+v", is, open, want.unclosed), true
	case is:
		w := want.unclosed[len(want.unclosed)-1]
		if w.first != open.first || w.kind.noun() != open.kind.noun() || w.closer != open.closer {
			return fmt.Sprintf("unclosed %+v, want %+v", open, want.unclosed), true
		}
	}
	return "", true
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
