package task

import (
	"strings"
	"unicode"
)

// maxSummary is in bytes: a summary is in one header and one line of every list.
const maxSummary = 1000

// CheckSummary refuses what cannot be the summary of a task: a text that shows nothing, is too long, or holds a NUL
// character. Every summary that comes in is checked by it.
func CheckSummary(text string) error {
	shows := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	switch {
	case len(text) > maxSummary:
		return Notef(ErrUsage, "cannot use the summary: it has %d bytes, more than %d; put the rest into the task's "+
			"context", len(text), maxSummary)
	case strings.ContainsRune(text, 0):
		return Notef(ErrUsage, "cannot use %q as the summary: it holds a NUL character; leave that out", text)
	case !strings.ContainsFunc(text, shows):
		return Notef(ErrUsage, "cannot use %q as the summary: it says nothing; write in one line what is to be done, "+
			"or leave the summary out", text)
	}
	return nil
}
