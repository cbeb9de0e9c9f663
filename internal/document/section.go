package document

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Section is the content under one top-level heading of level 2, up to the next one.
type Section struct {
	Name   string // as written
	Key    string // canonical: lower case, trimmed, without "## "
	Line   int    // of the heading, 1-based in the file
	Copies int    // how often the heading stands in the document; the last one is this one
	Text   string // content without the heading line, as Normalise gives it

	lines []line
}

// Section finds a section by its name: "## Plan", "Plan" and " plan " are the same.
// Where the heading stands more than once it is the last one.
func (d *Document) Section(name string) (Section, bool) {
	key := Key(name)
	for _, s := range d.sections {
		if s.Key == key {
			return s, true
		}
	}
	return Section{}, false
}

// SectionNames are the names of all sections as written, in the order of the document, the last of duplicates only.
func (d *Document) SectionNames() []string {
	names := make([]string, 0, len(d.sections))
	for _, s := range d.sections {
		names = append(names, s.Name)
	}
	return names
}

// Key is the canonical key of a section's name, with or without the heading's own hashes.
func Key(name string) string {
	name = strings.TrimSpace(name)
	rest, isHeading := strings.CutPrefix(name, "##")
	if isHeading && (rest == "" || strings.TrimLeft(rest, " \t") != rest) {
		name = strings.TrimSpace(rest)
		open := strings.TrimRight(name, "#")
		if open == "" || strings.TrimRight(open, " \t") != open {
			name = strings.TrimSpace(open)
		}
	}
	return strings.ToLower(name)
}

func sectionsOf(out *outline, linesBefore int) []Section {
	copies := make(map[string]int, len(out.headings))
	for _, h := range out.headings {
		copies[nameKey(h.name)]++
	}
	left := make(map[string]int, len(copies))
	var sections []Section
	for i, h := range out.headings {
		key := nameKey(h.name)
		left[key]++
		if key == "" || left[key] < copies[key] {
			continue // a heading without a name ends a section and begins none
		}
		end := len(out.lines)
		if i+1 < len(out.headings) {
			end = out.headings[i+1].first
		}
		lines := out.lines[h.first+1 : end]
		sections = append(sections, Section{
			Name: h.name, Key: key, Line: linesBefore + h.first + 1, Copies: copies[key],
			Text: normalLines(lines), lines: lines,
		})
	}
	return sections
}

// nameKey is the key of a name whose hashes the parser has already taken off.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Empty says whether there is nothing but blanks and HTML comments.
func (s Section) Empty() bool {
	for _, l := range s.lines {
		if strings.TrimSpace(l.text) != "" {
			return false
		}
	}
	return true
}

// Normalise gives text the form over which evidence is digested, so that no editor's habit makes old evidence look new:
// LF for CRLF and CR, no trailing blanks on a line, no blank lines at either end, one newline at the end unless it is empty.
func Normalise(text string) string {
	lines := strings.Split(toLF.Replace(text), "\n")
	return joinNormal(lines)
}

func normalLines(lines []line) string {
	raw := make([]string, 0, len(lines))
	for _, l := range lines {
		raw = append(raw, l.raw)
	}
	return joinNormal(raw)
}

func joinNormal(lines []string) string {
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// Digest is the sha256 of a normalised text, in hex.
func Digest(normalised string) string {
	sum := sha256.Sum256([]byte(normalised))
	return hex.EncodeToString(sum[:])
}
