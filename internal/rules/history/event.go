package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"orange/internal/rules/task"
)

// Types of events. Only StatusChanged and AutoAdvanced are moves: both have From and To.
const (
	Created          = "task.created"
	Updated          = "task.updated"
	QueuedForSpace   = "task.queued"
	WaitBroken       = "wait.broken" // what a task waits for will not come, or it could not be started then
	StatusChanged    = "status.changed"
	AutoAdvanced     = "auto.advanced"
	WorkspaceReady   = "workspace.ready"
	StartNoted       = "start.noted" // what a person should know of how the task began: the reason says it
	AgentSpawned     = "agent.spawned"
	AgentRespawned   = "agent.respawned"
	AgentStopped     = "agent.stopped"
	AgentNotified    = "agent.notified"
	PersonSaid       = "person.said" // a person said something to an agent: the text is the reason
	AgentCrashed     = "agent.crashed"
	AgentLimited     = "agent.limited" // it ended at its provider's limit: it is started again when that is over
	MachineLost      = "machine.lost"  // it ended with its terminal server or its machine, which is no crash
	CrashesForgotten = "crashes.forgotten"
	HooksRetried     = "hooks.retried"
	AgentStalled     = "agent.stalled"
	AgentRefused     = "agent.refused" // so often that a person is asked to look: the reason says why
	OrphanFreed      = "orphan.freed"
	Rebuilt          = "task.rebuilt"
	ReviewStarted    = "review.started"
	HookFailure      = "hook.failed"
	WorkRescued      = "work.rescued"
	MergeBegun       = "merge.begun"
	MergeFailed      = "merge.failed" // nothing was merged: the reason says why
	Merged           = "task.merged"
	DocumentRestored = "document.restored"
	DocumentAdopted  = "document.adopted"
	WorkflowMigrated = "workflow.migrated"
	BranchPushed     = "branch.pushed"
	PRRequested      = "pr.requested"
	PRCreated        = "pr.created"
	PRLeftBehind     = "pr.behind" // it has not got the judged commit: its project pushes nothing by itself
	PRLanded         = "pr.merged"
	PRDropped        = "pr.closed"
	PRChecked        = "pr.checked"
	CheckFinished    = "check.finished"
	SharedChanged    = "shared.changed"  // settings of git that all worktrees share are not what Orange noted
	SendBackRefused  = "setback.refused" // something happened for which the workflow has a rule, and it moved nothing
)

// DataCrash is the key in an event's data that marks a move as forced by crashes: the count of crashes survives it.
const DataCrash = "crash"

// Keys in the data of a move: the number of the failure that it counted, what a person's override ignored,
// and the state that a person had done again.
const (
	DataFailure  = "failure"
	DataOverride = "override"
	DataRedo     = "redo"
)

// DataHow is the key in the data of what reached an agent that says how: HowWait if through the command with which it
// waits, HowTyped if it was typed.
const (
	DataHow  = "how"
	HowWait  = "wait"
	HowTyped = "typed"
)

// SaidTo returns what people said to a role that is to reach it through the command with which it waits.
func SaidTo(events []Event, role string) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		return e.Type != PersonSaid || e.Data["role"] != role || e.Data[DataHow] != HowWait
	})
}

// DataUnreviewed is the key in the data of a move to a good end that says that no one compared the work with what
// was reviewed, where other moves to that end do.
const DataUnreviewed = "unreviewed"

// DataJudged is the key in the data of a merge that names the commit of the branch which was squashed into the one of
// the merge.
const DataJudged = "judged"

// DataChecks is the key in an event's data that says what the checks of a pull request come to.
const DataChecks = "checks"

// ChecksOf is what the checks of a pull request came to when someone looked last; empty where no one has.
func ChecksOf(events []Event, url string) string {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == PRChecked && events[i].Data["url"] == url {
			return events[i].Data[DataChecks]
		}
	}
	return ""
}

// DataNamedHarness is the key in the data of an agent's start that names its harness where that is not what
// agents of its kind usually get: the task's review harness for a reviewer, the task's harness for everyone
// else. Those are under DataHarness.
const DataNamedHarness = "named_harness"

// LastStart is the start of the last agent of a role; nil where none was started.
func LastStart(events []Event, role string) *Event {
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if (e.Type == AgentSpawned || e.Type == ReviewStarted) && e.Data["role"] == role {
			return e
		}
	}
	return nil
}

// HarnessOf is the harness that the last agent of a role was started with; empty where none was, or the history
// does not say.
func HarnessOf(events []Event, role string) string {
	start := LastStart(events, role)
	if start == nil {
		return ""
	}
	return valueOr(start.Data, DataNamedHarness, start.Data[DataHarness])
}

// HarnessFor is the harness that the last agent of a role was started with, or, where the history does not say, the
// task's own for that role.
func HarnessFor(t task.Task, role string, events []Event) string {
	usual := t.Harness
	if role == task.RoleReviewer {
		usual = cmp.Or(t.ReviewHarness, usual)
	}
	return cmp.Or(HarnessOf(events, role), usual)
}

// Keys in the data of an agent's start that are about its conversation: which one it is, where its program keeps one by
// a name that can be chosen or goes on with one, and, of an agent in the place of another, whether it goes on with that
// one's. A ConversationNoted has the first too.
const (
	DataConversation = "conversation"
	DataResumed      = "resumed"
)

// ConversationOf is the conversation of the last agent of a role, as far as its start or the agent itself has said.
// noted reports whether the agent did.
func ConversationOf(events []Event, role string) (name string, noted bool) {
	for i := len(events) - 1; i >= 0; i-- {
		switch e := &events[i]; {
		case e.Data["role"] != role:
		case e.Type == ConversationNoted:
			return e.Data[DataConversation], true
		case e.Type == AgentSpawned, e.Type == ReviewStarted:
			return e.Data[DataConversation], false
		}
	}
	return "", false
}

// LastWords are those of the agent that died last, if no other was started in its place.
func LastWords(events []Event) (words string) {
	for i := range events {
		switch e := &events[i]; e.Type {
		case AgentSpawned, ReviewStarted, AgentRespawned:
			words = ""
		case AgentCrashed, AgentStopped, AgentLimited, MachineLost:
			words = e.Data[task.DataLastWords]
		}
	}
	return words
}

// LimitEnd is the end of the agent that ended at its provider's limit and was not started again since, and when that
// limit is over; nil where there is none.
func LimitEnd(events []Event) (end *Event, until time.Time) {
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.IsMove() || e.Type == AgentRespawned || e.Type == AgentSpawned || e.Type == ReviewStarted {
			return nil, until
		}
		if e.Type == AgentLimited {
			until, _ = time.Parse(task.TimeFormat, e.Data[DataUntil]) // one that cannot be read is over
			return e, until
		}
	}
	return nil, until
}

// Event is one entry of a task's history. Its hash covers everything else in it and the hash of the event before.
type Event struct {
	Seq      int
	Time     time.Time
	Type     string
	Actor    string // the role that asked, or "engine"
	ActingAs string // the role that a human acted for; empty when none
	Person   string // who the human was that asked; empty where no person did, or no one noted it
	From     task.Status
	To       task.Status
	In       task.Status // of a crash: the status in which the agent died
	Crash    int         // and its number there, from 1
	Reason   string
	Counters task.Counters
	Evidence []task.Evidence
	Workflow string   // digest of the workflow that decided
	Hooks    []string // what the event set going, in order
	// what evidence is about from this event on; of an event that is no move, zero where that stays as it was
	Subject task.Subject
	Data    map[string]string
	// Inputs are what the decision was made from besides the history before it, as JSON; on the first event of a
	// decision alone.
	Inputs json.RawMessage
	Prev   string
	Hash   string
	// Call is the number of the call that asked for it; empty where none did. The record keeps it for a while, and no
	// history has it.
	Call string
}

type wireEvent struct {
	Seq      int               `json:"seq"`
	Time     string            `json:"timestamp"`
	Type     string            `json:"type"`
	Actor    string            `json:"actor,omitempty"`
	ActingAs string            `json:"acting_as,omitempty"`
	Person   string            `json:"person,omitempty"`
	From     task.Status       `json:"from,omitempty"`
	To       task.Status       `json:"to,omitempty"`
	In       task.Status       `json:"status,omitempty"`
	Crash    int               `json:"crash_count,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Counters map[string]int    `json:"counters,omitempty"`
	Evidence []task.Evidence   `json:"evidence,omitempty"`
	Workflow string            `json:"workflow,omitempty"`
	Hooks    []string          `json:"hooks,omitempty"`
	Subject  task.Subject      `json:"subject,omitzero"`
	Data     map[string]string `json:"data,omitempty"`
	Inputs   json.RawMessage   `json:"inputs,omitempty"`
	Prev     string            `json:"prev"`
	Hash     string            `json:"hash,omitempty"`
}

// MarshalJSON writes the event as one line of history.jsonl has it: always the same bytes for the same event.
func (e Event) MarshalJSON() ([]byte, error) { return json.Marshal(e.wire()) }

func (e *Event) wire() wireEvent {
	w := wireEvent{
		Seq: e.Seq, Time: task.FormatTime(e.Time), Type: e.Type, Actor: e.Actor, ActingAs: e.ActingAs, Person: e.Person,
		From: e.From, To: e.To, In: e.In, Crash: e.Crash, Reason: e.Reason, Evidence: e.Evidence, Workflow: e.Workflow,
		Hooks: e.Hooks, Subject: e.Subject, Data: e.Data, Inputs: e.Inputs, Prev: e.Prev, Hash: e.Hash,
	}
	w.Counters = make(map[string]int, len(e.Counters))
	for _, c := range e.Counters {
		w.Counters[c.Name] = c.Value
	}
	return w
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(text []byte) error {
	var w wireEvent
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	at, err := time.Parse(time.RFC3339Nano, w.Time)
	if err != nil {
		return fmt.Errorf("read event %d: time: %w", w.Seq, err)
	}
	*e = Event{
		Seq: w.Seq, Time: at, Type: w.Type, Actor: w.Actor, ActingAs: w.ActingAs, Person: w.Person,
		From: w.From, To: w.To, In: w.In, Crash: w.Crash, Reason: w.Reason, Evidence: w.Evidence, Workflow: w.Workflow,
		Hooks: w.Hooks, Subject: w.Subject, Data: w.Data, Inputs: w.Inputs, Prev: w.Prev, Hash: w.Hash,
	}
	for name, value := range w.Counters { // any order will do: With keeps the list sorted
		e.Counters = e.Counters.With(name, value)
	}
	return nil
}

// Told is what an event tells besides its own fields: its data, and of a crash the status and the number.
func (e Event) Told() map[string]string {
	if e.Type != AgentCrashed {
		return e.Data
	}
	data := maps.Clone(e.Data)
	if data == nil {
		data = map[string]string{}
	}
	data[DataStatus], data[task.CrashCount] = string(e.In), strconv.Itoa(e.Crash)
	return data
}

// IsMove reports whether the event changed the status.
func (e Event) IsMove() bool { return e.Type == StatusChanged || e.Type == AutoAdvanced }

// Seal gives the event its number, links it to the one before it and adds its hash.
func Seal(e Event, seq int, prev string) (Event, error) {
	sealed, _, err := seal(e, seq, prev)
	return sealed, err
}

// seal answers the sealed event, and the text over which its hash is: its line less the hash at the end.
func seal(e Event, seq int, prev string) (sealed Event, text []byte, err error) {
	e = clean(e)
	e.Seq, e.Prev, e.Hash = seq, prev, ""
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	if text, err = json.Marshal(e.wire()); err != nil {
		return Event{}, nil, fmt.Errorf("seal event %d: %w", seq, err)
	}
	sum := sha256.Sum256(text)
	e.Hash = hex.EncodeToString(sum[:])
	return e, text, nil
}

// isLine reports whether a line is that of a sealed event: the text that was sealed, with the hash as its last key.
func isLine(line, text []byte, hash string) bool {
	most, end := text[:len(text)-len("}")], `,"hash":"`+hash+`"}`
	return len(line) == len(most)+len(end) && bytes.HasPrefix(line, most) && string(line[len(most):]) == end
}

// Keys in the data of an event that was asked for under a key, with the digest of the request, and of one that a person
// has signed, with what they signed.
const (
	dataAsk       = "ask"
	dataAsked     = "asked"
	dataSigned    = "signed"
	dataSignature = "signature"
)

// Sign is the event with who asked for it, under which key, and what they have signed of it.
func Sign(a task.Actor, e Event) Event {
	e.Actor, e.ActingAs, e.Person, e.Call = a.Name(), a.As, a.Person, a.Call
	if a.Key == "" && a.Signature == "" {
		return e
	}
	data := map[string]string{}
	if a.Key != "" {
		data[dataAsk], data[dataAsked] = a.Key, a.Asked
	}
	if a.Signature != "" {
		data[dataSigned], data[dataSignature] = a.Signed, a.Signature
	}
	for key, value := range e.Data { // the order does not matter to a map
		if _, own := data[key]; !own {
			data[key] = value
		}
	}
	e.Data = data
	return e
}

// Asked is the key under which the event was asked for, and the digest of that request; empty where it had no key.
func (e Event) Asked() (key, request string) { return e.Data[dataAsk], e.Data[dataAsked] }

// Proof is what a person has signed of the request for the event, and the signature; empty where they have not.
func (e Event) Proof() (signed, signature string) { return e.Data[dataSigned], e.Data[dataSignature] }
