package dashboard

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/screen"
)

var colourSequence = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// wrongWith says what is wrong with a drawn line; empty when nothing is.
func wrongWith(line string, width int) string {
	bare := colourSequence.ReplaceAllString(line, "")
	if !utf8.ValidString(bare) {
		return "it holds bytes that are no text"
	}
	for _, r := range bare {
		if unicode.IsControl(r) || r == '\u202e' || r == '\u2066' {
			return fmt.Sprintf("it holds %q", r)
		}
	}
	if wide := screen.Width(line); wide > width {
		return fmt.Sprintf("it is %d cells wide", wide)
	}
	return ""
}

// outsideBackend has text from outside in everything that it shows.
func outsideBackend(t testing.TB, text string) *fakeBackend {
	one := aTask(t, 1, "working", func(t *task.Task) {
		t.Branch, t.Summary, t.Attention, t.PRURL, t.PRState = text, text, text, "https://example.org/"+text, text
	})
	detail := rejection.Detail{Condition: text, Found: text, Where: text, Want: text}
	return &fakeBackend{
		tasks:     []task.Task{one},
		documents: map[string]string{one.ID: text},
		diffs:     map[string]string{one.ID: " a | 2 +-\n\ndiff --git a b\n@@ -1,9 +1,9 @@\n+" + text},
		logs: map[string][]string{
			one.ID: append(strings.Split(text, "\n"), fmt.Sprintf(`{"ts":"2026-01-02T00:00:01Z","msg":%q,"x":%q}`,
				text, text))},
		panes: map[string][]Pane{one.ID: {
			{Role: text, Title: text, Lines: strings.Split(text, "\n"), Dead: true},
			{Role: "reviewer", Lines: append(strings.Split(text, "\n"), "end")},
		}},
		whys: map[string]decide.Explanation{one.ID: {
			Task: one, About: text, Waits: []rejection.Detail{detail},
			Ways: []decide.Option{
				{To: task.Status(text), By: []string{text}, Guards: []decide.Counted{{Guard: text}},
					Details: []rejection.Detail{detail}}},
		}},
		histories: map[string][]history.Event{one.ID: {
			{Type: history.Created, Actor: text, Reason: text, Time: clock(), Data: map[string]string{"status": text}},
			{Type: history.StatusChanged, Actor: text, ActingAs: text, Person: text, From: task.Status(text),
				To: "working", Time: clock(), Hooks: []string{text},
				Evidence: []task.Evidence{{Source: text}}, Data: map[string]string{
					"role": text, history.DataOverride: text}},
			{Type: text, Actor: text, Time: clock().Add(-9 * time.Hour), Data: map[string]string{"found": text}},
		}},
	}
}

// wantFit draws every tab, and one of them on the whole screen, and fails where a terminal would be disturbed.
func wantFit(t testing.TB, text string, width, height int) {
	t.Helper()
	backend := outsideBackend(t, text)
	s := openSession(t, backend, width, height)
	check := func() {
		t.Helper()
		size := s.m.layout.body()
		lines := strings.Split(s.m.View().Content, "\n")
		if len(lines) > max(s.m.layout.height, 1) {
			t.Fatalf("%d lines on a screen of %d", len(lines), s.m.layout.height)
		}
		for _, line := range lines[1:] {
			if why := wrongWith(line, size.Width); why != "" {
				t.Fatalf("%s of %q at %dx%d: %s: %q", s.m.detail.Tab, text, width, height, why, line)
			}
		}
	}
	for tab := range detail.Tabs {
		s.press(fmt.Sprint(1 + int(tab)))
		check()
		s.press("G")
		check()
	}
	s.send(tea.WindowSizeMsg{Width: width, Height: 200})
	for range detail.Tabs {
		check()
		s.press("tab")
	}
	backend.fails = map[string]error{"Why": errors.New("cannot look: " + text)}
	s.press("3")
	check()
}

func nastyTexts() []string {
	return []string{
		"", "\x00", "\x1b[2J\x1b]0;title\x07", "\x9b31m\xff\xfe", "\u009b2J", "\x1b[>4;2mx", "a\rb\r\nc\vd\fe\bf",
		"\u202eright to left\u2066", "🇩🇪👨‍👩‍👧‍👦☺\ufe0f\u0301\u0301", "日本語の長い行。" + strings.Repeat("界", 200),
		"&#27;[31m &#x9b;2J &NewLine; \\\x1b", "[a](\x1b[2J) ![\x07](x) <http://\x1b]0;x> `\x1b[5m`",
		"<!-- \x1b[2J\n\x07 -->\n<b>\x1b</b>", strings.Repeat("- ", 300) + "x", strings.Repeat("> ", 300) + "x",
		"```\x1b\n\t\x1b[2J\n", "|a|\x1b|\n|-|-|\n|\x07|b|", "1. a\n   1. b\n      1. c\n\n         deep\n",
		strings.Repeat("*a_ ", 100), strings.Repeat("x", 500), "\x1b[31m\n\x1b[1mbold\n\x1b[0m",
		"\x1bP+q\x1b\\ \x1b_x\x1b\\", "\x1b",
		"# \x1b[2J\n\n---\n***\n", "---\na: \x1b\n---\n\x1b[2Jbody", "\x7f\x80\x81", "a\u2028b\u2029c\u0085d",
		"@@ -1 +1 @@\n-\x1b[2J\n+\x07",
	}
}

func TestDetail_nothingFromOutsideDisturbsTheTerminal(t *testing.T) {
	t.Parallel()
	sizes := [][2]int{{80, 24}, {9, 7}, {1, 1}}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, text := range nastyTexts() {
		for _, size := range sizes {
			wantFit(t, text, size[0], size[1])
		}
	}
}

func TestDetail_nothingAtRandomDisturbsTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nastyTexts()), rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })), 0, 6).Draw(r, "text")
		wantFit(t, strings.Join(parts, rapid.SampledFrom([]string{"", " ", "\n", "\n\n"}).Draw(r, "between")),
			rapid.IntRange(1, 200).Draw(r, "width"), rapid.IntRange(1, 60).Draw(r, "height"))
	})
}

func FuzzDetail(f *testing.F) {
	for i, text := range nastyTexts() {
		f.Add(text, uint8(10*i), uint8(24))
	}
	f.Fuzz(func(t *testing.T, text string, width, height uint8) {
		wantFit(t, text, max(1, int(width)), max(1, int(height)))
	})
}
