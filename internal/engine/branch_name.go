package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// createNamed makes a task with the id that it is given. Where it has the branch named after its summary, that has a
// number where another task has the same name.
func (e *arrivals) createNamed(ctx context.Context, n task.New) (record.Outcome, error) {
	const most = 100
	name := branchFromWords(n.Summary)
	if !n.NameBranch || n.Branch != "" || name == "" {
		return e.create(ctx, n)
	}
	n.Branch = name
	if name == n.Project.DefaultBranch {
		n.Branch += "-2"
	}
	for number := 2; ; number++ {
		out, err := e.create(ctx, n)
		if !errors.Is(err, task.ErrBranchTaken) || number > most {
			return out, err
		}
		n.Branch = name + "-" + strconv.Itoa(number)
	}
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
