package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// headings stands for every heading that no row names by itself.
const headings = "*/0"

// parseList reads the committed form.
func parseList(text string) ([]promise, error) {
	var out []promise
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var p promise
		if _, err := fmt.Sscanf(line, "%s %s %d %s", &p.id, &p.kind, &p.line, &p.digest); err != nil {
			return nil, fmt.Errorf("read the list of promises, line %q: %w", line, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// expand is what a row's ids stand for.
func expand(id string, list []promise) ([]string, error) {
	section, place := path.Split(id)
	var out []string
	if from, to, isRange := strings.Cut(place, ".."); isRange {
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first >= last {
			return nil, fmt.Errorf("cannot read the range %q: write SECTION/FIRST..LAST", id)
		}
		for n := first; n <= last; n++ {
			out = append(out, fmt.Sprintf("%s%d", section, n))
		}
		return out, nil
	}
	if place != "*" {
		return []string{id}, nil
	}
	for _, p := range list {
		if s, _ := path.Split(p.id); s == section && p.kind != "heading" {
			out = append(out, p.id)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cannot find the section %q in the list", path.Clean(section))
	}
	return out, nil
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
