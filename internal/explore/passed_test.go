package explore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/explore"
	"orange/internal/passed"
)

// Each file says by hand, in its first comment, what its table is.
func TestTheTable_saysWhatEveryWayHasPassed(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/passed/*.yml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(text)) {
				line = strings.TrimRight(line, "\n")
				said, is := strings.CutPrefix(line, "#   ")
				if !strings.HasPrefix(line, "#") {
					break
				}
				if is {
					want = append(want, said)
				}
			}
			r := explore.Check(load(t, file), explore.Most)
			got := passed.Tell(r.Passed)
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
