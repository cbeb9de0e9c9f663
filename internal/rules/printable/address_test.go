package printable_test

import (
	"strings"
	"testing"

	"orange/internal/rules/printable"
)

func TestAddress_isOneOfTheWebThatCanBeShown(t *testing.T) {
	t.Parallel()
	for text, is := range map[string]bool{
		"https://github.com/o/r/pull/18": true, "http://localhost:3000/pulls/1?a=b&c=%20#d": true,
		"": false, "https://": false, "https:///x": false, "ftp://x/y": false, "javascript:alert(1)": false,
		"file:///etc/passwd": false, "-https://x": false, " https://x": false, "https://x/a b": false,
		"https://x/\x1b[2J": false, "https://x/\a": false, "https://x/\n": false, "https://x/ü": false,
		"https://x/\u202e": false, "https://x/\xff": false, "https://x/`id`": false, "https://x/\"": false,
		"https://x/" + strings.Repeat("a", 2000): false,
	} {
		want := ""
		if is {
			want = text
		}
		if got := printable.Address(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
		if got := printable.Link("#18", text); strings.Contains(got, "\x1b") != is || !is && got != "#18" {
			t.Errorf("%q: the link is %q", text, got)
		}
	}
}
