package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// Keys of an event's data from which a task can be reported again.
const (
	DataStatus        = "status"
	DataBranch        = "branch"
	DataSession       = "session"
	DataSummary       = "summary"
	DataWorkflow      = "workflow"
	DataHarness       = "harness"
	DataReviewHarness = "review_harness"
	DataEffort        = "effort"
	DataReviewEffort  = "review_effort"
	DataModel         = "model"
	DataReviewModel   = "review_model"
	DataAdopted       = "adopted"    // the task was taken over from a folder that had no history to trust
	dataCreatedAt     = "created_at" // when a task was made that was taken over later
	DataPrevious      = "previous"   // the state before the present one, where a migration gave it another name
	dataWaitsFor      = "waits_for"  // the ids of the tasks that it waits for, separated by commas
	// the state that a queued task waits for, where a migration gave it another name, or a workspace ended the wait
	DataQueued = "queued_for"
)

// Fold reports a task from its history alone: what the history does not say (id, project, workspace, version) stays
// empty. It is exact after every event, whatever is still owed then. The history must be whole, as ReadHistory
// gives it.
func Fold(events []Event) (task.Task, []task.Spent, error) {
	var t task.Task
	var spent []task.Spent
	if len(events) == 0 || events[0].Type != Created {
		return t, nil, fmt.Errorf("cannot tell a task from its history: it does not begin with %q", Created)
	}
	for i, e := range events {
		if i > 0 && e.Type == Created {
			return t, nil, fmt.Errorf("cannot tell a task from its history: event %d makes it a second time", e.Seq)
		}
		if e.IsMove() && e.From != t.Status {
			return t, nil, fmt.Errorf(
				"cannot tell a task from its history: event %d moves it from %q, and it was %q", e.Seq, e.From,
				t.Status)
		}
		t = Follow(t, e)
		if e.IsMove() {
			for _, evidence := range e.Evidence {
				spent = append(spent, task.Spent{Evidence: evidence, Seq: e.Seq})
			}
		}
	}
	if t.Status == "" {
		return t, nil, fmt.Errorf("cannot tell a task from its history: event 1 does not say its status")
	}
	return t, spent, nil
}

// Follow is a task after one more event of its history, as far as the history says.
func Follow(t task.Task, e Event) task.Task {
	t.Seq, t.Hash, t.UpdatedAt = e.Seq, e.Hash, e.Time
	if len(e.Counters) > 0 {
		t.Counters = e.Counters
	}
	if e.Workflow != "" {
		t.Workflow.Digest = e.Workflow
	}
	if e.IsMove() || e.Subject != (task.Subject{}) {
		t.Subject = e.Subject
	}
	switch e.Type {
	case Created:
		t.Status, t.CreatedAt, t.EnteredAt = task.Status(e.Data[DataStatus]), e.Time, e.Time
		if at, err := time.Parse(task.TimeFormat, e.Data[dataCreatedAt]); err == nil {
			t.CreatedAt = at
		}
		t = withNames(withFields(t, e.Data), e.Data)
	case Updated:
		t = withFields(t, e.Data)
		t.Session = valueOr(e.Data, DataSession, t.Session) // its name went with the branch's
		t.QueuedFor = task.Status(valueOr(e.Data, DataQueued, string(t.QueuedFor)))
	case AgentRespawned:
		t.QueuedFor = task.Status(valueOr(e.Data, DataQueued, string(t.QueuedFor)))
	case StatusChanged, AutoAdvanced:
		if e.To != t.Status { // one that begins its status again came from where it came from before
			t.Previous = t.Status
		}
		t.Status, t.EnteredAt, t.QueuedFor, t.Overdue, t.After = e.To, e.Time, "", 0, nil
		t = withNames(t, e.Data)
	case WorkflowMigrated:
		t.Workflow.Name = valueOr(e.Data, DataWorkflow, t.Workflow.Name)
		t = withNames(t, e.Data)
	case QueuedForSpace:
		t.QueuedFor, t.After = task.Status(e.Data["for"]), nil
	case AgentSpawned, ReviewStarted:
		t.Session = e.Data[DataSession]
		if e.Type == ReviewStarted {
			t.ReviewHarness = valueOr(e.Data, DataHarness, t.ReviewHarness)
		} else {
			t.Harness = valueOr(e.Data, DataHarness, t.Harness)
		}
	case TimeoutWarning, TimeoutAlert, TimeoutEscalated:
		if level, err := strconv.Atoi(e.Data[DataLevel]); err == nil {
			t.Overdue = level
		}
	case AgentStopped:
		if e.Data["role"] == "all" {
			t.Session = ""
		}
	}
	return t
}

// withNames takes over what a migration says of the names that other states have under the new rules.
func withNames(t task.Task, data map[string]string) task.Task {
	t.Previous = task.Status(valueOr(data, DataPrevious, string(t.Previous)))
	t.QueuedFor = task.Status(valueOr(data, DataQueued, string(t.QueuedFor)))
	if after := data[dataWaitsFor]; after != "" {
		t.After = strings.Split(after, ",")
	}
	return t
}

// withFields takes over what an event says of the fields that people set.
func withFields(t task.Task, data map[string]string) task.Task {
	t.Branch = valueOr(data, DataBranch, t.Branch)
	t.Summary = valueOr(data, DataSummary, t.Summary)
	t.Workflow.Name = valueOr(data, DataWorkflow, t.Workflow.Name)
	t.Harness = valueOr(data, DataHarness, t.Harness)
	t.ReviewHarness = valueOr(data, DataReviewHarness, t.ReviewHarness)
	t.Effort = valueOr(data, DataEffort, t.Effort)
	t.ReviewEffort = valueOr(data, DataReviewEffort, t.ReviewEffort)
	t.Model = valueOr(data, DataModel, t.Model)
	t.ReviewModel = valueOr(data, DataReviewModel, t.ReviewModel)
	return t
}

func valueOr(data map[string]string, key, otherwise string) string {
	if value, said := data[key]; said {
		return value
	}
	return otherwise
}

// Disagree reports in words where a task on record is not what its history says; nothing where both say the same.
// All that a guard or a gate can read of a task is compared. What people own is not: a record that is rebuilt
// takes it from the header of TASK.md.
func Disagree(t task.Task, events []Event) ([]string, error) {
	told, _, err := Fold(events)
	if err != nil {
		return nil, err
	}
	var out []string
	tell := func(what, history, record string) {
		if history != record {
			out = append(out, fmt.Sprintf("its %s is %q by its history, and %q on record", what, history, record))
		}
	}
	tell("number of events", strconv.Itoa(told.Seq), strconv.Itoa(t.Seq))
	tell("hash", told.Hash, t.Hash)
	tell("status", string(told.Status), string(t.Status))
	tell("branch", told.Branch, t.Branch)
	tell("workflow", told.Workflow.Digest, t.Workflow.Digest)
	if told.Subject != t.Subject {
		out = append(out, fmt.Sprintf("its subject is %+v by its history, and %+v on record", told.Subject, t.Subject))
	}
	tell("previous status", string(told.Previous), string(t.Previous))
	tell("queue", string(told.QueuedFor), string(t.QueuedFor))
	tell("wait for tasks", strings.Join(told.After, ","), strings.Join(t.After, ","))
	tell("lateness", strconv.Itoa(told.Overdue), strconv.Itoa(t.Overdue))
	for _, c := range slices.Concat(told.Counters, t.Counters) {
		tell(c.Name, strconv.Itoa(told.Counters.Get(c.Name)), strconv.Itoa(t.Counters.Get(c.Name)))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
