package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What no one can see is written into a document by an agent that has nothing to say.
func TestWhatCannotBeSeenIsNoContent(t *testing.T) {
	t.Parallel()
	for _, unseen := range []string{"\u200b", "\u200c", "\u200d", "\u200e\u200f", "\u2060", "\ufeff", "\u00ad",
		"\u00a0", "\u034f", "\u061c", "\u180e", "\u2800", "\u3164", "\ufe0f", "\U000e0041", "\x01"} {
		d := readBody("## Handoff\n\nDONE: " + unseen + "\n" + unseen + "\n\n## Notes\n\n" + unseen +
			"\n\n## Review\n\n" + unseen + "\nVerdict: FAIL" + unseen + "\n")
		handoff, _ := d.Section("Handoff")
		if found := handoff.Fields([]string{"DONE"}); len(found) > 0 {
			t.Errorf("%q behind a label is content", unseen)
		}
		if notes, found := d.Section("Notes"); !found || !notes.Empty() {
			t.Errorf("%q is the content of a section", unseen)
		}
		review, _ := d.Section("Review")
		if verdict, _ := review.FirstVerdict(); verdict != fail {
			t.Errorf("the verdict between %q is %q", unseen, verdict)
		}
	}
	// What a reader sees is what counts: a word is no other word for what is in it unseen.
	d := readBody("## Review\n\nFA\u00adIL, it does not PASS\n\n## Handoff\n\nDONE:\nTOUCH\u200bING: " +
		"a.go\n\n## Seen\n\nDONE: \u200b👍\n")
	review, _ := d.Section("Review")
	if verdict, _ := review.AnyVerdict(); verdict != fail {
		t.Errorf("the verdict is %q, and a reader sees FAIL first", verdict)
	}
	handoff, _ := d.Section("Handoff")
	if found := handoff.Fields([]string{"DONE"}); len(found) > 0 {
		t.Errorf("the next label is the content of %q", found)
	}
	picture, _ := d.Section("Seen")
	if found := picture.Fields([]string{"DONE"}); !slices.Equal(found, []string{"DONE"}) {
		t.Error("what can be seen beside it is no content")
	}
}

// headings is a document with so many sections.
func headings(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## H%d\n\ntext\n\n", i)
	}
	return b.String()
}

func TestSectionNames_listsTheFirstAndCountsTheRest(t *testing.T) {
	t.Parallel()
	d := readBody("## " + strings.Repeat("long ", 1000) + "\n" + headings(1000))
	names := d.SectionNames()
	if len(names) != maxNames || d.MoreSections() != 1001-maxNames || names[1] != "H0" || len(names[0]) > maxFound {
		t.Errorf("%d names and %d more: %q", len(names), d.MoreSections(), names)
	}
	last, found := d.Section("## h999")
	if !found || last.Name != "H999" || last.Text != "text\n" {
		t.Errorf("the last section is %q, %v", last.Name, found)
	}
	if few := readBody(headings(maxNames)); len(few.SectionNames()) != maxNames || few.MoreSections() != 0 {
		t.Errorf("%d names and %d more", len(few.SectionNames()), few.MoreSections())
	}
}

// Counts and not times: each heading costs so many allocations, however many there are. Other tests would be counted
// too, so this one is not parallel.
func TestRead_costsTheSameForEachHeading(t *testing.T) { //nolint:paralleltest // counts allocations
	each := func(n int) float64 {
		text := headings(n)
		return testing.AllocsPerRun(1, func() { readBody(text).Section("H1") }) / float64(n)
	}
	few, many := each(2_000), each(40_000)
	if many > few*1.05+0.5 {
		t.Errorf("a heading costs %.1f allocations among 2,000 and %.1f among 40,000", few, many)
	}
}
