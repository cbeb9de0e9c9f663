package printable

import "strings"

// longestAddress is how many bytes the address of a link has at most.
const longestAddress = 2000

// Address is an address from outside that may reach a terminal, a clipboard or a browser: one of the web, in visible
// ASCII alone. It is empty where the text is another one.
func Address(text string) string {
	rest, web := strings.CutPrefix(text, "https://")
	if !web {
		rest, web = strings.CutPrefix(text, "http://")
	}
	host, _, _ := strings.Cut(rest, "/")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`<>\\", r) }
	if !web || host == "" || len(text) > longestAddress || strings.ContainsFunc(text, odd) {
		return ""
	}
	return text
}

// Link has a terminal lead from a text, which is fit to be shown, to an address. Where that is none of the web, it is
// the text alone.
func Link(text, address string) string {
	if address = Address(address); address == "" || text == "" {
		return text
	}
	return "\x1b]8;;" + address + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
