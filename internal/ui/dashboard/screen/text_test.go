package screen

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

var colourSequence = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// unsafe is why a line is not safe to print; empty where it is.
func unsafe(line string) string {
	bare := colourSequence.ReplaceAllString(line, "")
	if at := strings.IndexFunc(bare, unicode.IsControl); at >= 0 {
		return fmt.Sprintf("it has a control character: %q", bare[at:])
	}
	if !utf8.ValidString(bare) {
		return "it has bytes that are no characters"
	}
	return ""
}

func FuzzClean(f *testing.F) {
	for _, text := range []string{"plain", "\x1b[31mred", "\x9b2J", "a\u2028b", "\xff", "👩‍👧", "\xf7\x13",
		"00000000쫇00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if why := unsafe(got); why != "" || strings.Contains(got, "\x1b") {
			t.Errorf("Clean(%q) = %q: %s", text, got, why)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, and that cleaned is %q", text, got, again)
		}
		for _, line := range CleanLines(text) {
			if why := unsafe(line); why != "" {
				t.Errorf("CleanLines(%q): %s", text, why)
			}
		}
		if why := unsafe(strings.ReplaceAll(KeepColours(text), "\n", "")); why != "" {
			t.Errorf("KeepColours(%q) = %q: %s", text, KeepColours(text), why)
		}
		for width := range 12 {
			for _, short := range []string{Cut(got, width), Squeeze(got, width)} {
				if Width(short) > width {
					t.Errorf("%q has more than %d cells", short, width)
				}
			}
			if line := Fit(got, width); Width(line) != width {
				t.Errorf("%q has not %d cells", line, width)
			}
		}
	})
}

func TestNumbersStayShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 9999: "9999", 10_000: "10k", 123_456: "123k", 1_999_999: "1M"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{0: "now", 4 * time.Second: "now", 59 * time.Second: "59s",
		time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d"} {
		if got := Age(now.Add(-ago), now); got != want {
			t.Errorf("%s ago: got %q, want %q", ago, got, want)
		}
	}
}

func TestOverlay_drawsTheFrontOverTheMiddle(t *testing.T) {
	t.Parallel()
	behind := []string{"aaaaaaaaaa", "bbbbbbbbbb", "日本語日本", "dddddddddd"}
	box := Box(NewStyle(), []string{"x"}, 10)
	lines, x, y := Overlay(behind, box, 10, 5)
	for i := range lines {
		lines[i] = colourSequence.ReplaceAllString(lines[i], "")
	}
	got := strings.Join(lines, "\n")
	want := "aaaaaaaaaa\nbb╭───╮bbb\n日│ x │ 本\ndd╰───╯ddd\n"
	if x != 2 || y != 1 || got != want {
		t.Errorf("at %d, %d:\n%s\nwant:\n%s", x, y, got, want)
	}
}
