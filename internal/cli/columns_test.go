package cli

import (
	"bytes"
	"testing"

	"orange/internal/printable"
)

func TestColumns_areStraightWhateverIsInACell(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &Program{Out: printable.NewWriter(&out)}
	err := p.columns([][]string{
		{"ID", "BRANCH", "SUMMARY"},
		{"a", "feat/\xff\xfe", "bytes"},
		{"b", "日本語", "wide"},
		{"c", "x\x1b[31m", "a\tb\nc"},
		{"d", "e\u202ef", ""},
		{"e"},
	})
	const want = `ID  BRANCH         SUMMARY
a   feat/\xff\xfe  bytes
b   日本語         wide
c   x\x1b[31m      a\tb\nc
d   e\u202ef
e
`
	if err != nil || out.String() != want {
		t.Errorf("error %v; it says\n%s\nwant\n%s", err, out.String(), want)
	}
}
