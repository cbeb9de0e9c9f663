package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/task"
	"orange/internal/workflow"
)

// Library is where a replay finds what is kept. What cannot be looked at is an error; what is lost is task.ErrNotFound.
type Library struct {
	Rules func(digest string) (*workflow.Definition, error)
	Texts Texts
}

// Replayed is what came of making every decision of a history again.
type Replayed struct {
	Task       string       `json:"task"`
	Decisions  int          `json:"decisions"`  // made again
	Equal      int          `json:"equal"`      // of those, with the very same outcome
	Skipped    int          `json:"skipped"`    // events that tell of what was done, and were not decided
	Unrecorded int          `json:"unrecorded"` // events that were decided before inputs were kept
	Untold     []Difference `json:"untold"`     // decisions that cannot be made again, and why
	Different  []Difference `json:"different"`
}

// Difference is a decision that came out otherwise.
type Difference struct {
	Event    int    `json:"event"`
	Type     string `json:"type"`
	Why      string `json:"why,omitempty"`
	Recorded string `json:"recorded"`
	Decided  string `json:"decided,omitempty"`
}

// Replay makes every decision of a history again, from what was recorded alone, and compares the events that follow byte by byte.
// Under other rules it makes them by those instead, and compares what became of each. Of t it takes what no history says, id and project.
// Lines are the whole history, one event each. One that cannot be read is an error; whether the chain holds is another question.
func Replay(t task.Task, lines []string, library Library, other *workflow.Definition) (Replayed, error) {
	r := replay{Replayed: Replayed{Task: t.ID, Untold: []Difference{}, Different: []Difference{}}, library: library, other: other, task: task.Task{ID: t.ID, Project: t.Project}}
	for i, line := range lines {
		var e task.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return r.Replayed, fmt.Errorf("event %d of task %s: %w", i+1, t.ID, err)
		}
		r.events = append(r.events, e)
	}
	for at := 0; at < len(r.events); {
		steps, err := r.step(at, lines)
		if err != nil {
			return r.Replayed, err
		}
		for range steps {
			r.follow(at)
			at++
		}
	}
	return r.Replayed, nil
}

// replay is a history on its way.
type replay struct {
	Replayed
	library Library
	other   *workflow.Definition
	events  []task.Event
	task    task.Task // as the events that were passed tell
	spent   []task.Spent
}

// follow passes an event. Evidence that moved the task twice counts as spent by the later move.
func (r *replay) follow(at int) {
	e := r.events[at]
	r.task = task.Follow(r.task, e)
	if !e.IsMove() {
		return
	}
	for _, evidence := range e.Evidence {
		r.spent = slices.DeleteFunc(r.spent, func(s task.Spent) bool { return s.Evidence == evidence })
		r.spent = append(r.spent, task.Spent{Evidence: evidence, Seq: e.Seq})
	}
}

// step makes the decision that begins with an event again, and answers how many events it has.
func (r *replay) step(at int, lines []string) (int, error) {
	first := r.events[at]
	switch {
	case len(first.Inputs) == 0 && decides(&first):
		r.Unrecorded++
		return 1, nil
	case len(first.Inputs) == 0:
		r.Skipped++
		return 1, nil
	}
	var in Inputs
	if err := json.Unmarshal(first.Inputs, &in); err != nil {
		r.untold(at, "its inputs cannot be read: "+err.Error(), lines)
		return 1, nil
	}
	recorded := 1 // the events of a decision stand together: the first has inputs, and those behind it were decided with it
	for at+recorded < len(r.events) && len(r.events[at+recorded].Inputs) == 0 && decides(&r.events[at+recorded]) {
		recorded++
	}
	digest := first.Workflow
	if digest == "" {
		digest = r.task.Workflow.Digest
	}
	def, err := r.library.Rules(digest)
	if errors.Is(err, task.ErrNotFound) {
		r.untold(at, err.Error(), lines)
		return recorded, nil
	}
	if err != nil {
		return 0, err
	}
	past := Past{Task: r.task, Spent: r.spent, Events: r.events[:at], Event: first, Texts: r.library.Texts}
	if r.other != nil {
		return recorded, r.under(in, past, at, recorded, lines)
	}
	c, err := in.Again(def, past)
	if errors.Is(err, ErrLost) {
		r.untold(at, err.Error(), lines)
		return recorded, nil
	}
	var refused *Rejection
	if err != nil && !errors.As(err, &refused) {
		return 0, err
	}
	r.Decisions++
	if refused != nil {
		r.Different = append(r.Different, Difference{Event: first.Seq, Type: first.Type, Recorded: lines[at], Decided: "refused: " + refused.Error()})
		return recorded, nil
	}
	return recorded, r.compare(c, at, recorded, lines)
}

// compare seals the events of a change as they would have been recorded, each behind the one that is on record.
func (r *replay) compare(c task.Change, at, recorded int, lines []string) error {
	equal := true
	for i := range max(len(c.Events), recorded) {
		decided, prev := "", ""
		if at+i > 0 {
			prev = r.events[at+i-1].Hash
		}
		if i < len(c.Events) {
			e := c.Events[i]
			if i == 0 {
				e.Inputs = r.events[at].Inputs
			}
			sealed, err := task.Seal(e, at+i+1, prev)
			if err != nil {
				return err
			}
			text, err := json.Marshal(sealed)
			if err != nil {
				return fmt.Errorf("write event %d again: %w", at+i+1, err)
			}
			decided = string(text)
		}
		on := ""
		if i < recorded {
			on = lines[at+i]
		}
		if on != decided {
			equal = false
			r.Different = append(r.Different, Difference{Event: at + i + 1, Type: r.events[min(at+i, len(r.events)-1)].Type, Recorded: on, Decided: decided})
		}
	}
	if equal {
		r.Equal++
	}
	return nil
}

// under makes a decision by other rules.
func (r *replay) under(in Inputs, past Past, at, recorded int, lines []string) error {
	if in.Ask == AskMigrate || in.Ask == AskQueue || in.Ask == AskPR {
		r.Skipped += recorded // no rule of a workflow was asked
		return nil
	}
	if place(r.other, r.task.Status) < 0 && in.Ask != AskCreate && in.Ask != AskPlan {
		r.untold(at, fmt.Sprintf("the workflow %q has no state %q", r.other.Name, r.task.Status), lines)
		return nil
	}
	if unseen := in.unseen(r.other, in.task(r.task)); len(unseen) > 0 && !in.Override {
		r.untold(at, "nobody looked at "+strings.Join(unseen, ", "), lines)
		return nil
	}
	c, err := in.Again(r.other, past)
	var refused *Rejection
	switch {
	case errors.Is(err, ErrLost):
		r.untold(at, err.Error(), lines)
		return nil
	case errors.As(err, &refused):
		c.Events = nil
	case err != nil:
		return err
	}
	r.Decisions++
	was, is := outcome(r.events[at:at+recorded]), outcome(c.Events)
	if refused != nil {
		is = "refused: " + refused.Code
		if lack := reasons(refused.Details); lack != "" {
			is += " (" + lack + ")"
		}
	} else if len(c.Events) == 0 {
		is = "nothing"
	}
	if was == is {
		r.Equal++
		return nil
	}
	r.Different = append(r.Different, Difference{Event: past.Event.Seq, Type: past.Event.Type, Recorded: was, Decided: is})
	return nil
}

func (r *replay) untold(at int, why string, lines []string) {
	e := r.events[at]
	d := Difference{Event: e.Seq, Type: e.Type, Why: why, Recorded: lines[at]}
	if r.other != nil {
		d.Recorded = outcome(r.events[at : at+1])
	}
	r.Untold = append(r.Untold, d)
}
