package tmux

import (
	"strings"
	"unicode"
)

const (
	longestName = 80 // runes of a name: what a person can still read in a status line
	suffixRunes = 6  // of a task's id, where two tasks want one name
)

// SafeName makes a name that tmux keeps as it is and that no command line misreads.
// Letters, digits and a few signs stay; everything else becomes "_".
// The same text always gives the same name, but two texts may give one.
func SafeName(text string) string {
	var out strings.Builder
	count := 0
	for _, r := range text {
		if count == longestName {
			break
		}
		// "." and ":" divide a target, "#" begins a format, "\" is doubled, and the rest troubles shells.
		first := count == 0
		if !plain(r) || first && strings.ContainsRune("-=$@%+~", r) || first && unicode.IsMark(r) {
			r = '_'
		}
		out.WriteRune(r)
		count++
	}
	if count == 0 {
		return "_"
	}
	return out.String()
}

func plain(r rune) bool {
	if r == unicode.ReplacementChar {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("-_/~+=@%,", r)
}

// names are the session names to try for a task, the wanted one first.
func names(wanted, task string) []string {
	short := []rune(task)
	if len(short) > suffixRunes {
		short = short[:suffixRunes]
	}
	return []string{wanted, wanted + "~" + SafeName(string(short)), wanted + "~" + SafeName(task)}
}
