package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Kinds of log entries: what must learn of a task, in the words that other programs' logs have for it.
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
	From      task.Status       `json:"from"`
	To        task.Status       `json:"to"`
	Actor     string            `json:"actor"`
	Reason    string            `json:"reason"`
	Metadata  map[string]string `json:"metadata"`
}

// LogEntries reports a task's history as log entries. Marks says what a status means in the task's workflow.
// A move is a transition; one that counts a failure, or that leads to where tasks are taken out of their usual
// way, is a second entry too. An agent that was started is an assignment. Where nothing moved, both states are
// the one that the task was in. What belongs to none of these kinds is left out.
func LogEntries(id string, events []history.Event, marks func(task.Status) Marks) []LogEntry {
	var out []LogEntry
	var status task.Status
	for i := range events {
		e := &events[i]
		if e.Type == history.Created {
			status = task.Status(e.Data[history.DataStatus])
		}
		from, to := status, status
		if e.IsMove() {
			from, to, status = e.From, e.To, e.To
		}
		for _, kind := range kindsOf(e, marks) {
			out = append(out, LogEntry{
				Timestamp: e.Time.UTC().Format(LogTime), TaskID: id, Event: kind, From: from, To: to,
				Actor: speaker(e), Reason: why(e), Metadata: metadata(e),
			})
		}
	}
	return out
}

// agentOf begins the name of an agent in a log entry; the name of its role is the rest. People and the engine are
// no agents.
const agentOf = "@agent-"

// speaker is in whose name the event was asked for. A person who acts for a role has its name alone: no agent has
// asked.
func speaker(e *history.Event) string {
	switch {
	case e.ActingAs != "":
		return e.ActingAs
	case e.Actor == "" || e.Actor == task.RoleHuman || e.Actor == task.ActorEngine:
		return e.Actor
	}
	return agentOf + e.Actor
}

// why is the reason that was given, or else what the event came from: no one has to give one for a move that
// evidence supports.
func why(e *history.Event) string {
	switch {
	case e.Reason != "":
		return e.Reason
	case !e.IsMove():
		return "the " + cmp.Or(e.Data["role"], "agent") + " begins"
	case len(e.Evidence) == 0:
		return "asked for; the move needs no evidence"
	}
	sources := make([]string, len(e.Evidence))
	for i, one := range e.Evidence {
		sources[i] = one.Source
	}
	return "it rests on " + strings.Join(slices.Compact(sources), ", ")
}

func metadata(e *history.Event) map[string]string {
	out := make(map[string]string, len(e.Data)+1)
	maps.Copy(out, e.Data)
	for _, key := range []string{"passed", "refused_by", "same"} { // what versions of the work have passed: see there
		delete(out, key)
	}
	if e.ActingAs != "" {
		out["asked_by"] = e.Actor
	}
	return out
}

func kindsOf(e *history.Event, marks func(task.Status) Marks) []string {
	switch e.Type {
	case history.StatusChanged, history.AutoAdvanced:
		out := []string{LogTransition}
		if e.Data[history.DataFailure] != "" {
			out = append(out, LogFailure)
		}
		if marks(e.To).Escalation {
			out = append(out, LogIntervention)
		}
		return out
	case history.TimeoutWarning, history.TimeoutAlert, history.TimeoutEscalated:
		return []string{LogTimeout}
	case history.AgentSpawned, history.ReviewStarted: // a respawn is a wish; the start that follows from it is here
		return []string{LogAssignment}
	}
	return nil
}
