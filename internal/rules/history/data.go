package history

// Keys in the data of a CheckFinished event.
const (
	DataCheck = "check"
)

// ConversationNoted is the type of the event that tells which conversation the last agent of a role has, where its
// program chooses the name. It is what the agent's own command said, and no one has checked it.
const ConversationNoted = "conversation.noted"

// Types of events that tell how long a task has been in its status. None of them is a move.
const (
	TimeoutWarning   = "timeout.warning"
	TimeoutAlert     = "timeout.alert"
	TimeoutEscalated = "timeout.escalated"
)

// Keys of the data of the events above.
const (
	DataLevel   = "level"
	DataAfter   = "after"    // how long the status should take
	DataInState = "in_state" // how long the task had been in it
	DataRefused = "refused"  // why the move of the last level was not made
)

// The key in the data of an AgentLimited that says until when the limit lasts. Package decide has three more there.
const (
	DataUntil = "until"
)

// ProjectionRestored is the type of the event that tells of a projection which other hands had changed, and which
// was put back.
const ProjectionRestored = "projection.restored"

// Keys in the data of a ProjectionRestored: the file, and the digest under which its content is kept.
const (
	DataFile  = "file"
	DataFound = "found"
)
