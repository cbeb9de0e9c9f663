package document

import (
	"strings"
	"testing"
)

func TestLargestSection_namesWhatTakesMost(t *testing.T) {
	t.Parallel()
	kib := func(n int) string { return strings.Repeat(strings.Repeat("x", 63)+"\n", 16*n) }
	tests := map[string]struct{ text, want string }{
		"the first":         {"## Log\n" + kib(9) + "## Plan\n" + kib(3), `its largest section, "## Log", has 9 KiB`},
		"the last":          {kib(1) + "## Plan\n" + kib(3) + "##\tLog\n" + kib(9), `"## Log", has 9 KiB`},
		"of equal names":    {"## A\n" + kib(2) + "## B\n" + kib(3) + "## A\n" + kib(2), `"## B", has 3 KiB`},
		"no section":        {kib(9), "9 KiB of it are above its first section"},
		"above all":         {kib(9) + "## Log\n" + kib(3), "9 KiB of it are above its first section"},
		"other levels":      {"## Log\n" + kib(3) + "### Part\n" + kib(3) + "# Top\n##x\n", `"## Log", has 6 KiB`},
		"in a fence":        {"## Log\n```\n" + kib(3) + "## no\n```\n## Plan\n", `"## Log", has 3 KiB`},
		"in a tilde fence":  {"## Log\n~~~\n```\n## no\n" + kib(3) + "~~~\n## Plan\n" + kib(1), `"## Log", has 3 KiB`},
		"a very long line":  {"## Log\n" + strings.Repeat("x ## n", 50<<10) + "\n", `"## Log", has 300 KiB`},
		"a very long name":  {"## " + strings.Repeat("n", 300<<10), `nnn", has 300 KiB`},
		"carriage returns":  {"## Log\r\n" + kib(3), `"## Log", has 3 KiB`},
		"nothing":           {"", "0 KiB of it are above its first section"},
		"more than is read": {"## Log\n" + strings.Repeat("\x00", 65<<20), `in its first 64 MiB, its largest section, "## Log"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := LargestSection(strings.NewReader(tt.text)); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// A document of the largest size is read; of a larger one the problem says which section takes most of it, and no
// section is found.
func TestRead_namesTheLargestSectionOfABodyThatIsTooLarge(t *testing.T) {
	t.Parallel()
	body := "## Plan\n\nx\n\n## Log\n\n"
	body += strings.Repeat("y", MaxSize-len(body))
	largest := Read([]byte(body))
	if _, found := largest.Section("Log"); !found {
		t.Errorf("the largest is not read: %v", largest.Problems)
	}
	larger := Read([]byte(body + "y"))
	problem := larger.Problems[0].Text
	if _, found := larger.Section("Plan"); found || !strings.Contains(problem, `more than 2097152, and its largest section, `+
		`"## Log", has 2.0 MiB; move what is not needed into files of its own`) {
		t.Errorf("found is %v, the problem %q", found, problem)
	}
}
