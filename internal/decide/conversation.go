package decide

import (
	"orange/internal/history"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Conversation is the conversation that an agent goes on with which is started again for the present status: that of
// the last agent of its role, if the same harness had it. It is empty where a new one begins. An agent that judges goes
// on only where the work is the commit that it began with: what it has read of another one would count as read.
func Conversation(def *workflow.Definition, t task.Task, role, harness string, at task.Subject,
	events []history.Event) string {
	last := history.LastStart(events, role)
	if last == nil || history.HarnessOf(events, role) != harness {
		return ""
	}
	state, _ := def.State(t.Status)
	judges := state.Role == role && len(NeedsOnStart(def, t.Status)) > 0
	if judges && (at.Commit == "" || last.Data["commit"] != at.Commit) {
		return ""
	}
	return last.Data[history.DataConversation]
}
