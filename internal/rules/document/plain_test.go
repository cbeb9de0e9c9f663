package document_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/document"
)

// The parser is shown only the first and the last of a run of plain lines, or blank ones. Whatever the run is part of,
// that changes nothing.
func TestRead_treatsLongAndShortRunsOfPlainLinesAlike(t *testing.T) {
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
	for _, line := range []string{"plain", "", " \t"} {
		for _, text := range around {
			sameWithALongRun(t, text, line)
		}
	}
}

func sameWithALongRun(t *testing.T, text, line string) {
	t.Helper()
	short := document.Read([]byte(strings.ReplaceAll(text, "RUN", strings.Repeat(line+"\n", 2)+line)))
	long := document.Read([]byte(strings.ReplaceAll(text, "RUN", strings.Repeat(line+"\n", 40)+line)))
	if !slices.Equal(short.SectionNames(), long.SectionNames()) || len(short.Problems) != len(long.Problems) {
		t.Errorf("%q of %q: sections %v and %v, problems %v and %v", text, line, short.SectionNames(),
			long.SectionNames(), short.Problems, long.Problems)
	}
	once := func(text string) []string { return slices.Compact(strings.Fields(text)) }
	for _, name := range short.SectionNames() {
		a, _ := short.Section(name)
		b, _ := long.Section(name)
		one, _ := a.FirstVerdict()
		other, _ := b.FirstVerdict()
		if one != other || a.Empty() != b.Empty() || !slices.Equal(once(a.Text), once(b.Text)) {
			t.Errorf("%q of %q: section %q is %q, and with a long run %q", text, line, name, a.Text, b.Text)
		}
	}
}
