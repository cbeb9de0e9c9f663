package document_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/document"
)

// The parser is shown only the first and the last of a run of plain lines. Whatever the run is part of, that
// changes nothing.
func TestRead_aLongRunOfPlainLinesIsWhatAShortOneIs(t *testing.T) {
	t.Parallel()
	around := []string{
		"## A\n\nRUN\n## B\n\nVerdict: PASS\n",
		"## A\n\n```\nRUN\n```\n\n## B\n\nVerdict: PASS\n",
		"## A\n\n```\nRUN\n## B\n\nVerdict: PASS\n",
		"## A\n\n<!--\nRUN\n## B\n-->\n\n## C\n\nx\n",
		"## A\n\n<div>\nRUN\n## B\n\n## C\n\nx\n",
		"## A\n\n- item\nRUN\n## B\n\nVerdict: FAIL\n",
		"## A\n\n- ```\nRUN\n## B\n\nVerdict: FAIL\n",
		"## A\n\n> quote\nRUN\n## B\n\nDONE:\n\nx\n",
		"## A\n\nRUN\n    RUN\n## B\n",
		"RUN",
	}
	for _, text := range around { // the deep quote makes the parser read it
		text = strings.Repeat(">", 20) + "\n\n" + text
		short := document.Read([]byte(strings.ReplaceAll(text, "RUN", "plain\nplain")))
		long := document.Read([]byte(strings.ReplaceAll(text, "RUN", strings.Repeat("plain\n", 40)+"plain")))
		if !slices.Equal(short.SectionNames(), long.SectionNames()) || len(short.Problems) != len(long.Problems) {
			t.Errorf("%q: sections %v and %v, problems %v and %v", text, short.SectionNames(),
				long.SectionNames(), short.Problems, long.Problems)
		}
		for _, name := range short.SectionNames() {
			a, _ := short.Section(name)
			b, _ := long.Section(name)
			one, _ := a.FirstVerdict()
			other, _ := b.FirstVerdict()
			if one != other || a.Empty() != b.Empty() ||
				strings.ReplaceAll(b.Text, strings.Repeat("plain\n", 39), "") != a.Text {
				t.Errorf("%q: section %q is %q, and with a long run %q", text, name, a.Text, b.Text)
			}
		}
	}
}
