package diff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/printable"
)

// Place is a range of lines of a file. The numbers are those of the new file, or of the old one where Gone is set:
// then the lines are not there any more.
type Place struct {
	File string `json:"file"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Gone bool   `json:"gone,omitempty"`
}

// String is the place as people and agents write it: main.go:12 or main.go:12-14.
func (p Place) String() string {
	name := p.File
	if strings.ContainsAny(name, "`:\"") || printable.Line(name) != name {
		name = strconv.Quote(name)
	}
	text := fmt.Sprintf("%s:%d", name, p.From)
	if p.To > p.From {
		text += fmt.Sprintf("-%d", p.To)
	}
	return text
}

// Comment is what a person says about some lines of a change. It is kept until it is sent.
type Comment struct {
	Place
	Commit string   `json:"commit,omitempty"` // the last commit of the change that the person looked at
	Quoted []string `json:"quoted,omitempty"` // the lines as they were
	Text   string   `json:"text"`
}

// head is the first line of a comment in the text that is sent.
func (c Comment) head() string {
	text := "`" + c.String() + "`"
	if c.Gone {
		text += " before the change"
	}
	return text
}

// mostQuoted is how many lines of the code a comment repeats, and longestQuoted how many bytes of each: the place
// alone is enough to find them, the lines tell whether they have moved.
const (
	mostQuoted    = 3
	longestQuoted = 200
)

// Instructions are comments as one text for the worker, by file and line, each with its place and with the code that
// it is about.
func Instructions(comments []Comment) string {
	var b strings.Builder
	for i, c := range Sorted(comments) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(c.head())
		if c.Commit != "" {
			fmt.Fprintf(&b, " at %.7s", c.Commit)
		}
		b.WriteString(":\n\n")
		for n, line := range c.Quoted {
			if n == mostQuoted {
				b.WriteString("    …\n")
				break
			}
			if len(line) > longestQuoted {
				line = strings.ToValidUTF8(line[:longestQuoted], "") + "…"
			}
			b.WriteString("    " + printable.Line(strings.ReplaceAll(line, "\t", "    ")) + "\n")
		}
		if len(c.Quoted) > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimSpace(c.Text) + "\n")
	}
	return b.String()
}

// Unsent are the comments that a text did not send: those whose places it does not name. A person may have taken
// one out of the text before they sent it.
func Unsent(comments []Comment, text string) []Comment {
	return slices.DeleteFunc(slices.Clone(comments), func(c Comment) bool { return strings.Contains(text, c.head()) })
}

// Sorted are comments by their places.
func Sorted(comments []Comment) []Comment {
	out := slices.Clone(comments)
	slices.SortStableFunc(out, func(a, b Comment) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	return out
}

// Remark is what a reviewer says about a place.
type Remark struct {
	Place
	Text string
}

var (
	// a name with a number behind it: main.go:12, main.go:12-14, main.go:12:7, main.go#L12, main.go line 12
	namedPlace = regexp.MustCompile(
		"([\\pL\\pN_./@+-]+)[`*\"')]*(?::|#L|,? +lines? +|\\(|:L)(\\d{1,7})(?:(?:-|–|,| to )L?(\\d{1,7}))?")
	listMark = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,3}[.)])\s+`)
)

// mostFindings is how many findings are read in a text.
const mostFindings = 500

// Remarks are the places that a review names, of the files of a change. It reads leniently, and demands nothing: a
// review in other words has none. A file may be named by the end of its path, where that is the end of one alone.
func Remarks(review string, files []ChangedFile) []Remark {
	var out []Remark
	lines := strings.Split(review, "\n")
	for i, line := range lines {
		for _, match := range namedPlace.FindAllStringSubmatch(line, -1) {
			name, found := fileNamed(match[1], files)
			from, err := strconv.Atoi(match[2])
			if !found || err != nil || from == 0 || len(out) == mostFindings {
				continue
			}
			to := from
			if n, err := strconv.Atoi(match[3]); err == nil && n > from {
				to = n
			}
			one := Remark{Place{File: name, From: from, To: to}, paragraph(lines[i:])}
			if last := len(out) - 1; last < 0 || out[last] != one {
				out = append(out, one)
			}
		}
	}
	return out
}

// fileNamed is the file of a change that a text names.
func fileNamed(text string, files []ChangedFile) (name string, found bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/")
	for i := range files {
		switch {
		case files[i].Name == text:
			return text, true
		case strings.HasSuffix(files[i].Name, "/"+text) ||
			strings.HasSuffix(text, "/"+files[i].Name): // from outside of the repository
			if found && name != files[i].Name {
				return "", false // it may be either
			}
			name, found = files[i].Name, true
		}
	}
	return name, found
}

// longestFinding is how much of a finding is kept, in bytes.
const longestFinding = 2000

// paragraph is the paragraph or the entry of a list that some lines begin with, in one line.
func paragraph(lines []string) string {
	text := strings.TrimSpace(listMark.ReplaceAllString(lines[0], ""))
	for _, line := range lines[1:] {
		if strings.TrimSpace(line) == "" || listMark.MatchString(line) || strings.HasPrefix(line, "#") ||
			len(text) > longestFinding {
			break
		}
		text += " " + strings.TrimSpace(line)
	}
	if len(text) > longestFinding {
		text = strings.ToValidUTF8(text[:longestFinding], "") + "…"
	}
	return text
}
