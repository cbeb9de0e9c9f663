package document

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"orange/internal/rules/printable"
)

// Section is the content under one top-level heading of level 2, up to the next one.
type Section struct {
	Name   string // as written
	Key    string // canonical: lower case, trimmed, without "## "
	Line   int    // of the heading, 1-based in the file
	Copies int    // how often the heading is in the document; the last one is this one
	Text   string // content without the heading line, as Normalise gives it

	lines []line // its content as it is
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
func (d *Document) MoreSections() int { return d.more }

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

// nameKey is the key of a name whose hashes the parser has already taken off.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Blank reports whether nothing in a text can be seen: it is empty, or all of it is blanks and characters that
// show nothing.
func Blank(text string) bool { return strings.TrimFunc(text, isUnseen) == "" }

// isUnseen reports whether a character leaves no mark on paper; the blank of Braille is one of those.
func isUnseen(r rune) bool { return unicode.IsSpace(r) || printable.Invisible(r) || r == '\u2800' }

// withoutUnseen is a text as a reader sees it, without the characters that show nothing: one of them in the middle of a
// word does not make it another.
func withoutUnseen(text string) string {
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
	if isNormal(text) {
		whole := strings.Trim(text, "\n")
		if whole == "" {
			return ""
		}
		at := len(text) - len(strings.TrimLeft(text, "\n"))
		if end := at + len(whole); end < len(text) {
			return text[at : end+1]
		}
		return whole + "\n"
	}
	var b strings.Builder
	b.Grow(len(text) + 1)
	empty := 0
	for text != "" {
		end, next := lineEnd(text)
		line := strings.TrimRight(text[:end], " \t")
		text = text[next:]
		if line == "" {
			empty++
			continue
		}
		for ; empty > 0 && b.Len() > 0; empty-- {
			b.WriteByte('\n')
		}
		empty = 0
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// isNormal reports whether all lines of a text end with LF and without blanks.
func isNormal(text string) bool {
	if strings.IndexByte(text, '\r') >= 0 {
		return false
	}
	for text != "" {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			end = len(text)
		}
		if end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
			return false
		}
		text = text[min(end+1, len(text)):]
	}
	return true
}

// Digest is the sha256 of a normalised text, in hex.
func Digest(normalised string) string {
	sum := sha256.Sum256([]byte(normalised))
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}
