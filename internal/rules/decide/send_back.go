package decide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Setback is something that happened to the work of a task after it was judged, for which a workflow may have a rule
// that sends the task back.
type Setback struct {
	On     string `json:"on"`               // a word of workflow.SendBackEvents
	Reason string `json:"-"`                // what happened, in one line
	Text   string `json:"-"`                // for the worker, in the document; what is from outside is quoted
	Commit string `json:"commit,omitempty"` // that it is about
	// Facts are what tells of it, such as the run of a check or a review: each is used once. Empty where a person's
	// command tells.
	Facts []string `json:"facts,omitempty"`
}

// Target is where the rules of a task's status lead: the first one for it whose guards hold. It is empty where none
// does. Known is false if the status has no rule for it.
func (b Setback) Target(def *workflow.Definition, t task.Task) (to task.Status, known bool) {
	state, _ := def.State(t.Status)
	rules := state.SendBacks(b.On)
	for i := range rules {
		if len(sendBackUnmet(def, t, &rules[i])) == 0 {
			return rules[i].Then, true
		}
	}
	return "", len(rules) > 0
}

// sendBackUnmet lists the guards of a rule that do not hold. They see the counters as those of the move do.
func sendBackUnmet(def *workflow.Definition, t task.Task, rule *workflow.SendBack) []rejection.Detail {
	asked := workflow.Transition{When: rule.When}
	if ways := edges(def, t, rule.Then); len(ways) > 0 {
		asked.Failure = ways[0].Failure
	}
	return guardsUnmet(def, t, &asked)
}

// Change is what follows for a task: the move of a rule of its status, under the
// same conditions as any other request. If no rule applies any more, or the move is refused, the task is marked for a
// person. Due is false if nothing follows: there is no rule for it, or it was used before, or it is about another
// commit than the judged tip. Events are the task's whole history. Against is what prevents the move in addition to the
// workflow's rules; empty if nothing does.
func (b Setback) Change(def *workflow.Definition, t task.Task, ev Evidence, events []history.Event, against string,
	now time.Time) (c record.Change, due bool) {
	to, known := b.Target(def, t)
	if !known || !t.Live || !b.news(t, ev, events) {
		return record.Change{Task: t, Expect: t.Version}, false
	}
	data := map[string]string{b.On: strings.Join(b.Facts, "\n")}
	if b.Commit != "" {
		data["commit"] = b.Commit
	}
	if to == "" {
		against = cmp.Or(against, b.noRule(def, t))
	}
	if against == "" {
		decision, err := Transition(def, t, ev, task.Request{Task: t.ID, To: to, Actor: task.Actor{Rule: true},
			Reason: b.Reason}, now)
		if err == nil && decision.Moved {
			c = decision.Change
			move := &c.Events[len(c.Events)-1]
			move.Type = history.AutoAdvanced
			maps.Copy(data, move.Data)
			move.Data = data
			return c, true
		}
		against = refusal(err)
	}
	return b.markOnly(def, t, data, against, now), true
}

// news reports whether something that happened is about the work as it was judged, and has not been used yet. A person
// who merges answers for the commit.
func (b Setback) news(t task.Task, ev Evidence, events []history.Event) bool {
	if b.On == workflow.OnMergeFailed {
		return true
	}
	if b.Commit == "" || b.Commit != t.Subject.Commit || b.Commit != ev.Subject.Commit {
		return false
	}
	var used []string
	for i := range events {
		if facts, told := events[i].Data[b.On]; told {
			used = append(used, strings.Split(facts, "\n")...)
		}
	}
	return slices.ContainsFunc(b.Facts, func(fact string) bool { return !slices.Contains(used, fact) })
}

// sendsBack describes a rule of a task's status.
func sendsBack(def *workflow.Definition, t task.Task, rule *workflow.SendBack) rejection.Detail {
	d := rejection.Detail{Condition: "no " + strings.Join(rule.On, ", no "),
		Found: fmt.Sprintf("otherwise the task goes to %q", rule.Then), Want: "nothing: it happens by itself",
		Idle: true}
	if unmet := sendBackUnmet(def, t, rule); len(unmet) > 0 {
		d.Idle = false
		d.Found += ", but no longer: " + rejection.Reasons(unmet)
		d.Want = "look at what went wrong: Orange does not send it back again until a person acts on the task"
	}
	return d
}

// noRule says why none of a status's rules applies.
func (b Setback) noRule(def *workflow.Definition, t task.Task) string {
	state, _ := def.State(t.Status)
	var unmet []rejection.Detail
	for _, rule := range state.SendBacks(b.On) {
		unmet = append(unmet, sendBackUnmet(def, t, &rule)...)
	}
	return rejection.Reasons(unmet)
}

// markOnly marks a task that was not sent back.
func (b Setback) markOnly(def *workflow.Definition, t task.Task, data map[string]string, against string,
	now time.Time) record.Change {
	c := record.Change{Task: t, Expect: t.Version}
	mark := fmt.Sprintf("%s; it was not sent back: %s", b.Reason, against)
	if open := MayAsk(def, t, task.Actor{Role: task.RoleHuman}); len(open) > 0 {
		mark += fmt.Sprintf(" (moves that lead on from %q: %s)", t.Status, task.JoinStatuses(open))
	}
	c.Task.Attention, c.Task.UpdatedAt = mark, now
	data[history.DataRefused], data[history.DataStatus] = against, string(t.Status)
	c.Events = []history.Event{{
		Time: now, Type: history.SendBackRefused, Actor: task.ActorEngine, Reason: b.Reason, Workflow: def.Digest,
		Data: data,
	}}
	return c
}

// SentBack says what became of a task by a change of Setback.Change's: to who asked, and in the notice to people.
func SentBack(c record.Change) (became, notice string) {
	last := &c.Events[len(c.Events)-1]
	if last.IsMove() {
		return fmt.Sprintf("the task was sent back to %q, with what to do under %q in its document", last.To,
			FixInstructions), fmt.Sprintf("%s; it was sent back to %q", last.Reason, last.To)
	}
	return fmt.Sprintf("the task stays in %q and waits for a person, it was not sent back: %s",
		last.Data[history.DataStatus], last.Data[history.DataRefused]), c.Task.Attention
}

// mostNamed is how many files in conflict a reason names.
const mostNamed = 5

// OfMerge is a setback with what the worker has to know of a merge that failed.
func (b Setback) OfMerge(failed *record.Unmerged) Setback {
	if len(failed.Files) == 0 {
		b.Reason = fmt.Sprintf("the check %q of the merged work failed", failed.Check)
		b.Text = "Nothing was merged: a check of this branch together with the default branch failed. Find out why: " +
			"merge the default branch into this one, and run the check there. Then mend it, and commit.\n\n" +
			document.Quote(document.Outside{From: "the check " + failed.Check, Text: failed.Said})
		return b
	}
	b.Reason = "the merge is in conflict in " + printable.Names(failed.Files, mostNamed)
	files := document.Outside{From: "git, the files that both changed", Text: strings.Join(failed.Files, "\n")}
	b.Text = "Nothing was merged: this branch is in conflict with the default branch. Merge the default branch into " +
		"this one, solve the conflict there, test it, and commit.\n\n" + document.Quote(files)
	return b
}

// FixInstructions is the section that Orange tells a worker to read when a task comes back to it.
const FixInstructions = "## Fix Instructions"

// Instructed refuses to send a worker to instructions that are empty, if the request does not contain them.
func (ev Evidence) Instructed(t task.Task, to task.Status) error {
	found := ev.Trouble
	if ev.Document != nil {
		section, there := ev.Document.Section(FixInstructions)
		if there && section.Text != "" {
			return nil
		}
		found = "nothing there"
	}
	return &rejection.Rejection{
		Code: rejection.GateUnmet, Task: t.ID, To: to,
		Message: fmt.Sprintf("cannot request changes of task %s without a word of what to change", t.ID),
		Details: []rejection.Detail{{Condition: fmt.Sprintf("section %q", FixInstructions), Found: found,
			Where: "TASK.md", Want: "give the text with the request, or write it there"}},
	}
}
