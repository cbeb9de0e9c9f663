package document

import "strings"

// Demote makes every heading of the second level in a text one of the third, so that what a person hands over as a whole
// stays one section of the document and is never taken for evidence.
func Demote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		rest := line[indent:]
		if rest == "##" || strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "##\t") {
			lines[i] = line[:indent] + "#" + rest
		}
	}
	return strings.Join(lines, "\n")
}
