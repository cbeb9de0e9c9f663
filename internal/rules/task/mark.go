package task

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

const (
	limitMark = "limit until "
	limitTime = "2006-01-02 15:04 MST"
)

// MarkLimit marks the task because its agent of a role has ended at a limit of its provider.
func (t *Task) MarkLimit(role string, limit Limit) {
	t.Attention = fmt.Sprintf("%s%s: the %s has ended at one of %q, and the monitor starts it again then", limitMark,
		limit.Over(), role, limit.Provider)
}

// Over is when the limit is over, for people: the full minute after it.
func (l Limit) Over() string {
	return l.Until.UTC().Add(time.Minute - time.Nanosecond).Format(limitTime)
}

// LimitedUntil is until when the task waits by its attention mark for its provider's limit to be over; false where the
// mark speaks of something else.
func (t Task) LimitedUntil() (until time.Time, is bool) {
	rest, is := strings.CutPrefix(t.Attention, limitMark)
	if !is {
		return until, false
	}
	until, err := time.Parse(limitTime, rest[:min(len(rest), len(limitTime))])
	return until, err == nil
}

// refusedMark is the start of the attention mark of a task whose agent was refused too often.
const refusedMark = "refused "

// MarkRefused marks the task for a person because its agent was refused so often, for this reason, in one line.
func (t *Task) MarkRefused(often string) { t.Attention = refusedMark + often }

// RefusedOften reports whether the task's attention mark says that an agent was refused too often.
func (t Task) RefusedOften() bool { return strings.HasPrefix(t.Attention, refusedMark) }

// lastWords is what comes before an agent's last words at the end of an attention mark.
const lastWords = "; its last words: "

// MarkParts are the attention mark of the task without an agent's last words, and those words; empty where the mark has
// none.
func (t Task) MarkParts() (mark, words string) {
	mark, words, _ = strings.Cut(t.Attention, lastWords)
	return mark, words
}

// isFrame reports whether a character is a blank, or one with which full-screen programs draw frames.
func isFrame(r rune) bool { return unicode.IsSpace(r) || r >= '\u2500' && r <= '\u259f' }

const longestSaid = 200 // characters of an agent's last words in a mark

// Said is the end of an attention mark that tells the agent's last words, in one line, with a slash where a line ended;
// empty if there are none.
func (d Death) Said() string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(d.LastWords, "\uFFFD")) {
		if fields := strings.FieldsFunc(line, isFrame); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	said := []rune(strings.Join(lines, " / "))
	if len(said) == 0 {
		return ""
	}
	if len(said) > longestSaid {
		said = append([]rune("…"), said[len(said)-longestSaid:]...)
	}
	return lastWords + string(said)
}
