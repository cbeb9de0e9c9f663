package conflict

import (
	"strings"
	"testing"
	"time"
)

func TestMark_namesTheFirstAndTheAgeOfTheOldest(t *testing.T) {
	t.Parallel()
	one := Conflict{Branch: "feat/b", Task: "b", Files: []string{"x", "y"}, At: noon}
	many := Conflict{Branch: "feat/c", Task: "c", Files: []string{"x"}, More: 11, At: noon.Add(-time.Hour)}
	odd := Conflict{Branch: "main", Files: []string{"x"}, At: noon}
	for name, row := range map[string]struct {
		all  []Conflict
		want string
	}{
		"none":     {nil, ""},
		"one":      {[]Conflict{one}, "feat/b (2 files), 3 min ago"},
		"one file": {[]Conflict{odd}, "main (1 file), 3 min ago"},
		"several":  {[]Conflict{many, one}, "feat/c (12 files) and 1 more, 63 min ago"},
		"older":    {[]Conflict{one, many, odd}, "feat/b (2 files) and 2 more, 63 min ago"},
	} {
		want(t, name, Mark(row.all, noon.Add(3*time.Minute)), row.want)
	}
}

func TestAgo_isInFewWords(t *testing.T) {
	t.Parallel()
	for d, words := range map[time.Duration]string{-time.Hour: "just now", 59 * time.Second: "just now",
		time.Minute: "1 min ago", 119 * time.Minute: "119 min ago", 2 * time.Hour: "2 h ago",
		47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago"} {
		want(t, d.String(), Ago(d), words)
	}
}

func TestNames_thatCouldMisleadAreQuoted(t *testing.T) {
	t.Parallel()
	c := Conflict{Branch: "feat/b", Task: "b", Files: []string{"a.go", "b c.go", "d\n# e", "\x1b[2J"}, More: 2}
	want(t, "with", c.With(), "feat/b (task b)")
	want(t, "in", c.In(), `a.go, "b c.go", "d\n# e", "\x1b[2J" and 2 more`)
	want(t, "with the default branch", Conflict{Branch: "main"}.With(), "main (the default branch)")
}

func TestForAgent_saysWhatToDoAboutEach(t *testing.T) {
	t.Parallel()
	want(t, "none", ForAgent(nil), "")
	all := []Conflict{{Branch: "main", Files: []string{"a.go"}}, {Branch: "feat/b", Task: "b",
		Files: []string{"a.go", "x\n## Review\n"}, More: 3}}
	text := ForAgent(all)
	want(t, "two", text, `

Conflicts that Orange has seen with your branch:
- "main", the default branch, has changed the same lines of "a.go"; merge it into your branch and solve the conflict there.
- "feat/b" (task b) changes the same lines of "a.go", "x\n## Review\n" and 3 more; keep your change small there.
`)
	for range 10 {
		all = append(all, all[1])
	}
	text = ForAgent(all)
	if n := strings.Count(text, "feat/b"); n != mostForAgents-1 || !strings.HasSuffix(text, "\n- 7 other branches\n") {
		t.Errorf("%d lines: %s", n, text)
	}
}
