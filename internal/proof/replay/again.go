package replay

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Past is a task's history up to a decision, and what is kept of the decision's inputs.
type Past struct {
	Task   task.Task       // as the history before the decision has it
	Spent  []task.Spent    // what earlier moves relied on
	Entry  []task.Evidence // what was there when its status began
	Start  []task.Evidence // the verdicts that were there when its status's agent last started
	Events []history.Event // all before the decision
	Event  history.Event   // the decision's own first event, as recorded
	Texts  Texts
}

// Texts returns the text that is kept under a digest.
type Texts func(digest string) (text string, kept bool, err error)

// of returns a section's text; ErrLost if it is not kept or has changed.
func (texts Texts) of(s Section) (string, error) {
	text, kept, err := texts(s.Digest)
	if err == nil && (!kept || document.Digest(text) != s.Digest) {
		err = fmt.Errorf("%w: %s, %s", ErrLost, document.QuoteHeading(s.Name), s.Digest)
	}
	return text, err
}

// ErrLost says that a decision cannot be made again: a text that it was made from is not kept any more.
var ErrLost = errors.New("a text that the decision was made from is lost, or was changed")

// Again makes a decision again: with the same code, from nothing but what was recorded. A no is a *Rejection.
func (in Inputs) Again(def *workflow.Definition, p Past) (record.Change, error) {
	t := in.task(p.Task)
	actor := task.Actor{Role: in.Role, As: in.As, Rule: in.Rule, Person: in.Person, Via: in.Via,
		May: in.May}
	actor.Key, actor.Asked = p.Event.Asked()
	actor.Signed, actor.Signature = p.Event.Proof()
	ev, err := in.evidence(def, p)
	if err != nil {
		return record.Change{}, err
	}
	switch in.Ask {
	case AskCreate, AskPlan:
		t = task.Task{ID: t.ID, Project: t.Project, Branch: p.Event.Data[history.DataBranch],
			Summary: p.Event.Data[history.DataSummary], After: history.Follow(task.Task{}, p.Event).After,
			PRURL: p.Event.Data["url"]}
		if in.Ask == AskPlan {
			return withPromise(p, func() (record.Change, error) { return decide.CreateFromPlan(def, t, actor, in.Now) })
		}
		return withPromise(p, func() (record.Change, error) { return decide.Create(def, t, in.To, actor, in.Now) })
	case AskMove:
		req := task.Request{Task: t.ID, To: in.To, Actor: actor, Reason: p.Event.Reason, Override: in.Override}
		d, err := decide.Transition(def, t, ev, req, in.Now)
		return d.Change, err
	case AskQueue:
		return decide.Queue(def, t, in.To, actor, in.Now), nil
	case AskDeath:
		death := in.death()
		death.Task, death.LastWords = t.ID, p.Event.Data[task.DataLastWords]
		return decide.Exit(def, t, ev, death, in.Now), nil
	case AskGoOn:
		rest := cmp.Or(in.Rest, &Resting{})
		c, _, _ := decide.GoOn(def, t, rest.Role, task.Limit(rest.Limit), rest.Since, in.Now)
		return c, nil
	case AskRespawn:
		return decide.Respawn(def, t, false, in.Missing, actor, in.Now)
	case AskRedo:
		return decide.Redo(def, t, in.To, ev, p.Events, actor, p.Event.Reason, in.Now)
	case AskMigrate:
		t.Workflow.Version, _ = strconv.Atoi(p.Event.Data["from_version"]) // only this event has it
		return decide.Migrate(def, t, nil, in.Stands, ev, actor, in.Now)
	case AskTimeout:
		own := task.Timeouts{}
		if in.Limit != nil {
			own[t.Status] = *in.Limit
		}
		c, _ := decide.Timer(def, own, t, in.Now)
		return in.addEscalation(def, c, t, ev), nil
	case AskRefused:
		c, _ := decide.RefusedOften(def, t, *cmp.Or(in.Refused, &record.Refusals{}), in.Now)
		return in.addEscalation(def, c, t, ev), nil
	case AskPR:
		return decide.RequestPR(def, record.Snapshot{Task: t}, true, true, record.ForgeGitHub, actor, in.Now)
	case AskPREnded:
		pr, _ := in.pull()
		return decide.PREnded(def, t, ev, pr, in.Against, in.Now), nil
	case AskLanded:
		pr, noted := in.pull()
		return decide.NoteMerged(def, t, pr, noted, p.Events, actor, in.Now), nil
	case AskBack:
		back := in.setback()
		back.Reason = p.Event.Reason
		c, _ := back.Change(def, t, ev, p.Events, in.Against, in.Now)
		return c, nil
	case AskRetry:
		return decide.Retry(def, record.Snapshot{Task: t, Owed: failedHooks(p.Event.Data["hook"])},
			p.Event.Data["dropped"] != "", actor, in.Now)
	case AskNote:
		return notedAgain(def, t, actor, p.Event), nil
	case AskSettled:
		c, _ := decide.ForgetCrashes(t, nil, p.Events, in.Now)
		return c, nil
	case AskFree:
		t.Session, t.Workspace = p.Event.Data["session"], p.Event.Data["workspace"]
		c, _ := decide.Free(t, nil, in.Now)
		return c, nil
	}
	return record.Change{}, fmt.Errorf("cannot make the decision of event %d again: its inputs ask for %q, "+
		"which this program does not know; use a newer orange", p.Event.Seq, in.Ask)
}

// withPromise is a task's creation with the promise of its project, as the history has that.
func withPromise(p Past, create func() (record.Change, error)) (record.Change, error) {
	c, err := create()
	if promise := guarantee.PromiseOf([]history.Event{p.Event}); err == nil && promise != "" {
		guarantee.Pin(&c.Events[0], strings.Split(promise, "\n"))
	}
	return c, err
}

// task is the task as it was at the decision: what its history says, and what the inputs add.
func (in *Inputs) task(t task.Task) task.Task {
	t.Live = !in.Over
	t.PRURL, t.PRState, t.Pushed = "", "", ""
	if in.PRHas != nil {
		t.PRURL, t.PRState, t.Pushed = "its pull request", record.PROpen, *in.PRHas
	}
	t.Workspace = ""
	if in.Workspace {
		t.Workspace = "its workspace" // no decision depends on which one
	}
	if !in.Entered.IsZero() {
		t.EnteredAt = in.Entered
	}
	return t
}

// addEscalation adds the move that the workflow wanted after a change.
func (in *Inputs) addEscalation(def *workflow.Definition, c record.Change, t task.Task,
	ev decide.Evidence) record.Change {
	if _, wanted := decide.Escalation(def, c); !wanted {
		return c
	}
	if in.NoRoom {
		return decide.Escalate(def, c, t, decide.Evidence{NoRoom: true}, in.Now)
	}
	return decide.Escalate(def, c, t, ev, in.Now)
}

// evidence is the evidence as it was, as far as the decision looked at it.
func (in *Inputs) evidence(def *workflow.Definition, p Past) (decide.Evidence, error) {
	ev := decide.Evidence{Trouble: in.Trouble, TooLarge: in.TooLarge, Spent: p.Spent, Entry: p.Entry, Start: p.Start,
		Landed: in.Landed, History: p.Events}
	if in.Subject != nil {
		ev.Subject = *in.Subject
	}
	if in.Names != nil {
		told := make([]document.Recorded, len(in.Read))
		for i, s := range in.Read {
			text, err := p.Texts.of(s)
			if err != nil {
				return ev, err
			}
			told[i] = document.Recorded{Name: s.Name, Line: s.Line, Copies: s.Copies, Text: text}
		}
		ev.Document = document.FromRecorded(in.Names, in.More, told, in.Problems)
	}
	if len(in.Facts) == 0 {
		return ev, nil
	}
	ev.Facts = map[string]decide.Fact{}
	for _, part := range allParts(def) {
		if f, seen := in.Facts[short(part.Key())]; seen {
			ev.Facts[part.Key()] = decide.Fact{Holds: f.Holds, Source: f.Source, Digest: f.Digest, Found: f.Found,
				Moved: f.Moved, Files: f.Files}
		}
	}
	return ev, nil
}

func allParts(def *workflow.Definition) []workflow.Part {
	var parts []workflow.Part
	def.EachGate(func(gate []workflow.Part) { parts = append(parts, workflow.Leaves(gate)...) })
	return parts
}

// decides reports whether an event is the answer to a question that package decide judges. Other events record what
// was done.
func decides(e *history.Event) bool {
	switch e.Type {
	case history.Created:
		return e.Data[history.DataAdopted] == ""
	case history.StatusChanged, history.AutoAdvanced, history.AgentCrashed, history.AgentLimited,
		history.MachineLost, history.AgentRespawned, history.QueuedForSpace,
		history.WorkflowMigrated,
		history.TimeoutWarning, history.TimeoutAlert, history.TimeoutEscalated, history.AgentRefused,
		history.PRRequested,
		history.PRLanded, history.PRDropped, history.SendBackRefused,
		history.CrashesForgotten, history.OrphanFreed, history.HooksRetried:
		return true
	case history.Merged:
		return e.Data["url"] != "" || len(e.Counters) > 0 // the event of a merge made here records what was done
	case history.Updated, history.MergeBegun, history.PersonSaid, history.AgentNotified:
		return len(e.Counters) > 0 // without counters it records what was done
	case history.AgentStopped:
		return e.Data["ended"] != "" // an agent that was ended on purpose has no such key
	}
	return false
}

// outcome describes what became of a request, as far as two workflows can answer it differently.
func outcome(events []history.Event) string {
	var said []string
	for i := range events {
		e := &events[i]
		text := e.Type
		switch {
		case e.IsMove():
			text = fmt.Sprintf("%s -> %s", e.From, e.To)
		case e.Type == history.Created:
			text = "created in " + e.Data[history.DataStatus]
		}
		if len(e.Hooks) > 0 {
			text += ", hooks: " + strings.Join(e.Hooks, ", ")
		}
		for _, c := range e.Counters {
			if c.Value != 0 {
				text += fmt.Sprintf(", %s = %d", c.Name, c.Value)
			}
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}

// notedAgain is the change of an event that Orange recorded for a person, as far as it was decided.
func notedAgain(def *workflow.Definition, t task.Task, actor task.Actor, recorded history.Event) record.Change {
	recorded.Seq, recorded.Prev, recorded.Hash, recorded.Inputs = 0, "", "", nil
	recorded.Counters, recorded.Workflow = nil, ""
	return decide.Note(def, t, t, actor, recorded)
}

// failedHooks are the hooks of these names, as they were when a person asked for them.
func failedHooks(names string) (owed []task.OwedHook) {
	for name := range strings.SplitSeq(names, ", ") {
		owed = append(owed, task.OwedHook{Hook: task.Hook{Action: name}, State: task.HookFailed})
	}
	return owed
}
