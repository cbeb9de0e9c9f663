package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestBranch is how many characters a branch has at most that is named after words.
const longestBranch = 40

// branchFromWords names a branch after a text: its letters and digits, in small letters, and dashes between its words,
// as many words as fit. It is empty where the text has none.
func branchFromWords(text string) string {
	name := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		word = strings.ReplaceAll(word, "'", "")
		longer := strings.Trim(name+"-"+word, "-")
		if utf8.RuneCountInString(longer) > longestBranch {
			if name == "" {
				name = string([]rune(word)[:longestBranch])
			}
			break
		}
		name = longer
	}
	return name
}
