// Package replay records what a decision was made from, and makes decisions again from their history alone.
//
// It owns the inputs that an event keeps, and the comparison of what was recorded with what
// the same rules, or other ones, decide. It does not own the rules: package decide has them. It touches no file and
// reads no clock: its caller hands in the history and the texts that are kept. It implements docs/proof.md, "The past
// can be decided again: replay".
package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/edition"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Library is where a replay finds what is kept. A failure to look is an error; what is lost is task.ErrNotFound.
type Library struct {
	Rules func(digest string) (*workflow.Definition, error)
	Texts Texts
}

// Rules are those by which past decisions are made again.
type Rules struct {
	Workflow string // a file or a name; empty for those that each was made by
	Own      bool   // only tasks of the workflow of that name are looked at
}

// Replays are decisions that were made again.
type Replays struct {
	Tasks  []Replayed
	Others map[string]int // how many tasks of other workflows were left out, by the workflow's name
}

// Replayed is the result of making every decision of a history again.
type Replayed struct {
	Task      string `json:"task"`
	Decisions int    `json:"decisions"` // made again
	Equal     int    `json:"equal"`     // of those, the ones with exactly the same outcome
	Skipped   int    `json:"skipped"`   // events that record what was done, and were not decided
	// decisions by another edition of the rules, which replay does not repeat
	OtherEdition int          `json:"other_edition"`
	Untold       []Difference `json:"untold"` // decisions that cannot be made again, and why
	Different    []Difference `json:"different"`
	// why replay could not look at the task, at all or from some event on
	Trouble string `json:"trouble,omitempty"`
}

// Difference is a decision that had a different outcome, or that could not be made again.
type Difference struct {
	Event int    `json:"event"`
	Type  string `json:"type"`
	Why   string `json:"why,omitempty"`
	// For a decision that cannot be made again: the reason in words shared with other decisions, the status that the
	// task had, and the parts that Orange did not look at then.
	Reason   string      `json:"reason,omitempty"`
	State    task.Status `json:"state,omitempty"`
	Parts    []string    `json:"parts,omitempty"`
	Recorded string      `json:"recorded"`
	Decided  string      `json:"decided,omitempty"`
}

// Replay makes every decision of a history again, only from what was recorded, and compares the resulting events byte
// by byte. If other is not nil, it decides by that workflow instead, and compares what became of each request. Of t
// it uses what no history says: id and project. Lines are the whole history, one event each. A line that cannot be
// read is an error. Replay does not check whether the chain holds.
func Replay(t task.Task, lines []string, library Library, other *workflow.Definition) (Replayed, error) {
	r := replay{Replayed: Replayed{Task: t.ID, Untold: []Difference{}, Different: []Difference{}},
		library: library, other: other, task: task.Task{ID: t.ID, Project: t.Project},
		traces: Traces{Hooks: map[int]string{}}}
	for i, line := range lines {
		var e history.Event
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
		r.trace(at)
	}
	return r.Replayed, nil
}

type replay struct {
	Replayed
	library Library
	other   *workflow.Definition
	events  []history.Event
	task    task.Task // as the events so far have it
	spent   []task.Spent
	traces  Traces
	passed  int  // how many events the traces cover
	blind   bool // the event that began the present status has lost its inputs: what was there then is unknown
}

// follow passes an event. Evidence that moved the task twice counts as spent by the later move.
func (r *replay) follow(at int) {
	e := r.events[at]
	r.task = history.Follow(r.task, e)
	if !e.IsMove() {
		return
	}
	for _, evidence := range e.Evidence {
		r.spent = slices.DeleteFunc(r.spent, func(s task.Spent) bool { return s.Evidence == evidence })
		r.spent = append(r.spent, task.Spent{Evidence: evidence, Seq: e.Seq})
	}
}

// trace reads what the history says in addition to the task itself, up to a position.
func (r *replay) trace(to int) {
	for r.passed < to {
		stripped := len(r.traces.Stripped)
		n, err := r.traces.pass(r.events, r.passed)
		if last := r.passed + n - 1; enters(&r.events[last]) {
			r.blind = err != nil || len(r.traces.Stripped) > stripped
		}
		r.passed += n
	}
}

// step makes the decision that begins with an event again, and returns how many events it has.
func (r *replay) step(at int, lines []string) (int, error) {
	first := r.events[at]
	switch {
	case len(first.Inputs) == 0 && decides(&first):
		r.cannotTell(at, gone, stripped, lines)
		return 1, nil
	case len(first.Inputs) == 0:
		r.Skipped++
		return 1, nil
	}
	var in Inputs
	if err := json.Unmarshal(first.Inputs, &in); err != nil {
		r.cannotTell(at, "its inputs cannot be read", "its inputs cannot be read: "+err.Error(), lines)
		return 1, nil
	}
	if in.Ask == AskAdopt {
		r.Skipped++
		return 1, nil
	}
	recorded := together(r.events, at)
	if in.Rules != edition.Rules {
		return recorded, r.elsewhere(in, at, recorded, lines)
	}
	digest := first.Workflow
	if digest == "" {
		digest = r.task.Workflow.Digest
	}
	def, err := r.library.Rules(digest)
	if errors.Is(err, task.ErrNotFound) {
		r.cannotTell(at, "its workflow is lost", err.Error(), lines)
		return recorded, nil
	}
	if err != nil {
		return 0, err
	}
	def = def.Protecting(in.Protected, in.MayChange)
	if asked := cmp.Or(r.other, def); r.blind && len(workflow.Since(in.parts(asked, in.task(r.task)))) > 0 {
		const why = "what stood there when its status began is gone with the inputs of the event that began it"
		r.cannotTell(at, why, why, lines)
		return recorded, nil
	}
	past := Past{Task: r.task, Spent: r.spent, Entry: r.traces.Entry, Start: r.traces.Start,
		Events: r.events[:at], Event: first, Texts: r.library.Texts}
	if r.other != nil {
		return recorded, r.under(in, past, at, recorded, lines)
	}
	c, err := in.Again(def, past)
	if errors.Is(err, ErrLost) {
		r.cannotTell(at, ErrLost.Error(), err.Error(), lines)
		return recorded, nil
	}
	var refused *rejection.Rejection
	if err != nil && !errors.As(err, &refused) {
		return 0, err
	}
	r.Decisions++
	if refused != nil {
		r.Different = append(r.Different, Difference{Event: first.Seq, Type: first.Type, Recorded: lines[at],
			Decided: "refused: " + refused.Error()})
		return recorded, nil
	}
	return recorded, r.compare(c, in, at, recorded, lines)
}

// Why a decision without inputs cannot be made again, in short and at length: every decision has some.
const (
	gone     = "what it was made from is gone"
	stripped = gone + ": every decision keeps its inputs, and these were taken away"
)

// together is how many events a decision has: the first has its inputs, and the ones after it without inputs were
// decided with it, at the same time.
func together(events []history.Event, at int) int {
	n := 1
	for at+n < len(events) {
		next := &events[at+n]
		if len(next.Inputs) > 0 || !decides(next) || !next.Time.Equal(events[at].Time) {
			break
		}
		n++
	}
	return n
}

// elsewhere passes a decision of another edition of the rules. Even so, its texts have to exist, and its events have
// to be as they were sealed.
func (r *replay) elsewhere(in Inputs, at, recorded int, lines []string) error {
	r.OtherEdition++
	for _, s := range in.Read {
		_, err := r.library.Texts.of(s)
		if errors.Is(err, ErrLost) {
			r.cannotTell(at, ErrLost.Error(), err.Error(), lines)
			return nil
		}
		if err != nil {
			return err
		}
	}
	_, err := r.differs(r.events[at:at+recorded], at, recorded, lines)
	return err
}

// compare checks whether a change is the one that was recorded.
func (r *replay) compare(c record.Change, in Inputs, at, recorded int, lines []string) error {
	equal, err := r.differs(c.Events, at, recorded, lines)
	if err != nil || !equal {
		return err
	}
	hooks, err := HooksDigest(c.Hooks)
	if err != nil {
		return err
	}
	if hooks != in.Hooks {
		last := &r.events[at+recorded-1]
		r.Different = append(r.Different, Difference{
			Event: last.Seq, Type: last.Type, Recorded: "hooks with the digest " + cmp.Or(in.Hooks, "of none"),
			Decided: "hooks with the digest " + cmp.Or(hooks, "of none")})
		return nil
	}
	r.Equal++
	return nil
}

// differs seals events as Orange would have recorded them, each after the one that was recorded, and reports whether
// all are the same.
func (r *replay) differs(again []history.Event, at, recorded int, lines []string) (equal bool, err error) {
	equal = true
	for i := range max(len(again), recorded) {
		decided, prev := "", ""
		if at+i > 0 {
			prev = r.events[at+i-1].Hash
		}
		if i < len(again) {
			e := again[i]
			if i == 0 {
				e.Inputs = r.events[at].Inputs
			}
			sealed, err := history.Seal(e, at+i+1, prev)
			if err != nil {
				return false, err
			}
			text, err := json.Marshal(sealed)
			if err != nil {
				return false, fmt.Errorf("write event %d again: %w", at+i+1, err)
			}
			decided = string(text)
		}
		on := ""
		if i < recorded {
			on = lines[at+i]
		}
		if on != decided {
			equal = false
			r.Different = append(r.Different, Difference{
				Event: at + i + 1, Type: r.events[min(at+i, len(r.events)-1)].Type, Recorded: on, Decided: decided})
		}
	}
	return equal, nil
}

func (r *replay) under(in Inputs, past Past, at, recorded int, lines []string) error {
	switch in.Ask {
	case AskMigrate, AskQueue, AskPR, AskLanded, AskRetry, AskSettled, AskFree, AskNote,
		AskGoOn:
		r.Skipped += recorded // no rule of a workflow was asked
		return nil
	}
	if _, known := r.other.State(r.task.Status); !known && in.Ask != AskCreate && in.Ask != AskPlan {
		r.cannotTell(at, "the workflow has no such state", fmt.Sprintf("the workflow %q has no state %q",
			r.other.Name, r.task.Status), lines)
		return nil
	}
	unseen := in.unseenParts(r.other, in.task(r.task))
	if in.Override {
		unseen = nil // an override does not depend on them, however many there are
	}
	is, sure, err := in.decideSupposing(r.other, past, unseen)
	switch {
	case errors.Is(err, ErrLost):
		r.cannotTell(at, ErrLost.Error(), err.Error(), lines)
		return nil
	case err != nil:
		return err
	case !sure:
		parts := names(unseen)
		r.cannotTell(at, nobodyLooked, "no one looked at "+strings.Join(parts, ", "), lines)
		r.Untold[len(r.Untold)-1].Parts = parts
		return nil
	}
	r.Decisions++
	was := outcome(r.events[at : at+recorded])
	if was == is.text {
		r.Equal++
		return nil
	}
	r.Different = append(r.Different, Difference{Event: past.Event.Seq, Type: past.Event.Type, Recorded: was,
		Decided: is.text})
	return nil
}

// cannotTell notes a decision that cannot be made again: the reason in words shared with other decisions, and in its
// own words.
func (r *replay) cannotTell(at int, reason, why string, lines []string) {
	e := r.events[at]
	d := Difference{Event: e.Seq, Type: e.Type, Why: why, Reason: reason, State: r.task.Status, Recorded: lines[at]}
	if r.other != nil {
		d.Recorded = outcome(r.events[at : at+1])
	}
	r.Untold = append(r.Untold, d)
}
