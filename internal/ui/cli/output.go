package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// printer prints: results to Out, talk to Err, and for a person how far a command is.
type printer struct {
	zone

	// Out and Err make all that is printed fit to be shown, whichever program wrote it.
	Out *printable.Writer
	Err *printable.Writer
	// Progress is the terminal at which a person sees how far a long command is; nil where there is none.
	Progress io.Writer
	// OutTerminal is how wide the terminal at Out is, 0 where that is not known or Out is none, and whether the person
	// there wants colours. It is asked when a table is printed.
	OutTerminal func() (width int, coloured bool)

	json  bool
	plain bool // printed lines have no colours, whatever the terminal has

	line   *progress    // nil as long as there is none
	lines  bytes.Buffer // of the answer, which are not printed yet
	failed error        // why lines could not be printed
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (p *printer) printJSON(answer any) error {
	return p.encode(answer, "  ")
}

// encode prints a value as JSON that can be shown.
func (p *printer) encode(value any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	p.lines.Write(printable.JSON(b.Bytes()))
	return p.flush()
}

// say adds a line to the result. The lines are printed in one write: before anything else is, and at the end. At a
// terminal they are broken between words.
func (p *printer) say(format string, args ...any) { p.sayBelow(2, format, args...) }

// sayBelow is say for a line that goes on some columns to the right of its beginning.
func (p *printer) sayBelow(hang int, format string, args ...any) {
	width, _ := p.outTerminal()
	p.lines.WriteString(wrapped(fmt.Sprintf(format+"\n", args...), width, hang))
}

// print prints a text as a part of the result.
func (p *printer) print(text string) error {
	p.lines.WriteString(text)
	return p.flush()
}

// flush prints what was said.
func (p *printer) flush() error {
	defer p.lines.Reset()
	if p.lines.Len() == 0 {
		return nil
	}
	p.clear()
	if _, err := p.Out.Write(p.lines.Bytes()); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// clear takes the progress line away: something is printed.
func (p *printer) clear() {
	if p.line != nil {
		p.line.end()
	}
}

// warn prints one line of talk.
func (p *printer) warn(format string, args ...any) {
	text := fmt.Sprintf("orange: "+format+"\n", args...)
	if p.Progress != nil { // a person reads it at the terminal
		width, _ := p.outTerminal()
		text = wrapped(text, width, 2)
	}
	p.talk("%s", text)
}

// talk prints what is no part of the result, behind what was said before it.
func (p *printer) talk(format string, args ...any) {
	p.failed = errors.Join(p.failed, p.flush())
	p.clear()
	fmt.Fprintf(p.Err, format, args...)
}

// end prints what is left of an answer, and why there is no more of it, and answers the exit status.
func (p *printer) end(err error) int {
	unsaid := errors.Join(p.failed, p.flush())
	p.failed = nil
	if err == nil {
		err = unsaid
	}
	return p.report(err)
}

// tellAttach tells a program how a window is opened, which a person has had opened.
func (p *printer) tellAttach(argv []string, err error) error {
	if err != nil || !p.json {
		return err
	}
	return p.printJSON(map[string]any{"attach": argv})
}

// taskView is a task as JSON has it: the names of the frontmatter.
type taskView struct {
	ID            string      `json:"id"`
	Project       string      `json:"project"`
	Branch        string      `json:"branch"`
	Harness       string      `json:"harness"`
	ReviewHarness string      `json:"review_harness"`
	Effort        string      `json:"effort"`
	ReviewEffort  string      `json:"review_effort"`
	Model         string      `json:"model"`
	ReviewModel   string      `json:"review_model"`
	Status        task.Status `json:"status"`
	ReviewRound   int         `json:"review_round"`
	CrashCount    int         `json:"crash_count"`
	Summary       string      `json:"summary"`
	Workspace     string      `json:"workspace"`
	TmuxSession   string      `json:"tmux_session"`
	CreatedAt     string      `json:"created_at"`
	UpdatedAt     string      `json:"updated_at"`
	PRURL         string      `json:"pr_url"`
	PRState       string      `json:"pr_state"`
	Workflow      string      `json:"workflow"`
	Version       int         `json:"workflow_version"`
	Digest        string      `json:"workflow_digest"`
	Attention     string      `json:"attention"`
	Queued        bool        `json:"queued"`
	QueuedFor     task.Status `json:"queued_for"`
	// After are the tasks that it waits for; commands that look at them add how each of them is.
	After        []record.Before `json:"after,omitempty"`
	Previous     task.Status     `json:"previous_status"`
	EnteredAt    string          `json:"entered_at"`
	StalledSince string          `json:"stalled_since"`
	Live         bool            `json:"live"`
	Counters     map[string]int  `json:"counters"`
	Session      string          `json:"session,omitempty"`
	Failures     int             `json:"failures"` // of the present state
	// the level of lateness: as it was reported last, or as it is now where the times are here too
	Overdue int `json:"overdue"`
	*limitView
	*timesView
	// NeedsYou is of tasks that a person should look after now: lists and why have it.
	NeedsYou *record.Need `json:"needs_you,omitempty"`
	// Conflicts are those that were found last; without it no one has looked for them yet.
	Conflicts *[]conflict.Conflict `json:"conflicts,omitempty"`
	Unknown   string               `json:"conflicts_unknown,omitempty"` // why some are not known, or old
}

func view(t task.Task, session string) taskView {
	stalled := ""
	if !t.StalledAt.IsZero() {
		stalled = task.FormatTime(t.StalledAt)
	}
	var after []record.Before
	for _, id := range t.After {
		after = append(after, record.Before{ID: id})
	}
	return taskView{
		ID: t.ID, Project: t.Project, Branch: t.Branch, Harness: t.Harness, ReviewHarness: t.ReviewHarness,
		Effort: t.Effort, ReviewEffort: t.ReviewEffort, Model: t.Model, ReviewModel: t.ReviewModel,
		Status:      t.Status,
		ReviewRound: t.Counters.Get(task.ReviewRound), CrashCount: t.Counters.Get(task.CrashCount),
		Summary: t.Summary, Workspace: t.Workspace, TmuxSession: t.Session,
		CreatedAt: task.FormatTime(t.CreatedAt), UpdatedAt: task.FormatTime(t.UpdatedAt), PRURL: t.PRURL,
		PRState:  t.PRState,
		Workflow: t.Workflow.Name, Version: t.Workflow.Version, Digest: t.Workflow.Digest,
		Attention: t.Attention, Queued: t.Queued(),
		QueuedFor: t.QueuedFor, After: after,
		Previous: t.Previous, EnteredAt: task.FormatTime(t.EnteredAt), StalledSince: stalled, Live: t.Live,
		Counters: countsByName(t.Counters), Session: session,
		Failures: t.Counters.Failures(t.Status), Overdue: t.Overdue,
	}
}

// limitView is what a task's state says of it.
type limitView struct {
	Timeout   int64  `json:"timeout"` // how long the state should take, in seconds; 0 when it may take any time
	Escalated bool   `json:"escalated"`
	Role      string `json:"role"` // who is at work in the state
}

// timesView is how long a task has been where it is, in seconds. Lists do not have it: the same list twice would
// not be the same.
type timesView struct {
	InState int64 `json:"time_in_state"`
	Total   int64 `json:"total_time"`
}

// waiting adds to a task how those are that it waits for.
func (v taskView) waiting(before []record.Before) taskView {
	if len(before) > 0 && len(v.After) > 0 {
		v.After = before
	}
	return v
}

// conflicting adds to a task what is known of its conflicts.
func (v taskView) conflicting(all conflict.Overview) taskView {
	if !v.Live {
		return v
	}
	if of, known := all.Of[v.ID]; known {
		v.Conflicts = &of
	}
	v.Unknown = all.Why(v.ID)
	return v
}

// standing adds to a task how late it is.
func (v taskView) standing(s task.Timing) taskView {
	v.Overdue = s.Overdue
	v.limitView = &limitView{seconds(s.Timeout), s.Escalated, s.Role}
	return v
}

// times adds to a task how long it has been where it is.
func (v taskView) times(s task.Timing) taskView {
	v.timesView = &timesView{seconds(s.InState), seconds(s.Total)}
	return v
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// oneLine makes text fit into one line of a list.
func oneLine(text string, most int) string {
	text = inOneLine(text)
	count, last := 0, 0 // the characters so far, and where the last one that fits begins
	for at := range text {
		if count++; count == most {
			last = at
		}
		if count > most {
			return text[:last] + "…"
		}
	}
	return text
}

// inOneLine is a text in one line, whole.
func inOneLine(text string) string { return printable.Line(strings.Join(strings.Fields(text), " ")) }

// linked prints an address as field does. Where a terminal shows more than plain text, it leads there.
func (p *printer) linked(name, address, more string) error {
	if _, coloured := p.outTerminal(); !coloured {
		p.field(name, address+more)
		return nil
	}
	return p.pieces([]printable.Piece{{Text: fmt.Sprintf("  %-14s ", name)},
		{Text: printable.Line(address), Link: address}, {Text: printable.Line(more) + "\n"}})
}

// inset is a text whose lines all begin some columns to the right.
func inset(text string, columns int) string {
	blanks := strings.Repeat(" ", columns)
	return blanks + strings.ReplaceAll(text, "\n", "\n"+blanks)
}

// field prints what a task has under a name. Its further lines are below the first one, so that none of them looks like
// another name.
func (p *printer) field(name, value string) {
	if value != "" {
		first, more, several := strings.Cut(strings.TrimRight(value, "\n"), "\n")
		p.sayBelow(15, "  %-14s %s", name, first)
		if several {
			p.sayBelow(0, "%s", inset(more, 17))
		}
	}
}

// need says why a person should look after a task, all of it, and the commands that people use there.
func (p *printer) need(need record.Need) { p.needUnder("needs you", need) }

// needUnder is need below a head.
func (p *printer) needUnder(head string, need record.Need) {
	p.say("%s: %s", head, cmp.Or(need.Reason, need.Found))
	for line := range strings.Lines(need.Text) {
		p.say("  %s", strings.TrimRight(line, "\r\n"))
	}
	if need.Waits != "" {
		p.say("  %s", need.Waits)
	}
	for _, line := range need.Commands {
		p.say("  %s", line)
	}
}

// detail says what is missing, and below that what to do, with its command last.
func (p *printer) detail(indent string, d rejection.Detail) {
	width, _ := p.outTerminal()
	p.lines.WriteString(wrapped(p.stamped(detailText(indent, d)), width, 2))
}
