package proc

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"orange/internal/rules/printable"
)

// Browse opens an address of the web in $BROWSER, else in the browser of the person's desktop, and does not wait for
// that. It reports whether there is one: at a host that the person is logged in at over ssh, or without a desktop, only
// $BROWSER is.
func (Screen) Browse(ctx context.Context, address string) (opened bool, err error) {
	if printable.Address(address) == "" {
		return false, fmt.Errorf("cannot open %q: expected an address that begins with https://", address)
	}
	env := func(name string) string { return Getenv(ctx, name) }
	words := browser(runtime.GOOS, env, func(name string) bool {
		_, err := Find(name, env("PATH"))
		return err == nil
	})
	if len(words) == 0 {
		return false, nil
	}
	if _, err := Detach(ctx, Command{Name: words[0], Args: append(words[1:], address)}); err != nil {
		return false, fmt.Errorf("cannot open the address: %w; set BROWSER to the program that you use", err)
	}
	return true, nil
}

// browser is the program that opens an address, as words; none where the person has none here.
func browser(system string, env func(string) string, there func(string) bool) []string {
	first, _, _ := strings.Cut(env("BROWSER"), ":") // others are for where the first one fails
	if words := strings.Fields(strings.ReplaceAll(first, "%s", "")); len(words) > 0 {
		return words
	}
	far := env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""
	desktop := env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
	switch {
	case far:
	case system == "darwin":
		return []string{"open"}
	case desktop && there("xdg-open"):
		return []string{"xdg-open"}
	}
	return nil
}
