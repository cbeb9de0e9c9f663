package harness_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/harness"
)

func TestALimitIsFoundInTheLastLinesOfTheScreen(t *testing.T) {
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
			session + "\n\n> " + harness.GoOn + "\n\n> \n":                   "",
			session + "\n\n> " + harness.GoOn + "\n\n" + hit + "\n> \n":      hit,
			"": "",
		},
		"codex": {
			"■ " + usage + "\n\n›\n":                                                 usage,
			"■ " + strings.Replace(usage, "try ", "try\n", 1) + "\n\n›\n":            usage,
			"■ You've hit your usage limit.\nUpgrade to Pro.\n\n› try again in 2h\n": "You've hit your usage limit.",
		},
		"gemini": {
			"│ Usage limit reached for gemini-2.5-pro.  │\n": "Usage limit reached for gemini-2.5-pro.",
			"│ Usage limit reached for gemini-2.5-pro.  │\n│ Access resets at 3:00 PM PST.  │\n│ /stats  │\n": "" +
				"Usage limit reached for gemini-2.5-pro. Access resets at 3:00 PM PST.",
		},
		"pi": {"You've hit your usage limit.\n": ""},
	} {
		text, err := os.ReadFile("../../../harnesses/" + program + ".yml")
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

func TestTheEndOfALimitIsReadFromItsLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 1, 30, 0, 0, time.UTC) // begins a minute
	for line, want := range map[string]string{
		"You've hit your session limit · resets 5:10pm (Europe/Paris)":       "2026-11-24T16:10:00Z",
		"You’ve hit your limit · resets 8pm (Africa/Cairo)":                  "2026-11-24T18:00:00Z",
		"Claude usage limit reached. Your limit will reset at 3pm.":          "2026-11-24T15:00:00Z",
		"Claude usage limit reached. Your limit will reset at 6pm.":          "2026-11-24T18:00:00Z",
		"Claude AI usage limit reached|1795492800":                           "2026-11-24T04:00:00Z",
		"You've hit your limit · resets Nov 26, 10am (UTC)":                  "2026-11-26T10:00:00Z",
		"You've hit your usage limit. Upgrade to Pro or try again in 4 days": "2026-11-28T01:30:00Z",
		"try again in 2 days 3 hours 5 minutes.":                             "2026-11-26T04:35:00Z",
		"try again at Nov 24th, 2026 3:05 PM.":                               "2026-11-24T15:05:00Z",
		"or try again at 12:05 PM.":                                          "2026-11-24T12:05:00Z",
		"50 requests in 1 minute. Try again at 6:30 PM":                      "2026-11-24T18:30:00Z",
		"3 requests within 5 minutes, try again in 2h":                       "2026-11-24T03:30:00Z",
		"try again in about 2 hours":                                         "2026-11-24T03:30:00Z",
		"resets 11am (Etc/GMT+5)":                                            "2026-11-24T16:00:00Z",
		"Rate limit reached [retrying in 5m 20s attempt #3]":                 "2026-11-24T01:35:20Z",
		"Error: 429 Please retry in 20.5s":                                   "2026-11-24T01:30:20Z",
		"Error: 429 rate limit: retry after 60 seconds":                      "2026-11-24T01:31:00Z",
		"Your quota will reset after 1h2m3s.":                                "2026-11-24T02:32:03Z",
		"or try again at 1:30 AM.":                                           "2026-11-24T01:31:00Z",
		"or try again at Nov 24th, 2026 1:30 AM.":                            "2026-11-24T01:31:00Z",
		"it is over at 2026-11-24T03:00:00Z":                                 "2026-11-24T03:00:00Z",
		"it is over on 2026-11-24 03:00+01:00":                               "2026-11-24T02:00:00Z",
		// what was over a short while before Orange looked, or is no time
		"Your limit will reset at 1am.": "",
		"or try again at 12:05 AM.":     "",
		"try again at 45:99":            "",
		"resets 11am (Mars/Base)":       "",
		"resets 13pm":                   "",
		// what names no time, or none that a limit can have
		"You've hit your usage limit.":                    "",
		"Error: 429 rate limit of 10 requests":            "",
		"try again in 4000 days":                          "",
		"try again in 99999999999999999999 hours":         "",
		"it was over at 2026-11-23T03:00:00Z":             "",
		"resets Foo 26, 10am":                             "",
		"resets 26":                                       "",
		"usage limit reached|99999999999999999999":        "",
		"You've hit your limit · resets Nov 23 at 1:00am": "",
	} {
		got := ""
		if at, found := harness.LimitTime(line, now, time.LoadLocation); found {
			got = at.UTC().Truncate(time.Second).Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
