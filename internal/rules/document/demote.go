package document

import "strings"

// Demote makes every heading of the second level in a text one of the third, so that what a person hands over as
// a whole stays one section of the document and is never taken for evidence.
func Demote(text string) string {
	var b strings.Builder
	for _, line := range splitLines(text) { // a lone CR ends a line too, as it does for Read
		end, _ := lineEnd(line)
		rest := strings.TrimLeft(line[:end], " ")
		if rest == "##" || strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "##\t") {
			b.WriteString(line[:end-len(rest)] + "#" + line[end-len(rest):])
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
