package decide

import (
	"slices"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Conversations are those of a task's agents with their programs, as the task's history tells of them.
type Conversations []history.Event

// ToContinue is the conversation that an agent goes on with which is started again for the present status: that of
// the last agent of its role, if the same harness had it. It is empty where a new one begins. An agent that judges goes
// on only where the work is the commit that it began with: what it has read of another one would count as read.
func (c Conversations) ToContinue(def *workflow.Definition, t task.Task, role, harness string, at task.Subject) string {
	last := history.LastStart(c, role)
	if last == nil || history.HarnessOf(c, role) != harness {
		return ""
	}
	state, _ := def.State(t.Status)
	judges := state.Role == role && len(NeedsOnStart(def, t.Status)) > 0
	if judges && (at.Commit == "" || last.Data["commit"] != at.Commit) {
		return ""
	}
	name, _ := history.ConversationOf(c, role)
	return name
}

// MayLack reports whether the last agent of a role may have a conversation of this name that is not on record: it has
// told none since its start. The events from that start on are enough.
func (c Conversations) MayLack(role, name string) bool {
	known, told := history.ConversationOf(c, role)
	return history.LastStart(c, role) != nil && !told && known != name && isConversation(name)
}

// Note is the change that notes which conversation the last agent of a role has, as the agent itself says. Due is false
// where nothing is noted: the agent has told one since its start, or Orange has chosen its name. Nor may it be that of
// an agent of another role: who goes on with it would know what that one knows, and speak in its place.
func (c Conversations) Note(t task.Task, role, name string, now time.Time) (change record.Change, due bool) {
	others := func(e history.Event) bool {
		return e.Data["role"] != role && e.Data[history.DataConversation] == name
	}
	if !t.Live || !c.MayLack(role, name) || slices.ContainsFunc(c, others) {
		return change, false
	}
	first, _ := history.ConversationOf(c, role)
	told := func(e history.Event) bool {
		return e.Type == history.ConversationNoted && e.Data[history.DataConversation] == first
	}
	if first != "" && !slices.ContainsFunc(c, told) {
		return change, false
	}
	change = record.Change{Task: t, Expect: t.Version}
	change.Task.UpdatedAt = now
	change.Events = []history.Event{{Time: now, Type: history.ConversationNoted, Actor: role,
		Data: map[string]string{"role": role, history.DataConversation: name}}}
	return change, true
}

// longestConversation is how long the name of a conversation may be.
const longestConversation = 128

// isConversation reports whether a text can be the name of a conversation. It becomes an argument of a program, where
// it must be neither a flag nor a path.
func isConversation(name string) bool {
	return name != "" && len(name) <= longestConversation && name[0] != '-' &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
