package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// promise is one piece of a document that may promise something. The text itself stays in the document.
type promise struct {
	id     string // document, section, place in the section
	kind   string // heading, row, item, sentence or code
	line   int
	digest string
	text   string // only while the document is read
}

// reader splits one document. See docs/promises.md for the rules.
type reader struct {
	document string
	section  string // of the heading that was read last
	next     int    // place in that section
	taken    map[string]int
	out      []promise

	kind   string // of the text that is being gathered
	text   string
	line   int
	ruled  bool // the line before was a ruler
	headed bool // the table's names of columns have been read
}

var (
	heading  = regexp.MustCompile(`^#+ (.+)$`)
	numbered = regexp.MustCompile(`^\d+\. `)
	chapter  = regexp.MustCompile(`^\d+\.\d+ `)
	item     = regexp.MustCompile(`^\s*([-*•]|\d+\.)\s+(.+)$`)
	fence    = regexp.MustCompile("^```(\\w*)$")
	columns  = regexp.MustCompile(`^\|[-| :]+\|$`)
	ruler    = regexp.MustCompile(`^(⸻|---+)$`)
	end      = regexp.MustCompile("([.!?][)*\"`”]*) +([A-Z`\"#(*@{~])")
	letters  = regexp.MustCompile(`[\pL\pN]`)
	noSlug   = regexp.MustCompile(`[^a-z0-9_.]+`)
)

// promisesOf reads a document from its first line to its last.
func promisesOf(document, text string) []promise {
	r := &reader{document: document, taken: map[string]int{}}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		switch {
		case fence.MatchString(line):
			r.flush()
			last := blockEnd(lines, i)
			for j := i + 1; j < last; j++ {
				r.add("code", lines[j], j+1)
			}
			i = last
			if last < len(lines) && !fence.MatchString(lines[last]) {
				i-- // never closed: the line that ended it is no part of it
			}
		default:
			r.read(line, i+1)
		}
	}
	r.flush()
	return r.out
}

// blockEnd is the line that closes the block opened at line open. A block that is not closed before the next one
// is opened ends where text begins again at the left edge after an empty line.
func blockEnd(lines []string, open int) int {
	for i := open + 1; i < len(lines); i++ {
		match := fence.FindStringSubmatch(strings.TrimRight(lines[i], " \t"))
		if match == nil {
			continue
		}
		if match[1] == "" {
			return i
		}
		break
	}
	for i := open + 2; i < len(lines); i++ {
		if lines[i-1] == "" && lines[i] != "" && !strings.HasPrefix(lines[i], " ") {
			return i
		}
	}
	return len(lines)
}

func (r *reader) read(line string, at int) {
	afterRuler := r.ruled
	if line != "" {
		r.ruled = ruler.MatchString(line)
	}
	match := heading.FindStringSubmatch(line)
	switch {
	case line == "" || r.ruled:
		r.flush()
		r.headed = false
	case match != nil:
		r.begin(match[1], at)
	case chapter.MatchString(line), afterRuler && numbered.MatchString(line):
		r.begin(line, at)
	case strings.HasPrefix(line, "|") || r.kind == "" && strings.Contains(line, "\t") && !item.MatchString(line):
		r.row(line, at)
	case item.MatchString(line):
		r.flush()
		r.kind, r.text, r.line = "item", item.FindStringSubmatch(line)[2], at
	case r.kind == "":
		r.kind, r.text, r.line = "sentence", line, at
	default:
		r.text += " " + strings.TrimSpace(line)
	}
}

// row is a line of a table; the first one has the names of the columns.
func (r *reader) row(line string, at int) {
	r.flush()
	if columns.MatchString(line) {
		return
	}
	if !r.headed {
		r.headed = true
		return
	}
	r.add("row", line, at)
}

// begin opens the section of a heading; a heading that a document repeats gets a number.
func (r *reader) begin(title string, at int) {
	r.flush()
	slug := strings.Trim(noSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
	r.taken[slug]++
	if n := r.taken[slug]; n > 1 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	r.section, r.next = slug, 0
	r.add("heading", title, at)
}

// flush adds what was gathered, sentence by sentence.
func (r *reader) flush() {
	kind, text := r.kind, r.text
	r.kind, r.text = "", ""
	if kind == "" {
		return
	}
	for _, sentence := range strings.Split(end.ReplaceAllString(text, "$1\n$2"), "\n") {
		r.add(kind, sentence, r.line)
		kind = "sentence"
	}
}

func (r *reader) add(kind, text string, at int) {
	plain := strings.Join(strings.Fields(text), " ")
	if !letters.MatchString(plain) {
		return
	}
	sum := sha256.Sum256([]byte(plain))
	r.out = append(r.out, promise{
		id:     fmt.Sprintf("%s/%s/%d", r.document, r.section, r.next),
		kind:   kind,
		line:   at,
		digest: hex.EncodeToString(sum[:6]),
		text:   plain,
	})
	r.next++
}
