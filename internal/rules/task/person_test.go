package task_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orange/internal/rules/task"
)

func TestPersonName_isSafeToShowAndNotTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 99) + "…"
	for _, tt := range []struct{ name, address, want string }{
		{"Ada Lovelace", "ada@example.com", "Ada Lovelace <ada@example.com>"},
		{"Ada", "", "Ada"},
		{"", "ada@example.com", "ada@example.com"},
		{"", "", ""},
		{" Ada\n\tLovelace ", "", "Ada Lovelace"},
		{"A\x1b]52;c;YQ==\ada", "", "A]52;c;YQ==da"},
		{"Ada\u202eada\u200b", "\x00", "Adaada"},
		{"A\xffda\ufffd", "", "Ada"},
		{"\u0007", "\r\n", ""},
		{"Žofie 王", "", "Žofie 王"},
		{strings.Repeat("ü", 101), strings.Repeat("ü", 100), long + " <" + strings.Repeat("ü", 100) + ">"},
	} {
		if got := task.PersonName(tt.name, tt.address); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("%q and %q: found %q, want %q", tt.name, tt.address, got, tt.want)
		}
	}
}
