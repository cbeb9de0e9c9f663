package proc

import (
	"slices"
	"strings"
	"testing"
)

func TestBrowser_isOneThatThePersonSees(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ system, env, want string }{
		{"linux", "", ""},
		{"linux", "DISPLAY=:0", "xdg-open"},
		{"linux", "WAYLAND_DISPLAY=w", "xdg-open"},
		{"linux", "DISPLAY=:0 SSH_CONNECTION=1", ""},
		{"linux", "SSH_TTY=/dev/pts/0 BROWSER=mine", "mine"},
		{"linux", "DISPLAY=:0 BROWSER=mine,--new,%s:other", "mine --new"},
		{"darwin", "", "open"},
		{"darwin", "SSH_TTY=/dev/ttys0", ""},
		{"freebsd", "DISPLAY=:0 MISSING=1", ""},
	} {
		env := func(name string) string {
			for _, pair := range strings.Fields(row.env) {
				if value, is := strings.CutPrefix(pair, name+"="); is {
					return strings.ReplaceAll(value, ",", " ")
				}
			}
			return ""
		}
		there := func(string) bool { return env("MISSING") == "" }
		if got := browser(row.system, env, there); !slices.Equal(got, strings.Fields(row.want)) {
			t.Errorf("%s with %q: got %q, want %q", row.system, row.env, got, row.want)
		}
	}
}

func TestBrowse_opensNoOtherAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "file:///etc/passwd", "--help", "https://x/\x1b[2J"} {
		if opened, err := (Screen{}).Browse(t.Context(), address); opened || err == nil {
			t.Errorf("%q: opened %t, %v", address, opened, err)
		}
	}
}
