package guarantee_test

import (
	"strings"
	"testing"

	"orange/internal/rules/guarantee"
)

// The columns of all ends are as wide as the longest name; what a person decides by name has another word.
func TestTell_isATable(t *testing.T) {
	t.Parallel()
	got := guarantee.Tell([]guarantee.GoodEnd{
		{End: "done", Always: []string{"check tests", "a person"}, Around: []guarantee.Around{
			{What: "git clean", Way: "a -[an override by a person]-> done", Line: 3, By: guarantee.ByOverride},
			{What: "b.json", Way: "a -[a person]-> done", Line: 4, By: guarantee.ByBirth},
			{What: "c.json", Way: "a -[its pull request is merged]-> done", Line: 5, By: guarantee.ByMerge},
		}},
		{End: "tried", Always: []string{"a person"}},
		{End: "shipped", Around: []guarantee.Around{{What: "a person", Way: "a -[2 crashes]-> shipped", Line: 12}}},
	})
	want := `
done     always  check tests; a person
         by a person  git clean: a -[an override by a person]-> done  line 3
         by a person  b.json: a -[a person]-> done  line 4
         not always  c.json: a -[its pull request is merged]-> done  line 5
tried    always  a person
shipped  always  nothing
         not always  a person: a -[2 crashes]-> shipped  line 12
`
	if text := "\n" + strings.Join(got, "\n") + "\n"; text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}
