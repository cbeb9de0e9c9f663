// Package inbox has what a task needs a person for, in few words, and which moves someone can choose from.
//
// It decides nothing: package decide judges the moves, and people read here what follows for them. The list, the
// dashboard and every other face say it in the same words and the same order.
package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Sight is what the screen of an agent that is still says to people. No status ever depends on it.
type Sight struct {
	Kind  string      // a kind of record.Need that is OnScreen; empty if it says nothing
	Since time.Time   // when the screen last changed
	Asks  string      // what a dialog asks
	Rest  record.Rest // at a limit; of a dialog that tells of one, and of a model that refuses, only the line
}

// Clues are what else is known of a task that a person should look after. They choose words, and decide nothing.
type Clues struct {
	Document *document.Document // nil where it was not read
	// Moved is why the task was moved to where it is, empty where no one said; known is false where that cannot be
	// read. It is nil where it is not asked.
	Moved func() (why string, known bool)
}

// NeedOf says why a person should look after a task now; the zero Need if no one should. agent is how the agent of its
// status is, and seen what the agent's screen says.
func NeedOf(def *workflow.Definition, t task.Task, agent string, seen Sight) record.Need {
	need := withWays(def, t, needOf(def, t, agent, seen))
	if need.Kind == record.NeedsPerson {
		need.Want = strings.Join(need.Commands, ", or ")
	}
	return need
}

// withWays is a need with what ends it, and with who waits for whom.
func withWays(def *workflow.Definition, t task.Task, need record.Need) record.Need {
	if need.Kind == "" {
		return need
	}
	for _, one := range ways(def, t, need) {
		need.Commands, need.Actions = append(need.Commands, one.command), append(need.Actions, one.action)
	}
	need.Waits = waits(def, t, need)
	return need
}

// Tells reports whether a need tells of what a task waits for: then it need not be said again.
func Tells(need record.Need, t task.Task, d rejection.Detail) bool {
	return need.Kind != "" && (d.Condition == "a person" || d.Found == need.Found || d.Found == t.Attention)
}

// waits says who waits for whom.
func waits(def *workflow.Definition, t task.Task, need record.Need) string {
	state, _ := def.State(t.Status)
	who := "the task"
	if state.Role != "" && state.Role != task.RoleHuman {
		who = "its " + state.Role
	}
	switch need.Kind {
	case record.NeedsLimit:
		return who + " waits for its provider"
	case record.NeedsModel, record.NeedsRefused, record.NeedsWord:
		return who + " waits for a word of yours"
	case record.NeedsAnswer, record.NeedsStart:
		return who + " waits for your answer at its terminal"
	case record.NeedsPerson:
		if asksThere(def, state) {
			return who + " waits for your answer"
		}
	}
	return "the task waits for you"
}

func needOf(def *workflow.Definition, t task.Task, agent string, seen Sight) record.Need {
	state, _ := def.State(t.Status)
	attach := fmt.Sprintf("orange task attach %s --role %s", t.ID, state.Role)
	until, limited := t.LimitedUntil()
	switch {
	case t.Queued() || !t.Live && t.Attention == "":
		return record.Need{}
	case !t.Live:
		return record.Need{Kind: record.NeedsAttention, Found: t.Attention, Since: t.UpdatedAt,
			Want: "look at it, and take the mark away: orange task update " + t.ID + " --seen"}
	case limited:
		return record.Need{Kind: record.NeedsLimit, Found: t.Attention, Until: until, Since: t.UpdatedAt,
			Want: "wait, or start it now: orange task respawn " + t.ID}
	case t.RefusedOften() && state.Role != "" && state.Role != task.RoleHuman:
		return record.Need{Kind: record.NeedsRefused, Found: "its agent was " + t.Attention, Since: t.UpdatedAt,
			Want: fmt.Sprintf("say what to do: orange task say %s TEXT, or there: %s", t.ID, attach)}
	case t.Attention != "" && (!t.RefusedOften() || !def.WaitsForPerson(t.Status)):
		return record.Need{Kind: record.NeedsAttention, Found: t.Attention, Since: t.UpdatedAt,
			Want: "orange task why " + t.ID}
	case state.Role != "" && agent == record.AgentDead && state.Respawn != workflow.RespawnAuto:
		return record.Need{Kind: record.NeedsAgent, Found: "its " + state.Role + " has died", Since: t.UpdatedAt,
			Want: "start it again: orange task respawn " + t.ID}
	case seen.Kind == record.NeedsAnswer:
		found := "its " + state.Role + " is at a dialog"
		if line := cmp.Or(seen.Rest.Line, seen.Asks); line != "" {
			found += ": " + line
		}
		return record.Need{Kind: seen.Kind, Found: found, Since: seen.Since, Want: "answer it: " + attach}
	case seen.Kind == record.NeedsStart:
		return record.Need{Kind: seen.Kind, Since: seen.Since,
			Found: "its " + state.Role + " waits at its first screen, and has done nothing since its start",
			Want:  "look, and answer what it asks: " + attach}
	case seen.Kind == record.NeedsModel:
		return record.Need{Kind: seen.Kind, Since: seen.Since,
			Found: "the model of its " + state.Role + " refuses: " + seen.Rest.Line,
			Want:  "mend that, then say to go on: orange task say " + t.ID + " TEXT, or look: " + attach}
	case seen.Kind == record.NeedsLimit:
		rest := seen.Rest
		rest.Role = state.Role
		return record.Need{Kind: seen.Kind, Found: "its " + state.Role + " is at a limit: " + rest.Line,
			Since: seen.Since, Want: "wait, or look: " + attach, Until: rest.Until, Rest: &rest}
	case t.Status != def.Initial && def.WaitsForPerson(t.Status):
		return record.Need{Kind: record.NeedsPerson, Found: fmt.Sprintf("%q waits for a person", t.Status),
			Since: t.EnteredAt}
	case seen.Kind == record.NeedsWord:
		return record.Need{Kind: seen.Kind, Since: seen.Since,
			Found: "its " + state.Role + " rests at its prompt and has not moved the task",
			Want:  fmt.Sprintf("say what to do: orange task say %s TEXT, or there: %s", t.ID, attach)}
	}
	return record.Need{}
}

// WithoutDocument is the need of a task whose TASK.md cannot be read, for this reason.
func WithoutDocument(def *workflow.Definition, t task.Task, there bool, why error) record.Need {
	need := record.Need{Kind: record.NeedsDocument, Since: t.UpdatedAt,
		Found: "its document cannot be read: " + why.Error(),
		Want:  "put it back from a backup; orange doctor --fix writes one that has nothing but its header"}
	if there {
		need.Want = "move away what is there, and " + need.Want
	}
	return withWays(def, t, need)
}

// WithoutWorktree is the need of a task whose worktree or branch is gone.
func WithoutWorktree(def *workflow.Definition, t task.Task, missing string) record.Need {
	need := record.Need{Kind: record.NeedsWorktree, Since: t.UpdatedAt, Found: missing,
		Want: "have it made again, with the newest commit that is known: orange task respawn " + t.ID}
	return withWays(def, t, need)
}

// InWords is a need with its reason in one line, the same wherever people read of it, and all of it where that is more;
// now tells which day it is, and where.
func InWords(def *workflow.Definition, t task.Task, need record.Need, clues Clues, now time.Time) record.Need {
	state, _ := def.State(t.Status)
	words := ""
	switch need.Kind {
	case record.NeedsLimit:
		words = limitWords(need, now)
	case record.NeedsAttention, record.NeedsRefused:
		words, need.Text = markWords(t)
	case record.NeedsAgent:
		words = state.Role + " has died"
	case record.NeedsAnswer:
		words = "its program shows a dialog"
		if _, line, more := strings.Cut(need.Found, ": "); more {
			words += ": " + line
		}
	case record.NeedsStart:
		words = "waits at its first screen"
	case record.NeedsModel:
		_, line, _ := strings.Cut(need.Found, ": ")
		words = "model refuses: " + line
	case record.NeedsWord:
		words = "rests at its prompt"
	case record.NeedsDocument:
		words, need.Text = "TASK.md cannot be read", need.String()
	case record.NeedsWorktree:
		words = need.Found
	case record.NeedsPerson:
		words, need.Text = personWords(def, t, state, need, clues)
	}
	need.Reason = printable.Line(strings.Join(strings.Fields(words), " "))
	return need
}

// limitWords say until when a limit holds an agent up. It is over at the full minute after that.
func limitWords(need record.Need, now time.Time) string {
	if need.Until.IsZero() {
		_, line, _ := strings.Cut(need.Found, ": ")
		return "limit: " + line
	}
	until := need.Until.Add(time.Minute - time.Nanosecond).In(now.Location())
	layout := "15:04"
	if until.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = "01-02 15:04"
	}
	return "limit until " + until.Format(layout)
}

// markWords are the attention mark of a task in one line, its cause first; all is the mark, where it says more. What an
// agent said last is the cause of its death, as far as anyone knows.
func markWords(t task.Task) (line, all string) {
	mark := t.Attention
	if rest, is := strings.CutPrefix(mark, record.HookMark); is {
		action, found, _ := strings.Cut(rest, ": ")
		if strings.Contains(found, "ran out of memory") { // Orange ended the program at its limit
			return "out of memory: hook " + action, mark
		}
		return "hook " + action + " failed: " + found, ""
	}
	told, said := t.MarkParts()
	cause, _, more := strings.Cut(told, "; ")
	switch {
	case said != "":
		what, _, _ := strings.Cut(cause, ": ")
		return what + ": " + said, mark
	case more:
		return cause, mark
	}
	return mark, ""
}

// personWords say why a status that waits for a person does so: what an agent asks, or what a verdict came to and which
// branches are in the way. all has the questions whole.
func personWords(def *workflow.Definition, t task.Task, state workflow.State, need record.Need,
	clues Clues) (line, all string) {
	if t.RefusedOften() { // that is why the task was moved here
		return t.Attention, ""
	}
	words := verdictBefore(def, t)
	if up := t.Subject.UnreviewedText(); up != "" {
		words = up
	}
	if words == "" && asksThere(def, state) {
		switch asked, text := questionsOf(clues.Document); {
		case len(asked) == 1 && item(text) == asked[0]:
			return "asks: " + asked[0], ""
		case len(asked) == 1:
			return "asks: " + asked[0], text
		case len(asked) > 1:
			return fmt.Sprintf("asks %d questions: %s", len(asked), asked[0]), text
		}
	}
	if len(need.Conflicts) > 0 {
		if words != "" {
			words += ", "
		}
		words += "conflict with " + need.Conflicts[0]
		if more := len(need.Conflicts) - 1; more > 0 {
			words += fmt.Sprintf(" and %d more", more)
		}
		return words, ""
	}
	words = cmp.Or(words, "waits in "+string(t.Status)+whyThere(def, state, clues))
	if need.Apart {
		words += ", not compared"
	}
	return words, ""
}

// whyThere says why a task was moved to a state, behind a colon. Of one that means trouble people read too that no one
// gave a reason.
func whyThere(def *workflow.Definition, state workflow.State, clues Clues) string {
	if clues.Moved == nil || asksThere(def, state) {
		return ""
	}
	why, known := clues.Moved()
	if stuck, _ := def.Move(workflow.MoveStuck); known && why == "" && (state.Escalation || state.Name == stuck) {
		why = "no reason was given"
	}
	if why != "" {
		why = ": " + why
	}
	return why
}

// asksThere reports whether an agent comes to a state with questions, and not because it failed.
func asksThere(def *workflow.Definition, state workflow.State) bool {
	stuck, _ := def.Move(workflow.MoveStuck)
	return state.Role != "" && state.Role != task.RoleHuman && !state.Escalation && state.Name != stuck
}

// verdictBefore is what the verdict that brought a task into its status came to; empty where none did.
func verdictBefore(def *workflow.Definition, t task.Task) string {
	for _, edge := range def.Transitions {
		if edge.From != t.Previous || edge.To != t.Status {
			continue
		}
		verdicts := workflow.Verdicts(edge.Gate)
		switch {
		case len(verdicts) == 0:
		case slices.ContainsFunc(verdicts, func(p workflow.Part) bool { return p.Verdict == "FAIL" }):
			return "review failed"
		default:
			return "review passed"
		}
	}
	return ""
}

// questions is the section in which agents of the built-in workflows ask people.
const questions = "## Questions"

// questionsOf are the items of what an agent asks people in its document, and all of it.
func questionsOf(doc *document.Document) (asked []string, all string) {
	if doc == nil {
		return nil, ""
	}
	section, found := doc.Section(questions)
	if !found {
		return nil, ""
	}
	text := strings.TrimSpace(section.Text)
	for line := range strings.Lines(text) {
		listed := item(line) != strings.TrimSpace(line)
		if line = item(line); document.Blank(line) {
			continue
		}
		if len(asked) == 0 || listed {
			asked = append(asked, line)
		}
	}
	return asked, text
}

// item is a line without what marks it as one of a list.
func item(line string) string {
	line = strings.TrimSpace(line)
	digits := strings.TrimLeft(line, "0123456789")
	switch {
	case strings.HasPrefix(line, "<!--"), strings.HasPrefix(line, "#"):
		return ""
	case digits != line && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")):
		line = digits[2:]
	case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "), strings.HasPrefix(line, "+ "):
		line = line[2:]
	}
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*_"))
}

// First compares two tasks that need a person: the one that has waited for longer comes first.
func First(a, b record.Need, first, second string) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(first, second))
}
