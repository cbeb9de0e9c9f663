package workflow

import (
	"strconv"
	"testing"
)

func TestAKeyQuotesAsGoDoes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "## Review", `a "b"`, `a\b`, "tab\t", "é", "\x7f", "\xff", "~ !"} {
		if got, want := string(appendQuoted([]byte("["), text)), "["+strconv.Quote(text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}
