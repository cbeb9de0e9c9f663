package harness_test

import (
	"os"
	"strings"
	"testing"

	"orange/internal/harness"
)

func TestTheLineThatTellsOfALimitIsFoundAmongTheLastOnes(t *testing.T) {
	t.Parallel()
	const (
		session = "You've hit your session limit · resets 5:10pm (Europe/Paris)"
		hit     = "You’ve hit your limit · resets 8pm (Africa/Cairo)"
		reached = "Claude usage limit reached. Your limit will reset at 3pm."
		usage   = "You've hit your usage limit. Upgrade to Pro or try again in 4 days."
	)
	for program, screens := range map[string]map[string]string{
		"claude": {
			"> go on\n  ⎿  " + session + "\n\n> \n": session,
			hit + "\n":                             hit,
			reached + "\n":                         reached,
			"the retry limit of the client is 3\n": "",
			"You've hit your session limit\n" + strings.Repeat("work\n", 20): "",
			"": "",
		},
		"codex": {
			"■ " + usage + "\n\n›\n": usage},
		"gemini": {"│ Usage limit reached for gemini-2.5-pro.  │\n": "Usage limit reached for gemini-2.5-pro."},
		"pi":     {"You've hit your usage limit.\n": ""},
	} {
		text, err := os.ReadFile("../../harnesses/" + program + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		h, err := harness.Parse(program+".yml", text)
		if err != nil {
			t.Fatal(err)
		}
		for screen, want := range screens {
			if got := h.Limit(screen); got != want {
				t.Errorf("%s: %q: got %q, want %q", program, screen, got, want)
			}
		}
	}
}
