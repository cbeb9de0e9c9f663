package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What may become of a promise.
const (
	kept      = "kept"      // tests say so
	otherwise = "otherwise" // decided otherwise, with the reason
	none      = "none"      // promises nothing, with the reason
	toCome    = "to come"   // not built, with the reason
)

// headings stands for every heading that no row names by itself.
const headings = "*/0"

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

// expand is what a row's ids stand for.
func expand(id string, list []promise) ([]string, error) {
	section, place, _ := cutLast(id, "/")
	var out []string
	if from, to, isRange := strings.Cut(place, ".."); isRange {
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first >= last {
			return nil, fmt.Errorf("cannot read the range %q: write SECTION/FIRST..LAST", id)
		}
		for n := first; n <= last; n++ {
			out = append(out, fmt.Sprintf("%s/%d", section, n))
		}
		return out, nil
	}
	if place != "*" {
		return []string{id}, nil
	}
	for _, p := range list {
		if s, _, _ := cutLast(p.id, "/"); s == section && p.kind != "heading" {
			out = append(out, p.id)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cannot find the section %q in the list", section)
	}
	return out, nil
}

func cutLast(text, mark string) (before, after string, found bool) {
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(mark):], true
}

// compare holds the rows against the list: every promise has one row, and no row has a promise that no document has.
// It counts what became of the promises.
func compare(list []promise, rows []row) (count map[string]int, faults []string) {
	fault := func(r row, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("line %d: ", r.line)+fmt.Sprintf(format, args...))
	}
	known := map[string]promise{}
	for _, p := range list {
		known[p.id] = p
	}
	count, owner := map[string]int{}, map[string]row{}
	var rest *row
	for _, r := range rows {
		if !slices.Contains([]string{kept, otherwise, none, toCome}, r.became) {
			fault(r, "found %q, want kept, otherwise, none or to come", r.became)
		}
		for _, id := range r.ids {
			if id == headings {
				rest = &r
				continue
			}
			ids, err := expand(id, list)
			if err != nil {
				fault(r, "%v", err)
			}
			for _, id := range ids {
				if _, exists := known[id]; !exists {
					fault(r, "no document has the promise %s", id)
				}
				if before, twice := owner[id]; twice {
					fault(r, "%s has a row already, in line %d", id, before.line)
				}
				owner[id] = r
				count[r.became]++
			}
		}
	}
	for _, p := range list {
		_, has := owner[p.id]
		switch {
		case has:
		case p.kind == "heading" && rest != nil:
			count[rest.became]++
		default:
			faults = append(faults, fmt.Sprintf("%s (%s, line %d of its document) has no row", p.id, p.kind, p.line))
		}
	}
	return count, faults
}
