package document

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"orange/internal/rules/printable"
)

// Outside is a text that neither the task's people nor its agents wrote, such as the output of a check or a comment on
// a pull request.
type Outside struct {
	From string // whose text it is, in one line
	Text string
}

// Bounds of what is quoted, in bytes: of one text, of all together, of what says whose it is, and of the
// backticks in a row that a fence has to be longer than.
const (
	mostQuoted = 8 << 10
	mostQuotes = 32 << 10
	mostFrom   = 200
	mostFence  = 100
)

// Quote makes blocks of texts from outside that can stand in a section of a document: none of them can open a section,
// close its block, begin a comment, or reach a terminal. Each line has a mark in front of it. The middle of a long text
// is left out, and texts that are too many are, and the quote says so.
func Quote(texts ...Outside) string {
	var b strings.Builder
	for i, one := range texts {
		quoted := block(one)
		if b.Len()+len(quoted) > mostQuotes-mostFrom {
			fmt.Fprintf(&b, "%d more are left out.\n", len(texts)-i)
			break
		}
		b.WriteString(quoted)
	}
	return b.String()
}

// block is one text in a block of at most mostQuoted bytes.
func block(one Outside) string {
	from := printable.Line(strings.ToValidUTF8(one.From, "\uFFFD"))
	from = "From " + strings.NewReplacer("`", "'", "<", "(", ">", ")").Replace(firstBytes(from, mostFrom)) + ":\n\n"
	text, cut := one.Text, 0
	if cut = len(text) - 2*mostQuoted; cut > 0 { // what is left out is not looked at
		text = firstBytes(text, mostQuoted) + "\n" + lastBytes(text, mostQuoted)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimRight(printable.Text(text), "\n")
	const mark = "| "
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(mark+lines[i], " \t")
	}
	text = strings.Join(lines, "\n")
	if longestRun(text) > mostFence { // it would need a fence as long as itself
		text = strings.ReplaceAll(text, "`", "'")
	}
	text = middleOut(text, mostQuoted-len(from)-2*(mostFence+2), max(cut, 0))
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return from + fence + "\n" + text + "\n" + fence + "\n\n"
}

// longestRun is the length of the longest run of backticks in a text.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// middleOut is a text of marked lines without its middle, if it is longer than that. So many bytes were cut of it
// before.
func middleOut(text string, most, cut int) string {
	if len(text) <= most {
		return text
	}
	const said = "\n| [ ... %d bytes are left out ... ]\n| "
	half := (most - len(said) - 20) / 2
	begin, end := firstBytes(text, half), lastBytes(text, half)
	return begin + fmt.Sprintf(said, len(text)-len(begin)-len(end)+cut) + end
}

// firstBytes are at most so many bytes from the beginning of a text, without half a character.
func firstBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// lastBytes are at most so many bytes from the end of a text, without half a character.
func lastBytes(text string, most int) string {
	at := max(len(text)-most, 0)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}
