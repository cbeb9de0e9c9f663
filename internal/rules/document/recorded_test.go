package document

import (
	"slices"
	"testing"
)

// a section that is rebuilt from its text alone says the same as it did in its document: else a decision that
// was made on it could not be made again.
func FuzzFromRecorded(f *testing.F) {
	for _, seed := range []string{
		"## Plan\n\nAPPROACH: x\n",
		"## A\n```\nDONE: x\n## no\n```\nDONE: y\n## B\n<!-- Verdict: PASS -->\nVerdict: FAIL\n",
		"## A\n<!--\n\n## B\nPASS",
		"## A\n- DONE:\n  - x\n\n      code PASS\n## A\n    DONE: code\n",
		"- ## a\n> ## b\n## C\n> PASS\n\nDONE: x\n---\n", "## A\n<pre>\nPASS\n</pre>\nPASS \t\r\nDONE: x\r## b",
		"## A\n\n    \n\tDONE: x\n\nDONE: x\n===\n## B\n1. DONE: y\n   ```\n   PASS\n",
		"## A\n\\\n  <div>\nDONE: x\n\nPASS\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := readBody(text)
		var told []Recorded
		sections := d.sections
		for _, s := range sections {
			told = append(told, Recorded{Name: s.Name, Line: s.Line, Copies: s.Copies, Text: s.Text})
		}
		again := FromRecorded(d.SectionNames(), d.MoreSections(), told, d.Problems)
		if !slices.Equal(again.SectionNames(), d.SectionNames()) || again.MoreSections() != d.MoreSections() {
			t.Fatalf("%q became %q", d.SectionNames(), again.SectionNames())
		}
		labels := []string{"DONE", "APPROACH"}
		for _, was := range sections {
			is := again.sections[again.at[was.Key]]
			verdict, found := was.FirstVerdict()
			verdictAgain, foundAgain := is.FirstVerdict()
			anyVerdict, anyFound := was.AnyVerdict()
			anyAgain, anyFoundAgain := is.AnyVerdict()
			if is.Key != was.Key || is.Line != was.Line || is.Copies != was.Copies || is.Text != was.Text ||
				is.Empty() != was.Empty() ||
				!slices.Equal(is.Fields(labels), was.Fields(labels)) || verdict != verdictAgain ||
				found != foundAgain || anyVerdict != anyAgain || anyFound != anyFoundAgain {
				t.Fatalf("%q\nthe section %q says something else when it is told again:\n%+v\n%+v", text,
					was.Name, was, is)
			}
		}
	})
}
