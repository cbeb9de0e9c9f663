package cli

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/task"
	"orange/internal/worktree"
)

// looksLikeBranch reports whether a word that is a branch or a summary is taken for a branch: it is ASCII without a
// blank, git takes it as a name, and it has a slash or no capital letter.
func looksLikeBranch(ctx context.Context, word string) (bool, error) {
	other := func(r rune) bool { return r <= ' ' || r > '~' }
	if strings.ContainsFunc(word, other) || !strings.Contains(word, "/") && word != strings.ToLower(word) {
		return false, nil
	}
	err := worktree.CheckBranch(ctx, word)
	if errors.Is(err, task.ErrUsage) {
		return false, nil
	}
	return err == nil, err
}

// longestBranch is how many characters a branch has at most that is named after words.
const longestBranch = 40

// branchFromWords names a branch after a text: its letters and digits in any script, in small letters, and dashes
// between its words, as many words as fit. It is empty where the text has none.
func branchFromWords(text string) string {
	name := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	}) {
		// a mark at the beginning is of a character that is left out
		word = strings.TrimLeftFunc(strings.ReplaceAll(word, "'", ""), unicode.IsMark)
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
