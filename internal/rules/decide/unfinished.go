package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Unfinished is a merge of a task that has begun, and after which the task has not been moved. The program that
// began it may be at work still, have failed, or have been killed.
type Unfinished struct {
	Tries  []history.Event // the begins, the last one first
	Merged bool            // the history has that the default branch got the work
	Failed bool            // the history has how the last try ended, with nothing merged
}

// In finds the merge in the whole history of a task; there is none where it has no tries.
func (Unfinished) In(events []history.Event) (u Unfinished) {
	for _, e := range slices.Backward(events) {
		switch {
		case e.IsMove():
			return u
		case e.Type == history.MergeBegun:
			u.Tries = append(u.Tries, e)
		case e.Type == history.MergeFailed:
			u.Failed = u.Failed || len(u.Tries) == 0
		case e.Type == history.Merged:
			u.Merged = true
		}
	}
	return u
}

// Actor is who began the merge, with the key of that request: what Orange makes good of it is theirs.
func (u Unfinished) Actor() task.Actor {
	begun := &u.Tries[0]
	key, asked := begun.Asked()
	signed, signature := begun.Proof()
	return task.Actor{Role: begun.Actor, As: begun.ActingAs, Person: begun.Person, Key: key, Asked: asked,
		Signed: signed, Signature: signature}
}

// cutMark is the start of the attention mark of a task whose merge was cut short and could not be made good.
const cutMark = "its merge was cut short"

// Stays is what follows for the task if Orange cannot make the merge good: it gets a mark with the command that goes
// on. Unknown says why no one can tell whether the default branch has the work; against, if the default branch has it,
// what keeps the task from its move. If both are empty nothing was merged: the history notes that as the end of the
// merge. Due is false if nothing follows: the end is noted already, the task has that mark, or one for something else.
func (u Unfinished) Stays(t task.Task, unknown, against string, now time.Time) (c record.Change, due bool) {
	again := "orange task merge " + t.ID
	c = record.Change{Task: t, Expect: t.Version}
	switch {
	case against != "":
		c.Task.Attention = fmt.Sprintf("%s; the default branch has the work, and the task could not be moved: %s; put "+
			"that right, then: %s", cutMark, against, again)
	case u.Failed:
		return c, false
	case unknown != "":
		c.Task.Attention = fmt.Sprintf("%s; whether the default branch has the work is not known: %s; the monitor "+
			"looks again, or go on yourself: %s", cutMark, unknown, again)
	default:
		c.Task.Attention = fmt.Sprintf("%s; the default branch has not got the work; merge it again: %s", cutMark,
			again)
		c.Events = []history.Event{{
			Time: now, Type: history.MergeFailed, Actor: task.ActorEngine,
			Reason: "it was cut short, and the default branch has not got the work",
		}}
	}
	if t.Attention != "" && !strings.HasPrefix(t.Attention, cutMark) {
		c.Task.Attention = t.Attention
	}
	c.Task.UpdatedAt = now
	return c, len(c.Events) > 0 || c.Task.Attention != t.Attention
}
