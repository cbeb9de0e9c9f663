package shell

import (
	"strings"

	"orange/internal/rules/task"
)

// wordsOf takes a line apart into words as a shell does: blanks part them, quotes hold them together, and a
// backslash takes the next character as it is, but not between single quotes.
func wordsOf(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside := false // a word has begun, be it an empty one between quotes
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inside = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case r == ' ' || r == '\t':
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	switch {
	case quote != 0:
		return nil, usage("cannot read the line: a quote (%c) is opened and never closed; close it, or write "+
			"a backslash before one that is only a character", quote)
	case escaped:
		return nil, usage("cannot read the line: it ends with a backslash; write two of them for one")
	case inside:
		words = append(words, word.String())
	}
	return words, nil
}

func usage(format string, args ...any) error { return task.Notef(task.ErrUsage, format, args...) }
