package document

import (
	"slices"
	"strings"
)

const emphasis = "*_"

// Fields says which of the labels are present with content, in the order of names.
// A label is a line such as "DONE: text", with a list marker or emphasis around it or without; the colon may be a
// full-width one. Its content is the text behind the colon, or any text below it before the next label, heading or
// the section's end.
// What is in code, comments and quotes is neither a label nor content.
func (s Section) Fields(names []string) []string {
	filled := make([]bool, len(names))
	current := -1 // the label whose content may still follow
	for _, l := range s.lines {
		if l.kind == heading {
			current = -1
		}
		if l.kind != prose || !hasColon(l.text) && (current < 0 || filled[current]) {
			continue
		}
		shown := withoutUnseen(l.text)
		text := withoutMarks(shown)
		if label, content := labelOf(text, names); label >= 0 {
			current = label
			filled[label] = filled[label] || hasContent(content)
			continue
		}
		if labelLike(strings.TrimLeft(strings.TrimSpace(shown), emphasis)) {
			current = -1
			continue
		}
		if current >= 0 && hasContent(text) {
			filled[current] = true
		}
	}
	var present []string
	for _, name := range names {
		if filled[slices.Index(names, name)] { // of a name that is asked for twice, the first one is filled
			present = append(present, name)
		}
	}
	return present
}

// labelLike reports whether a line looks like a label, which ends the content of the one above whether or not anyone
// asked for it: two or more capitals, blanks, dashes and underscores, and a colon. It is not looked for behind a list
// marker: "- API: changed" is content of the label above.
func labelLike(text string) bool {
	end := 0
	for end < len(text) && (text[end] >= 'A' && text[end] <= 'Z' ||
		end > 0 && strings.IndexByte(" _-", text[end]) >= 0) {
		end++
	}
	_, colon := cutColon(strings.TrimLeft(text[end:], "*"))
	return end > 1 && colon
}

// wideColon is the colon that people type who write Chinese or Japanese; it means the same.
const wideColon = "："

func hasColon(text string) bool {
	return strings.IndexByte(text, ':') >= 0 || strings.Contains(text, wideColon)
}

// cutColon cuts the colon of a label off.
func cutColon(text string) (behind string, found bool) {
	if behind, found = strings.CutPrefix(text, ":"); !found {
		behind, found = strings.CutPrefix(text, wideColon)
	}
	return behind, found
}

// withoutMarks is a line without its list marker and the emphasis that it opens with.
func withoutMarks(text string) string {
	text = strings.TrimSpace(text)
	if end := listMark(text); end > 0 {
		text = strings.TrimLeft(text[end:], " \t")
		if len(text) > 2 && text[0] == '[' && strings.IndexByte(" xX", text[1]) >= 0 && text[2] == ']' &&
			(len(text) == 3 || text[3] == ' ' || text[3] == '\t') {
			text = strings.TrimLeft(text[3:], " \t")
		}
	}
	return strings.TrimLeft(text, emphasis)
}

// listMark is the length of the marker of a list item that a text begins with, 0 when there is none.
func listMark(text string) int {
	const longest = len("123456789")
	end := len(text) - len(strings.TrimLeft(text, "0123456789"))
	signs := ".)"
	if end == 0 {
		signs = "-+*"
	}
	if end > longest || end == len(text) || strings.IndexByte(signs, text[end]) < 0 {
		return 0
	}
	if end++; end < len(text) && text[end] != ' ' && text[end] != '\t' {
		return 0
	}
	return end
}

// labelOf is the number of the name that a text begins with as a label, -1 when there is none, and what is behind.
func labelOf(text string, names []string) (label int, content string) {
	for i, name := range names {
		rest, found := strings.CutPrefix(text, name)
		if !found || name == "" {
			continue
		}
		rest = strings.TrimLeft(rest, emphasis)
		if content, found := cutColon(rest); found {
			return i, content
		}
	}
	return -1, ""
}

func hasContent(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return isUnseen(r) || strings.ContainsRune(emphasis, r) }) != ""
}
