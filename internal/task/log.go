package task

// Kinds of log entries: what must be told of a task, in the words that other programs' logs have for it.
const (
	LogTransition   = "STATE_TRANSITION"
	LogFailure      = "FAILURE_INCREMENT"
	LogTimeout      = "TIMEOUT_WARNING"
	LogAssignment   = "AGENT_ASSIGNMENT"
	LogIntervention = "CTO_INTERVENTION"
)

// LogTime is how a log entry writes its time: ISO 8601, UTC, whole seconds.
const LogTime = "2006-01-02T15:04:05Z"

// LogEntry is one thing that happened to a task, in the form that is handed to other programs.
type LogEntry struct {
	Timestamp string            `json:"timestamp"`
	TaskID    string            `json:"taskId"`
	Event     string            `json:"event"`
	From      Status            `json:"from"`
	To        Status            `json:"to"`
	Actor     string            `json:"actor"`
	Reason    string            `json:"reason"`
	Metadata  map[string]string `json:"metadata"`
}

// LogEntries tells a task's history as log entries. Marks says what a status means in the task's workflow.
// A move is a transition; one that counts a failure, or that leads to where tasks are taken out of their usual way, is a second entry too.
// An agent that was started is an assignment. Where nothing moved, both states are the one that the task was in.
// What belongs to none of these kinds is left out.
func LogEntries(id string, events []Event, marks func(Status) Marks) []LogEntry {
	var out []LogEntry
	var status Status
	for i := range events {
		e := &events[i]
		if e.Type == Created {
			status = Status(e.Data[DataStatus])
		}
		from, to := status, status
		if e.IsMove() {
			from, to, status = e.From, e.To, e.To
		}
		for _, kind := range kindsOf(e, marks) {
			out = append(out, LogEntry{
				Timestamp: e.Time.UTC().Format(LogTime), TaskID: id, Event: kind, From: from, To: to,
				Actor: e.speaker(), Reason: e.Reason, Metadata: metadata(e),
			})
		}
	}
	return out
}

// speaker is in whose name the event was asked for.
func (e *Event) speaker() string {
	if e.ActingAs != "" {
		return e.ActingAs
	}
	return e.Actor
}

func metadata(e *Event) map[string]string {
	out := make(map[string]string, len(e.Data))
	for key, value := range e.Data { // one map into another: the order does not matter
		out[key] = value
	}
	return out
}

func kindsOf(e *Event, marks func(Status) Marks) []string {
	switch e.Type {
	case StatusChanged, AutoAdvanced:
		out := []string{LogTransition}
		if e.Data[DataFailure] != "" {
			out = append(out, LogFailure)
		}
		if marks(e.To).Escalation {
			out = append(out, LogIntervention)
		}
		return out
	case TimeoutWarning, TimeoutAlert, TimeoutEscalated:
		return []string{LogTimeout}
	case AgentSpawned, ReviewStarted: // a respawn is a wish; the start that follows from it is here
		return []string{LogAssignment}
	}
	return nil
}
