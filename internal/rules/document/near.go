package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/printable"
)

// slip is the first character that makes a text something else than what it looks like, and what would be right.
type slip struct {
	found rune // 0 where there is none
	want  string
}

func (s slip) String() string {
	if s.found == 0 {
		return ""
	}
	return fmt.Sprintf("%#U where %s", s.found, s.want)
}

// or is s where it is one, and otherwise the other one.
func (s slip) or(found rune, want string) slip {
	if s.found != 0 {
		return s
	}
	return slip{found, want}
}

func expects(text string) string { return fmt.Sprintf("%q is expected", text) }

// wide is what the full-width forms of ASCII are away from it.
const wide = '！' - '!'

// like compares the beginning of a text with a word. Letters that another script has for one of the word's are a slip,
// and so are characters that show nothing and, unless any case is right, small letters for capitals. Most of the word
// has to be right.
func like(text, word string, anyCase bool) (s slip, behind string, is bool) {
	right, size := 0, utf8.RuneCountInString(word)
	for word != "" {
		r, n := utf8.DecodeRuneInString(text)
		want, m := utf8.DecodeRuneInString(word)
		same := unicode.ToLower(r) == unicode.ToLower(want)
		switch {
		case n == 0:
			return s, text, false
		case printable.Invisible(r):
			s, text = s.or(r, "nothing is expected"), text[n:]
			continue
		case r == want || same && anyCase:
			right++
		case same, r-wide == want, r-wide == unicode.ToLower(want):
			right++
			s = s.or(r, expects(string(want)))
		case r < utf8.RuneSelf || unicode.Is(unicode.Latin, r):
			return s, text, false
		default:
			s = s.or(r, expects(string(want)))
		}
		text, word = text[n:], word[m:]
	}
	return s, text, 2*right >= size
}

// colonIn finds what is in the place of a label's colon, at the beginning of a text, and what is behind it. Blanks
// before a colon are a slip unless the label may have some.
func colonIn(text string, s slip, blanks bool) (found slip, behind string, is bool) {
	text = strings.TrimLeft(text, emphasis)
	rest := strings.TrimLeftFunc(text, isUnseen)
	first, _ := utf8.DecodeRuneInString(text)
	if behind, is := cutColon(rest); is {
		if rest != text && !blanks {
			s = s.or(first, expects(":"))
		}
		return s, behind, true
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case n == 0:
		return s, "", false
	case !isWordRune(r):
		return s.or(r, expects(":")), rest[n:], true
	}
	return s.or(first, expects(":")), rest, rest != text && s.found == 0 // a blank, and the colon is missing
}

// NearLabel is a line of the section that is almost one of the labels, and the character that makes it none. Both are
// empty where there is no such line.
func (s Section) NearLabel(names []string) (found, why string) {
	for _, l := range s.lines {
		if l.kind != prose {
			continue
		}
		text := withoutMarks(withoutUnseen(l.text))
		for _, name := range names {
			near, rest, is := like(text, name, false)
			if near, _, label := colonIn(rest, near, false); is && label && near.found != 0 {
				return shorten(l.text), near.String()
			}
		}
	}
	return "", ""
}

// NearVerdict is the character that keeps the section's first line, which FirstVerdict reads, or any line, as
// AnyVerdict reads them, from being a verdict, with the line. Both are empty where it is not almost one.
func (s Section) NearVerdict(anywhere bool) (found, why string) {
	for _, l := range s.lines {
		text := withoutUnseen(l.text)
		if anywhere && (l.kind == prose || l.kind == heading) {
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }) {
				if near, behind, is := nearResult(strings.Trim(word, "_")); is && behind == "" && near.found != 0 {
					return shorten(l.text), near.String()
				}
			}
		}
		if anywhere || Blank(l.text) {
			continue
		}
		if near := nearVerdict(strings.TrimSpace(noEmphasis.Replace(text))); l.kind == prose && !l.list &&
			near.found != 0 {
			return shorten(l.text), near.String()
		}
		return "", ""
	}
	return "", ""
}

func nearVerdict(text string) slip {
	near, rest, label := like(text, "Verdict", true)
	near, rest, colon := colonIn(rest, near, true)
	result, behind, is := nearResult(strings.TrimLeftFunc(rest, isUnseen))
	if next, _ := utf8.DecodeRuneInString(behind); !label || !colon || !is || isWordRune(next) {
		return slip{}
	}
	return near.or(result.found, result.want)
}

// nearResult compares the beginning of a text with the words of a verdict.
func nearResult(text string) (s slip, behind string, is bool) {
	if s, behind, is = like(text, pass, true); is {
		return s, behind, is
	}
	return like(text, fail, true)
}

// NearName is the character that makes the name of a section another one than is wanted; empty where it is not almost
// that one.
func NearName(name, wanted string) string {
	s, rest, is := like(strings.TrimSpace(name), Key(wanted), true)
	if rest = strings.TrimLeftFunc(rest, unicode.IsSpace); rest != "" {
		r, _ := utf8.DecodeRuneInString(rest)
		s = s.or(r, "the heading ends")
	}
	if !is || strings.ContainsFunc(rest, isWordRune) {
		return ""
	}
	return s.String()
}

// WhyMissing are the document's problems, and the lines that are almost the heading of a section: why one of them may
// be missing.
func (d *Document) WhyMissing() []Problem {
	out := slices.Clone(d.Problems)
	for i, l := range d.lines {
		if len(out) >= maxProblems {
			break
		}
		if near := nearHeading(l.text); l.kind == prose && !l.list && near.found != 0 {
			out = append(out, Problem{Line: d.frontLines + i + 1,
				Text: fmt.Sprintf("%q is no heading: it has %s", shorten(l.text), near)})
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}

// nearHeading compares a line that is no heading with the beginning of one.
func nearHeading(text string) slip {
	const hashes = "##"
	text = strings.TrimLeft(text, " ")
	open := strings.TrimLeftFunc(text, isUnseen)
	s, rest, is := like(open, hashes, true)
	if first, _ := utf8.DecodeRuneInString(text); open != text {
		s = slip{first, expects("#")}
	}
	switch r, n := utf8.DecodeRuneInString(rest); {
	case !is || n == 0 || !isUnseen(r) && !isWordRune(r):
		return slip{}
	case r == ' ' || r == '\t':
		return s
	default:
		return s.or(r, expects(" "))
	}
}
