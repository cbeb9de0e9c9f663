package document

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"orange/internal/printable"
)

// Section is the content under one top-level heading of level 2, up to the next one.
type Section struct {
	Name   string // as written
	Key    string // canonical: lower case, trimmed, without "## "
	Line   int    // of the heading, 1-based in the file
	Copies int    // how often the heading is in the document; the last one is this one
	Text   string // content without the heading line, as Normalise gives it

	lines []line
}

// Section finds a section by its name: "## Plan", "Plan" and " plan " are the same.
// Where the heading is repeated, the last one counts.
func (d *Document) Section(name string) (Section, bool) {
	at, found := d.at[Key(name)]
	if !found {
		return Section{}, false
	}
	return d.sections[at], true
}

// SectionNames are the names of the sections as written, shortened, in the order of the document, the last of
// duplicates only. Of very many they are the first ones; MoreSections is how many there are besides them.
func (d *Document) SectionNames() []string {
	names := make([]string, 0, d.named)
	for _, s := range d.sections[:d.named] {
		names = append(names, shorten(s.Name))
	}
	return names
}

// MoreSections is how many sections there are that SectionNames leaves out.
func (d *Document) MoreSections() int { return d.unnamed }

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

// sectionsOf are the sections of an outline, and where among them each key is.
func sectionsOf(out *outline, linesBefore int) ([]Section, map[string]int) {
	copies := make(map[string]int, len(out.headings))
	for _, h := range out.headings {
		copies[nameKey(h.name)]++
	}
	at := make(map[string]int, len(copies))
	left := make(map[string]int, len(copies))
	sections := make([]Section, 0, len(copies))
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
		at[key] = len(sections)
		sections = append(sections, Section{
			Name: h.name, Key: key, Line: linesBefore + h.first + 1, Copies: copies[key],
			Text: normalLines(lines), lines: lines,
		})
	}
	return sections, at
}

// nameKey is the key of a name whose hashes the parser has already taken off.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Blank reports whether nothing in a text can be seen: it is empty, or all of it is blanks and characters that
// show nothing.
func Blank(text string) bool { return strings.TrimFunc(text, unseen) == "" }

// unseen reports whether a character leaves no mark on paper; the blank of Braille is one of those.
func unseen(r rune) bool { return unicode.IsSpace(r) || printable.Invisible(r) || r == '\u2800' }

// seen is a text as a reader sees it, without the characters that show nothing: one of them in the middle of a
// word does not make it another.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		if printable.Invisible(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// Empty reports whether there is nothing but blanks, characters that show nothing, and HTML comments.
func (s Section) Empty() bool {
	for _, l := range s.lines {
		if !Blank(l.text) {
			return false
		}
	}
	return true
}

// Normalise gives text the form over which evidence is digested, so that no editor's habit makes old evidence look new:
// LF for CRLF and CR, no trailing blanks on a line, no blank lines at either end, one newline at the end unless
// it is empty.
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
