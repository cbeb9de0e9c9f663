package document

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	pass = "PASS"
	fail = "FAIL"
)

// maxFound is how much of a line is worth repeating in an error message, in runes.
const maxFound = 80

var (
	verdictLine = regexp.MustCompile(`(?i)^verdict[\s\p{Zs}]*[:：][\s\p{Zs}]*(pass|fail)`)
	noEmphasis  = strings.NewReplacer("*", "", "_", "")
)

// FirstVerdict reads the section's first line that is not blank, comments left out: "Verdict: PASS", in any case,
// with emphasis around any part and words behind it; the colon may be a full-width one. verdict is "PASS", "FAIL" or,
// when the line says neither, or both, or is in code, a quote or a list, empty. found is the line, shortened, for the
// message; empty when there is none.
func (s Section) FirstVerdict() (verdict string, found string) {
	for _, l := range s.lines {
		if Blank(l.text) {
			continue
		}
		found = shorten(l.text)
		if l.kind != prose || l.list {
			return "", found
		}
		// Underscores go too: they are emphasis here, and a name such as PASS_ALL is then no whole word.
		plain := strings.TrimSpace(noEmphasis.Replace(withoutUnseen(l.text)))
		match := verdictLine.FindStringSubmatch(plain)
		words := verdictsIn(plain)
		if match == nil || disagree(words) {
			return "", found
		}
		if next, _ := utf8.DecodeRuneInString(plain[len(match[0]):]); isWordRune(next) {
			return "", found // PASSED
		}
		return strings.ToUpper(match[1]), found
	}
	return "", ""
}

// AnyVerdict reads the first line outside code, comments and quotes that holds PASS or FAIL as a whole word, in
// any case; the first such word decides. Both results are empty when there is none.
func (s Section) AnyVerdict() (verdict string, found string) {
	for _, l := range s.lines {
		if l.kind != prose && l.kind != heading {
			continue
		}
		if words := verdictsIn(withoutUnseen(l.text)); len(words) > 0 {
			return words[0], shorten(l.text)
		}
	}
	return "", ""
}

// verdictsIn are the words PASS and FAIL of a line, in order and upper case.
func verdictsIn(text string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }) {
		word = strings.ToUpper(strings.Trim(word, "_"))
		if word == pass || word == fail {
			found = append(found, word)
		}
	}
	return found
}

// disagree reports whether words name more than one verdict, as the copied template "Verdict: PASS|FAIL" does.
func disagree(words []string) bool {
	return slices.Contains(words, pass) && slices.Contains(words, fail)
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func shorten(text string) string {
	runes := []rune(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"))
	if len(runes) > maxFound {
		runes = runes[:maxFound]
	}
	return string(runes)
}
