package document

import (
	"strings"

	"orange/internal/lazyregexp"
)

var (
	listMarker = lazyregexp.New(`^(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?`)
	// labelLike is where the content of the label above ends, whether or not anyone asked for this label.
	// It is not looked for behind a list marker: "- API: changed" is content of the label above.
	labelLike = lazyregexp.New(`^[A-Z][A-Z _-]+\**:`)
)

const emphasis = "*_"

// Fields says which of the labels are present with content, in the order of names.
// A label is a line such as "DONE: text", with a list marker or emphasis around it or without; its content is the text
// behind the colon, or any text below it before the next label, heading or the section's end.
// What is in code, comments and quotes is neither a label nor content.
func (s Section) Fields(names []string) []string {
	filled := make(map[string]bool, len(names))
	current := "" // the label whose content may still follow
	read := s.read()
	for read.next() {
		l := read.line()
		if l.kind == heading {
			current = ""
		}
		if l.kind != prose {
			continue
		}
		shown := seen(l.text)
		text := unmarked(shown)
		if name, content, ok := labelOf(text, names); ok {
			current = name
			filled[name] = filled[name] || hasContent(content)
			continue
		}
		if labelLike().MatchString(strings.TrimLeft(strings.TrimSpace(shown), emphasis)) {
			current = ""
			continue
		}
		if current != "" && hasContent(text) {
			filled[current] = true
		}
	}
	var present []string
	for _, name := range names {
		if filled[name] {
			present = append(present, name)
		}
	}
	return present
}

// unmarked is a line without its list marker and the emphasis that it opens with.
func unmarked(text string) string {
	text = strings.TrimSpace(text)
	text = text[len(listMarker().FindString(text)):]
	return strings.TrimLeft(text, emphasis)
}

func labelOf(text string, names []string) (name, content string, ok bool) {
	for _, name := range names {
		rest, found := strings.CutPrefix(text, name)
		if !found || name == "" {
			continue
		}
		rest = strings.TrimLeft(rest, emphasis)
		if content, found := strings.CutPrefix(rest, ":"); found {
			return name, content, true
		}
	}
	return "", "", false
}

func hasContent(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unseen(r) || strings.ContainsRune(emphasis, r) }) != ""
}
