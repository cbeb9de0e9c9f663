package harness

import "strings"

// lastLines are those of a screen that say how it is now: what is above may have been said long ago.
const lastLines = 15

// Limit is the line among the last ones of a program's screen that says that its provider lets it do no more for now;
// empty where none does, or the harness does not know such lines.
func (h *Harness) Limit(screen string) string {
	if h.Limited == nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	for i := len(lines) - 1; i >= max(0, len(lines)-lastLines); i-- {
		if h.Limited.MatchString(lines[i]) {
			return strings.Trim(lines[i], " \t│┃|■●•⎿╰─✕⚡ℹ")
		}
	}
	return ""
}
