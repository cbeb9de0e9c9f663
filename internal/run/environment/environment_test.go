package environment

import (
	"os"
	"slices"
	"testing"
)

func TestBecome_replacesAllButWhatOrangeSetAndTheTerminal(t *testing.T) {
	for name, value := range map[string]string{"AGENTS_OWN": "x", "ORANGE_ROLE": "worker", "TERM": "xterm-test"} {
		t.Setenv(name, value)
	}
	before := os.Environ()
	become(append(before, "KEPT=yes", "ORANGE_ROLE=reviewer", "TERM=dumb"))
	if os.Getenv("KEPT") != "yes" || os.Getenv("ORANGE_ROLE") != "worker" || os.Getenv("TERM") != "xterm-test" {
		t.Errorf("found %q", os.Environ())
	}
	become(slices.DeleteFunc(before, func(pair string) bool { return pair == "AGENTS_OWN=x" }))
	if _, found := os.LookupEnv("AGENTS_OWN"); found || os.Getenv("KEPT") != "" {
		t.Errorf("it kept what the other environment does not have: %q", os.Environ())
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
