package signed

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Form writes the text of what is signed: a title, and fields with their names. Each value comes with its length, so
// that no two lists of fields have the same text. A person can read it.
type Form struct{ text strings.Builder }

// NewForm begins a text with its title.
func NewForm(title string) *Form {
	f := &Form{}
	f.text.WriteString(title + "\n")
	return f
}

// Add adds a field.
func (f *Form) Add(name, value string) {
	f.text.WriteString(name + " " + strconv.Itoa(len(value)) + ":" + value + "\n")
}

// Number adds a field with a number.
func (f *Form) Number(name string, value int) { f.Add(name, strconv.Itoa(value)) }

// List adds how many values there are, and each of them.
func (f *Form) List(count, name string, values []string) {
	f.Number(count, len(values))
	for _, value := range values {
		f.Add(name, value)
	}
}

// Files adds the names of files with the digests of their texts. Without a file it adds nothing, as for what cannot
// have one.
func (f *Form) Files(digests map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		f.Add("file", name)
		f.Add("text", digests[name])
	}
}

// String is the text.
func (f *Form) String() string { return f.text.String() }

// Digest is what such a text has in place of a text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// fields takes fields off the beginning of a text: each in a line, with its name and the length of its value.
type fields struct {
	rest   string
	broken bool
}

func (f *fields) next(name string) string {
	rest, is := strings.CutPrefix(f.rest, name+" ")
	length, rest, has := strings.Cut(rest, ":")
	n, err := strconv.Atoi(length)
	known := is && has && err == nil && n >= 0 && n < len(rest) && rest[n] == '\n' && strconv.Itoa(n) == length
	if f.broken || !known {
		f.broken = true
		return ""
	}
	f.rest = rest[n+1:]
	return rest[:n]
}

func (f *fields) number(name string) int {
	text := f.next(name)
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		f.broken = true
	}
	return n
}
