package yaml

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// nextLine is the one control character of ISO 8859 that YAML takes for a line's end.
const nextLine = '\u0085'

var lineEnd = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// line is one line of the file as it can be shown; empty when there is none of that number.
func (r *Reader) line(number int) string {
	if number < 1 || number > len(r.lines) {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\t' {
			return utf8.RuneError
		}
		return c
	}, strings.ToValidUTF8(r.lines[number-1], "\uFFFD"))
}

// swallowedComment is the comment in the place of a missing value: the author may have meant it as the value.
func (r *Reader) swallowedComment(n *Node) (Pos, string) {
	if n.Tag != "!!null" || n.Value != "" {
		return Pos{}, ""
	}
	rest := r.rest(PosOf(n))
	text := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(text, "#") {
		return Pos{}, ""
	}
	return Pos{n.Line, n.Column + column(rest) - column(text)}, strings.TrimSpace(text)
}

// PlaceIn is where a text's part begins, by its offset in bytes: exact in a block that begins with | and in what
// is on one line as it is; else where the text itself begins.
func (r *Reader) PlaceIn(n *Node, offset int) Pos {
	node, at := resolve(n), PosOf(n)
	before := node.Value[:offset]
	lines := strings.Split(node.Value, "\n")
	number := strings.Count(before, "\n")
	inLine := before[strings.LastIndexByte(before, '\n')+1:]
	if node.Style&yaml.LiteralStyle != 0 {
		at = Pos{node.Line + 1 + number, 1}
	}
	if raw, whole := r.line(at.Line), lines[number]; whole != "" && strings.Contains(raw, whole) {
		return Pos{at.Line, column(raw[:strings.LastIndex(raw, whole)]+inLine) + 1}
	}
	return PosOf(n)
}

// firstRefused finds the first character that no YAML file may hold, and says which one it is.
func firstRefused(text string) (at Pos, found string) {
	at = Pos{1, 1}
	for text != "" {
		c, size := utf8.DecodeRuneInString(text)
		switch {
		case c == utf8.RuneError && size == 1:
			return at, fmt.Sprintf("the byte 0x%02x, which is not UTF-8", text[0])
		case unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' && c != nextLine:
			return at, fmt.Sprintf("the control character U+%04X", c)
		}
		at.Col++
		if c == '\n' {
			at = Pos{at.Line + 1, 1}
		}
		text = text[size:]
	}
	return Pos{}, ""
}

// syntax reports what the library could not read, in the terms of the file's author where the slip is a usual one.
func (r *Reader) syntax(err error) {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		r.Problem(Pos{1, 1}, "syntax", "this is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	at, began := posOf(e.Mark), posOf(e.ContextMark)
	if e.Mark.Line == 0 {
		at = began
	}
	for _, s := range slips() {
		if m := s.message.FindStringSubmatch(e.Message); m != nil {
			if place, text := s.tell(r, slip{at: at, began: began, whole: e.ContextMsg, match: m}); text != "" {
				r.Problem(place, "syntax", "%s", text)
				return
			}
		}
	}
	r.Problem(at, "syntax", "this is not valid YAML: %s", strings.TrimPrefix(e.ContextMsg+", "+e.Message, ", "))
}

func posOf(m yaml.Mark) Pos { return Pos{max(m.Line, 1), max(m.Column, 1)} }

// slip is what the library says of a place that it could not read.
type slip struct {
	at, began Pos    // where it stopped, and where that began which it was reading
	whole     string // what it was reading
	match     []string
}

// usual is a kind of slip: the library's message, the message for its author, and the place to look at.
type usual struct {
	message *regexp.Regexp
	tell    func(r *Reader, s slip) (Pos, string)
}

// slips are the usual ones, the first that fits counts. An empty text says that it is none of them.
func slips() []usual {
	return []usual{
		{
			regexp.MustCompile(
				`^found (a tab character|mixed spaces and tabs)|^found character that cannot start any token`), tabbed},
		{regexp.MustCompile(`^found character that cannot start any token`), unquotedStart},
		{regexp.MustCompile(`^unknown anchor '(.*)' referenced`), unknownAnchor},
		{regexp.MustCompile(`^did not find expected alphabetic or numeric character`), unquotedStart},
		{regexp.MustCompile(`^found unexpected end of stream`), unclosedQuote},
		{regexp.MustCompile(`^found unknown escape character`), unknownEscape},
		{regexp.MustCompile(`^did not find expected ',' or '(.)'`), unclosedBracket},
		{regexp.MustCompile(`^did not find expected node content`), unclosedAtEnd},
		{regexp.MustCompile(`^mapping values are not allowed in this context`), strayColon},
		{regexp.MustCompile(`^could not find expected ':'`), noColon},
		{regexp.MustCompile(`^did not find expected (?:key|'-' indicator)`), strayText},
	}
}

// indentOf is what a line begins with.
func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// column is a text's length in characters, as columns count them.
func column(text string) int { return utf8.RuneCountInString(text) }

// rest is the part of a line that begins at a place.
func (r *Reader) rest(at Pos) string {
	line := []rune(r.line(at.Line))
	return string(line[min(at.Col-1, len(line)):])
}

func tabbed(r *Reader, s slip) (Pos, string) {
	indent := indentOf(r.line(s.at.Line))
	tab := strings.IndexByte(indent, '\t')
	if tab < 0 || s.at.Col > column(indent)+1 {
		return s.at, ""
	}
	return Pos{s.at.Line, tab + 1},
		"found a tab before the text of the line, expected spaces: YAML counts them to see what belongs to what"
}

func unquotedStart(r *Reader, s slip) (Pos, string) {
	at := s.at
	if s.whole == "while scanning an anchor" || s.whole == "while scanning an alias" {
		at = s.began
	}
	text := r.rest(at)
	if text == "" {
		return at, ""
	}
	return at, fmt.Sprintf("found text that begins with %q, expected quotes around it: %s", firstOf(text), quote(text))
}

func firstOf(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return text[:size]
}

// quote is a value as it can be in a file, without the comment after it.
func quote(text string) string {
	text, _, _ = strings.Cut(text, " #")
	return "'" + strings.ReplaceAll(strings.TrimSpace(text), "'", "''") + "'"
}

func unknownAnchor(r *Reader, s slip) (Pos, string) {
	name := s.match[1]
	return s.at, fmt.Sprintf("found *%s, an alias of &%s, and no value above has that anchor; text that "+
		"begins with * belongs in quotes: %s",
		name, name, quote(r.rest(s.at)))
}

func unclosedQuote(r *Reader, s slip) (Pos, string) {
	if s.whole != "while scanning a quoted scalar" {
		return s.at, ""
	}
	return s.began, fmt.Sprintf(
		"found the quote %s, which is never closed, expected another one where the text ends", firstOf(r.rest(s.began)))
}

func unknownEscape(r *Reader, s slip) (Pos, string) {
	text := []rune(r.rest(s.at))
	return s.at, fmt.Sprintf("found %q between double quotes, which means nothing there, expected single "+
		"quotes around the text, in which a backslash is just one",
		string(text[:min(2, len(text))]))
}

func unclosedBracket(r *Reader, s slip) (Pos, string) {
	if s.began.Line == s.at.Line {
		return s.at, fmt.Sprintf(
			"found %q, expected \",\" or %q: text that holds such characters belongs in quotes",
			firstOf(r.rest(s.at)+"\n"), s.match[1])
	}
	return s.began, fmt.Sprintf("found %q, which is not closed where line %d begins, expected %q",
		firstOf(r.rest(s.began)), s.at.Line, s.match[1])
}

func unclosedAtEnd(r *Reader, s slip) (Pos, string) {
	if s.at.Line < len(r.lines) || r.rest(s.at) != "" {
		return s.at, ""
	}
	last := r.before(s.at.Line)
	return Pos{last, column(strings.TrimRight(r.line(last), " \t")) + 1},
		"found the end of the file where a list in [] or a mapping in {} goes on, expected its end"
}

var (
	keyAndValue = regexp.MustCompile(`^[ \t]*(?:- +)*[^\s#'"\[{|>&*!][^:]*:[ \t]+[^\s#|>]`)
	gluedKey    = regexp.MustCompile(`^[ \t]*(?:- +)*[A-Za-z_][\w-]*:[^\s:/]`)
)

// before is the last line above one that says something.
func (r *Reader) before(number int) int {
	for number--; number > 0; number-- {
		if text := strings.TrimSpace(r.line(number)); text != "" && !strings.HasPrefix(text, "#") {
			break
		}
	}
	return number
}

func strayColon(r *Reader, s slip) (Pos, string) {
	line, above := r.line(s.at.Line), r.before(s.at.Line)
	start := Pos{s.at.Line, column(indentOf(line)) + 1}
	if head := string([]rune(line)[:min(s.at.Col-1, column(line))]); strings.Contains(
		strings.TrimPrefix(strings.TrimSpace(head), "- "), ": ") {
		at := column(head[:strings.Index(head, ": ")]) + 3
		return Pos{s.at.Line, at},
			fmt.Sprintf("found a second colon in one value, expected quotes around the value: %s",
				quote(r.rest(Pos{s.at.Line, at})))
	}
	switch text := r.line(above); {
	case above == 0:
	case gluedKey.MatchString(text):
		key, _, _ := strings.Cut(text, ":")
		return Pos{above, column(key) + 1}, "found no space after a colon, expected one between a key and its value"
	case keyAndValue.MatchString(text) && column(indentOf(text)) < start.Col-1:
		return start, fmt.Sprintf("found a key that is indented deeper than the one above it, which has its "+
			"value already, expected %s as on line %d",
			spaces(column(indentOf(text))), above)
	}
	if key := r.opens(start); key > 0 {
		return start, fmt.Sprintf("found a colon in a text of several lines that begins below line %d, "+
			"expected | behind the colon there: it keeps the lines as they are", key)
	}
	return s.at, ""
}

var (
	bareKey = regexp.MustCompile(`^[ \t]*(?:- +)*[A-Za-z_][\w-]*:[ \t]*(?:#.*)?$`)
	aKey    = regexp.MustCompile(`^[ \t]*(?:- +)*[A-Za-z_][\w-]*:(?:[ \t]|$)`)
)

// opens is the line of the key without a value below which the text at a place is; 0 where there are other keys
// between them, or none at all.
func (r *Reader) opens(at Pos) int {
	number := r.before(at.Line)
	for ; number > 0 && column(indentOf(r.line(number))) >= at.Col-1; number = r.before(number) {
		if aKey.MatchString(r.line(number)) {
			return 0
		}
	}
	if number > 0 && bareKey.MatchString(r.line(number)) {
		return number
	}
	return 0
}

func spaces(n int) string {
	if n == 1 {
		return "1 space"
	}
	return strconv.Itoa(n) + " spaces"
}

func noColon(r *Reader, s slip) (Pos, string) {
	at := s.began
	if gluedKey.MatchString(r.line(at.Line)) {
		key, _, _ := strings.Cut(r.line(at.Line), ":")
		return Pos{at.Line, column(key) + 1}, "found no space after a colon, expected one between a key and its value"
	}
	return at, fmt.Sprintf("found %q, expected a key with a colon and its value", strings.TrimSpace(r.rest(at)))
}

// strayText reports a line that belongs to nothing above it, and of text after the end of a value.
func strayText(r *Reader, s slip) (Pos, string) {
	indent := column(indentOf(r.line(s.at.Line)))
	if s.at.Col != indent+1 {
		return s.at, fmt.Sprintf("found %q after the end of a value, expected quotes around all of it",
			strings.TrimSpace(r.rest(s.at)))
	}
	var above []int
	least := indent + 1
	for number := r.before(s.at.Line); number > 0 && least > 0; number = r.before(number) {
		if n := column(indentOf(r.line(number))); n < least || n > indent && len(above) == 0 {
			above, least = append(above, n), min(n, least)
		}
	}
	slices.Sort(above)
	if slices.Contains(above, indent) {
		if strings.HasPrefix(r.rest(s.at), "-") {
			return s.at, "found an element of a list where the lines above it are keys, expected a key"
		}
		return s.at, "found a key where the lines above it are elements of a list, expected one that begins with a dash"
	}
	var depths []string
	for _, n := range slices.Compact(above) {
		depths = append(depths, strconv.Itoa(n))
	}
	return s.at, fmt.Sprintf("found a line that is indented by %s, expected one of %s, as the lines above it are",
		spaces(indent), strings.Join(depths, ", "))
}
