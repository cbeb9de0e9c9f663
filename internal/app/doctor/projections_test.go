package doctor_test

import (
	"slices"
	"strings"
	"testing"
)

func TestExamine_tellsOfProjectionsAndHasThemPutRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const said = "state.json holds what the record never said"
	w.shows = map[string][]string{"one": {said}}
	if found := notOK(w.examine(false)); len(found) != 0 {
		t.Errorf("found %q of a workflow that projects nothing", found)
	}
	w.tasks[0].Workflow.Name = "phases"
	want := []string{"problem mirrors one: " + said}
	if found := notOK(w.examine(false)); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	want[0] += " made equal to the record; what was written is kept, and noted in the history"
	if found := notOK(w.examine(true)); !slices.Equal(found, want) || !slices.Equal(w.mended, []string{"sync one"}) {
		t.Errorf("found %q after %q, want %q", found, w.mended, want)
	}
	for _, blind := range []string{"book", "shown"} {
		w.blind[blind] = true
		if found := notOK(w.examine(false)); len(found) != 1 ||
			!strings.Contains(found[0], "could not look: "+errBlind.Error()) {
			t.Errorf("blind for %s it found %q", blind, found)
		}
		delete(w.blind, blind)
	}
}
