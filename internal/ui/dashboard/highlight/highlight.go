// Package highlight finds the comments, strings, numbers and keywords in lines of code, in about a dozen languages.
//
// A language is a small table in a file of its own, which is read when a file of that language is shown first: no
// other command of the program pays for it. The tables know no grammar. A line that they read wrongly has a wrong
// colour, and its text is the same.
package highlight

import (
	"embed"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed languages/*.txt
var files embed.FS

// TokenKind is what a part of a line is.
type TokenKind int

// The kinds of parts. What is none of these is plain.
const (
	Comment TokenKind = iota + 1
	String
	Number
	Keyword
)

// Token is a part of a line, in bytes.
type Token struct {
	From, To int
	Kind     TokenKind
}

// Language is what is known of a language. nil is a language of which nothing is known.
type Language struct {
	line     []string  // what begins a comment to the end of the line
	blocks   []bracket // comments and strings
	keywords map[string]bool
	anyCase  bool // keywords may be in capitals
	spaced   bool // a comment begins only at a blank or at the begin of a line
}

// bracket is how a comment or a string begins and ends.
type bracket struct {
	kind        TokenKind
	open, close string
	escape      bool // a backslash takes its meaning from the next character
	lines       bool // it may have several lines
}

// Inside is what a line begins in: in a comment or a string of the line before, or in none.
type Inside struct{ inside int } // the number of the bracket, from 1

// byName are the names of languages by the ends of file names, and by whole names.
func byName(file string) string {
	switch base := strings.ToLower(path.Base(file)); base {
	case "makefile", "gnumakefile", "dockerfile", "containerfile", ".bashrc", ".profile", ".zshrc", "justfile":
		return "shell"
	case "gemfile", "rakefile":
		return "ruby"
	case "go.mod", "go.work":
		return "go"
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		return "go"
	case ".py", ".pyi", ".bzl", ".star":
		return "python"
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return "javascript"
	case ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".cs", ".dart", ".swift":
		return "java"
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm", ".proto":
		return "c"
	case ".rs", ".zig":
		return "rust"
	case ".rb", ".rake", ".gemspec", ".ex", ".exs":
		return "ruby"
	case ".php":
		return "php"
	case ".sh", ".bash", ".zsh", ".ksh", ".mk", ".env", ".dockerfile":
		return "shell"
	case ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".tf", ".hcl":
		return "yaml"
	case ".json", ".jsonl", ".json5", ".jsonc":
		return "json"
	case ".sql":
		return "sql"
	case ".html", ".htm", ".xml", ".svg", ".xhtml", ".plist":
		return "html"
	case ".css", ".scss", ".less":
		return "css"
	case ".lua":
		return "lua"
	}
	return ""
}

// Of is the language of a file, by its name; nil where it is not known.
func Of(file string) *Language {
	name := byName(file)
	if name == "" {
		return nil
	}
	text, err := files.ReadFile("languages/" + name + ".txt")
	if err != nil {
		return nil
	}
	return read(string(text))
}

// read reads the table of a language: a word on each line, and what belongs to it.
func read(table string) *Language {
	l := &Language{keywords: map[string]bool{}}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch rest := words[1:]; words[0] {
		case "line":
			l.line = append(l.line, rest...)
		case "block": // a comment
			l.blocks = append(l.blocks, bracket{Comment, rest[0], rest[1], false, true})
		case "string":
			for _, quote := range rest {
				l.blocks = append(l.blocks, bracket{String, quote, quote, true, false})
			}
		case "text": // a string of several lines
			for _, quote := range rest {
				l.blocks = append(l.blocks, bracket{String, quote, quote, true, true})
			}
		case "raw": // the same, in which a backslash is a letter
			for _, quote := range rest {
				l.blocks = append(l.blocks, bracket{String, quote, quote, false, true})
			}
		case "anycase":
			l.anyCase = true
		case "spaced":
			l.spaced = true
		case "keywords":
			for _, word := range rest {
				l.keywords[word] = true
			}
		}
	}
	return l
}

// Line finds the tokens of a line that begins in a state, and the state in which the next one begins.
func (l *Language) Line(text string, in Inside) ([]Token, Inside) {
	if l == nil {
		return nil, Inside{}
	}
	var out []Token
	at := 0
	if in.inside > 0 && in.inside <= len(l.blocks) {
		b := l.blocks[in.inside-1]
		end, ended := b.end(text)
		if len(text) > 0 {
			out = append(out, Token{0, end, b.kind})
		}
		if !ended {
			return out, in
		}
		at = end
	}
	for at < len(text) {
		next, kind, state := l.next(text, at)
		if kind != 0 {
			out = append(out, Token{at, next, kind})
		}
		if state.inside > 0 {
			return out, state
		}
		at = next
	}
	return out, Inside{}
}

// end is where the rest of a comment or string ends, and whether that is in this text.
func (b bracket) end(text string) (at int, ended bool) {
	for at < len(text) {
		switch {
		case b.escape && text[at] == '\\':
			at += 2
		case strings.HasPrefix(text[at:], b.close):
			return at + len(b.close), true
		default:
			at++
		}
	}
	return len(text), false
}

// next reads what is at a place: up to where it goes, what it is, and the state after it where the line ends in it.
func (l *Language) next(text string, at int) (to int, kind TokenKind, state Inside) {
	rest := text[at:]
	for _, begin := range l.line {
		if strings.HasPrefix(rest, begin) && (!l.spaced || at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			return len(text), Comment, Inside{}
		}
	}
	for i, b := range l.blocks {
		if !strings.HasPrefix(rest, b.open) {
			continue
		}
		end, ended := b.end(rest[len(b.open):])
		if to = at + len(b.open) + end; !ended && b.lines {
			state = Inside{i + 1}
		}
		return to, b.kind, state
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return at + size, 0, Inside{}
	}
	number := unicode.IsDigit(r)
	to = at + wordEnd(rest, number)
	word := text[at:to]
	if l.anyCase {
		word = strings.ToLower(word)
	}
	switch {
	case number:
		return to, Number, Inside{}
	case l.keywords[word]:
		return to, Keyword, Inside{}
	}
	return to, 0, Inside{}
}

// wordEnd is how long the word or number is that a text begins with.
func wordEnd(text string, number bool) int {
	for at, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && (!number || r != '.') {
			return at
		}
	}
	return len(text)
}
