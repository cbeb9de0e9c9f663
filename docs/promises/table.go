package main

import (
	"regexp"
	"strings"
)

// What may become of a promise.
const (
	kept      = "kept"      // tests say so
	otherwise = "otherwise" // decided otherwise, with the reason
	none      = "none"      // promises nothing, with the reason
	toCome    = "to come"   // not built, with the reason
)

// row is one line of docs/promises.md: promises, what became of them, and what guards that or why it is so.
type row struct {
	line   int
	ids    []string // as written: an id, a range A..B of places, SECTION/*, or */0
	became string
	why    string
}

var quoted = regexp.MustCompile("`([^`]+)`")

// parseTable reads the rows of three columns whose first cell is a list of ids.
func parseTable(text string) []row {
	var out []row
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 3 {
			continue
		}
		r := row{line: i + 1, became: strings.TrimSpace(cells[1]), why: strings.TrimSpace(cells[2])}
		for _, match := range quoted.FindAllStringSubmatch(cells[0], -1) {
			r.ids = append(r.ids, match[1])
		}
		out = append(out, r)
	}
	return out
}
