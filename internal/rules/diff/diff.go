// Package diff takes the changes of a branch apart, as git prints them: files, hunks and lines, and the words that
// changed within a line. It also has the remarks about those lines: a person's comments, the text that sends them to
// the worker, and the places that a reviewer names.
//
// It owns what a line of a change is, and how a place is written. It does not know how any of it looks on a screen.
package diff

import (
	"strconv"
	"strings"
)

// Patch is what git printed of a change, with what it is a change of.
type Patch struct {
	Text   string // the list of files, and below it every line
	Base   string // the branch that the work is compared with; empty where it is compared with a commit that was judged
	From   string // the commit that it is compared with
	To     string // the last commit of the change
	Loose  bool   // it has what is not committed too
	Dir    string // the worktree that has the files; empty where they are checked out nowhere
	Last   string // the commit that was judged last and is not To; empty where there is none
	Judged string // by whom that was, and how, in words
	Review string // the text in which a reviewer names places
}

// Kind is what a line of a hunk is.
type Kind byte

// The kinds of lines.
const (
	Same    Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
	Note    Kind = '\\' // git's own words, such as that the file ends without a newline
)

// Line is one line of a hunk. Its numbers are those in the old and in the new file, and 0 where it is not in there.
type Line struct {
	Kind     Kind
	Text     string
	Old, New int
	At       int // its line in the patch
}

// Hunk is a row of lines that follow each other in a file.
type Hunk struct {
	Title string // what git prints behind the numbers: the function that the lines are in
	Lines []Line
	At    int // its line in the patch
}

// ChangedFile is a file of a change.
type ChangedFile struct {
	Name   string   // its present name, or the old one where it is gone
	Old    string   // the name before, where that is another one
	Notes  []string // what else git says: a new file, another mode, that it is binary
	Binary bool
	Hunks  []Hunk

	Added, Removed int // lines
	At             int // its first line in the patch
}

// Parts are what a patch consists of.
type Parts struct {
	Files     []ChangedFile
	Untracked []string // files that git does not know yet, as they are listed
	Rest      []string // lines at the end that belong to no file
}

// Counts are the lines that all files add and remove.
func (p Parts) Counts() (added, removed int) {
	for i := range p.Files {
		added, removed = added+p.Files[i].Added, removed+p.Files[i].Removed
	}
	return added, removed
}

// untrackedMark begins the line of a file that git does not know yet.
const untrackedMark = " new, not added: "

// Parse takes a patch apart. It reads anything: what makes no sense is in the notes of a file, or in Rest.
func Parse(text string) Parts {
	p := parser{}
	for line := range strings.Lines(text) {
		p.at++
		p.line(strings.TrimSuffix(line, "\n"))
	}
	return p.parts
}

type parser struct {
	parts    Parts
	at       int // the number of the line
	old, new int // the numbers of the next line
	// how many lines the hunk still has: a removed line that begins with dashes is no name of a file
	oldLeft, newLeft int
}

func (p *parser) line(line string) {
	switch {
	case p.oldLeft <= 0 && p.newLeft <= 0 && strings.HasPrefix(line, "diff --git "):
		p.parts.Files = append(p.parts.Files, ChangedFile{Name: nameOfHeader(line), At: p.at})
	case len(p.parts.Files) == 0:
		if name, is := strings.CutPrefix(line, untrackedMark); is {
			p.parts.Untracked = append(p.parts.Untracked, name)
		}
	case p.oldLeft > 0 || p.newLeft > 0 || strings.HasPrefix(line, `\`):
		p.inHunk(line)
	default:
		p.between(line)
	}
}

func (p *parser) file() *ChangedFile { return &p.parts.Files[len(p.parts.Files)-1] }

// inHunk takes a line of a hunk. What cannot be one ends the hunk: git cut it there.
func (p *parser) inHunk(line string) {
	f := p.file()
	kind, text := Same, ""
	if line != "" {
		kind, text = Kind(line[0]), line[1:]
	}
	if len(f.Hunks) == 0 || kind != Same && kind != Added && kind != Removed && kind != Note {
		p.oldLeft, p.newLeft = 0, 0
		p.between(line)
		return
	}
	one := Line{Kind: kind, Text: text, At: p.at}
	if kind == Same || kind == Removed {
		one.Old = p.old
		p.old, p.oldLeft = p.old+1, p.oldLeft-1
	}
	if kind == Same || kind == Added {
		one.New = p.new
		p.new, p.newLeft = p.new+1, p.newLeft-1
	}
	switch kind {
	case Added:
		f.Added++
	case Removed:
		f.Removed++
	}
	h := &f.Hunks[len(f.Hunks)-1]
	h.Lines = append(h.Lines, one)
}

// between takes a line that is in no hunk.
func (p *parser) between(line string) {
	f := p.file()
	if p.opens(line) {
		return
	}
	header := len(f.Hunks) == 0
	switch key, value := headerOf(line); {
	case !header || strings.HasPrefix(line, "…"):
		p.parts.Rest = append(p.parts.Rest, line)
	case key == "--- ":
		if value != "/dev/null" {
			f.Old = value
		}
	case key == "+++ ":
		if value != "/dev/null" {
			f.Name = value
		} else if f.Old != "" {
			f.Name = f.Old
		}
		if f.Old == f.Name {
			f.Old = ""
		}
	case key == "rename from " || key == "copy from ":
		f.Old = value
		f.Notes = append(f.Notes, line)
	case key == "rename to " || key == "copy to ":
		f.Name = value
	case strings.HasPrefix(line, "index ") || line == "":
	default:
		f.Binary = f.Binary || strings.HasPrefix(line, "Binary files ") || line == "GIT binary patch"
		f.Notes = append(f.Notes, line)
	}
}

// opens begins a hunk where the line does: "@@ -1,4 +1,5 @@ func main() {". Git omits a length of 1.
func (p *parser) opens(line string) bool {
	ranges, found := strings.CutPrefix(line, "@@ -")
	if !found {
		return false
	}
	ranges, title, found := strings.Cut(ranges, " @@")
	old, new, both := strings.Cut(ranges, " +")
	if !found || !both {
		return false
	}
	var okOld, okNew bool
	p.old, p.oldLeft, okOld = rangeOf(old)
	p.new, p.newLeft, okNew = rangeOf(new)
	if !okOld || !okNew {
		p.oldLeft, p.newLeft = 0, 0
		return false
	}
	f := p.file()
	f.Hunks = append(f.Hunks, Hunk{Title: strings.TrimSpace(title), At: p.at})
	return true
}

// mostNumber is a line's number that no file has: a sum with it still is a number.
const mostNumber = 1 << 30

func rangeOf(text string) (first, count int, ok bool) {
	from, length, given := strings.Cut(text, ",")
	first, err := strconv.Atoi(from)
	if count = 1; given && err == nil {
		count, err = strconv.Atoi(length)
	}
	return first, count, err == nil && first >= 0 && count >= 0 && first < mostNumber && count < mostNumber
}

// headerOf splits a line of a file's header that names a file.
func headerOf(line string) (key, name string) {
	for _, key := range []string{"--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "} {
		value, found := strings.CutPrefix(line, key)
		if !found {
			continue
		}
		name := unquote(strings.TrimSuffix(value, "\t"))
		if key == "--- " || key == "+++ " {
			name = withoutSide(name)
		}
		return key, name
	}
	return "", ""
}

// withoutSide is a name without the "a/" or "b/" that git puts before it.
func withoutSide(name string) string {
	if len(name) > 2 && (name[0] == 'a' || name[0] == 'b') && name[1] == '/' {
		return name[2:]
	}
	return name
}

// nameOfHeader is the name in "diff --git a/x b/x". Both halves are the same unless later lines say otherwise.
func nameOfHeader(line string) string {
	names := strings.TrimPrefix(line, "diff --git ")
	if strings.HasPrefix(names, `"`) {
		if end := strings.Index(names, `" `); end > 0 {
			return withoutSide(unquote(names[:end+1]))
		}
	}
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' &&
		withoutSide(names[:half]) == withoutSide(names[half+1:]) {
		return withoutSide(names[:half])
	}
	_, second, _ := strings.Cut(names, " b/")
	if second == "" {
		return names
	}
	return unquote(second)
}

// unquote is a name as it is, where git wrote it in quotes because of what it has in it.
func unquote(name string) string {
	inner, begins := strings.CutPrefix(name, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	if !begins || !ends {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' || i+1 == len(inner) {
			b.WriteByte(inner[i])
			continue
		}
		if i+3 < len(inner) {
			if n, err := strconv.ParseUint(inner[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		i++
		if at := strings.IndexByte(`abtnvfr`, inner[i]); at >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[at])
			continue
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}
