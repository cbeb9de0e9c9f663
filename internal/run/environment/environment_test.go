package environment

import (
	"slices"
	"testing"
)

func TestOver_keepsWhatOrangeSetAndTheTerminal(t *testing.T) {
	t.Parallel()
	got := over([]string{"KEPT=yes", "ORANGE_ROLE=reviewer", "TERM=dumb"},
		[]string{"AGENTS_OWN=x", "ORANGE_ROLE=worker", "TERM=xterm-test"})
	if want := []string{"KEPT=yes", "ORANGE_ROLE=worker", "TERM=xterm-test"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestBearings_areThoseByWhichProgramsAreFound(t *testing.T) {
	t.Parallel()
	k := &PerTask{Home: t.TempDir()}
	if found, err := Bearings(k.Home); found != nil || err != nil {
		t.Errorf("without a file: %q, %v", found, err)
	}
	if err := k.noteBearings([]string{"PATH=/bin", "SECRET=x", "HOME=/root"}); err != nil {
		t.Fatal(err)
	}
	found, err := Bearings(k.Home)
	if want := []string{"PATH=/bin", "HOME=/root"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %q, %v, want %q", found, err, want)
	}
}
