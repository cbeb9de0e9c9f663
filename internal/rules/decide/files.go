package decide

import (
	"fmt"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Keys in the data of an agent's end: how many files kept its move, and that its document is too large to be read.
const (
	dataFiles = "files"
	dataSize  = "too_large"
)

// heldByFiles is the answer to the end of an agent whose move new or changed files alone refuse. That is no crash: the
// agent has done what it was to do, and a person, or the agent that starts again, says what is to become of the files.
func (x *exit) heldByFiles(refused *rejection.Rejection) record.Change {
	files := fmt.Sprintf("%d new or changed files", refused.Files)
	if refused.Files == 1 {
		files = "1 new or changed file"
	}
	c := x.note("")
	c.Events[0].Reason = fmt.Sprintf("%s has ended, and %s keep its task in %q: %s", x.death.Name(), files,
		x.task.Status, rejection.Reasons(refused.Details))
	c.Events[0].Data[dataFiles] = files
	c.Task.Attention = fmt.Sprintf("%s: %s; then start it again with %q, or move the task", files,
		toDo(refused.Details), "orange task respawn "+x.task.ID)
	return c
}

// heldByPromise is the answer to the end of an agent whose move only a promise of the task's end refuses, or force.
// That is no crash: no agent can make up for it in this status.
func (x *exit) heldByPromise(to task.Status, refused *rejection.Rejection) record.Change {
	c := x.note(fmt.Sprintf("%s has ended, and its task does not come to %q by itself: %s", x.death.Name(), to,
		rejection.Reasons(refused.Details)))
	c.Events[0].Reason = c.Task.Attention
	return c
}

// heldBySize is the answer to the end of an agent whose document is too large to be read: whether it has done what it
// was to do, no one knows.
func (x *exit) heldBySize() record.Change {
	c := x.note(fmt.Sprintf("its document is too large: %s; then start it again with %q, or move the task",
		x.ev.Trouble, "orange task respawn "+x.task.ID))
	c.Events[0].Reason = fmt.Sprintf("%s has ended, and the size of its document keeps its task in %q: %s",
		x.death.Name(), x.task.Status, x.ev.Trouble)
	c.Events[0].Data[dataSize] = "TASK.md"
	return c
}

// heldBack reports whether files, or the size of the document, kept the move of an agent that ended.
func heldBack(end history.Event) bool { return end.Data[dataFiles] != "" || end.Data[dataSize] != "" }

// toDo is what the unmet conditions want.
func toDo(all []rejection.Detail) string {
	text := ""
	for i, d := range all {
		if i > 0 {
			text += "; "
		}
		text += d.Found + "; " + d.Want
	}
	return text
}

// HeldBack tells an agent that is started again what kept the move of the one before it, where files or the size of the
// document alone did, and what to do; empty where that is not so.
func (events Conversations) HeldBack(role string) string {
	held := ""
	for _, e := range events {
		switch {
		case e.IsMove():
			held = ""
		case e.Data["role"] == role && e.Data["ended"] != "":
			held = ""
			switch {
			case e.Data[dataFiles] != "":
				held = e.Reason + ". Commit each of these files, or have git ignore it in a .gitignore that you " +
					"commit, or take it back or delete it. Then ask for the move again."
			case e.Data[dataSize] != "":
				held = e.Reason + ". Then ask for the move again."
			}
		}
	}
	return held
}
