package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/eventtext"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

func taskHistory(p *Program) *cobra.Command {
	var format string
	var evidence bool
	c := &cobra.Command{
		Use: "history [ID]", Short: "Show what happened to a task, and who asked",
		Args: between(0, 1),
		Long: `Show what happened to a task, when, and who asked, a day at a time. Agents that began and ended
between two moves are one line. What an earlier Orange wrote of it comes first, as "before": nothing
proves it.

With --evidence each event has its own line with all that it tells: what a move rests on, each text
with the beginning of its digest, the hooks of each move, and which window and harness an agent had.

With --format build each line is one JSON object for the logs of other programs: timestamp, taskId,
event, from, to, actor, reason, metadata. An agent is "@agent-" and its role; a person who acts for
a role has its bare name.
Its events are STATE_TRANSITION, FAILURE_INCREMENT, TIMEOUT_WARNING, AGENT_ASSIGNMENT and
CTO_INTERVENTION; what is none of these (hooks, documents) is left out. The last one is a move into
any state of escalation, whichever move made it.`,
		Example: "  orange task history 4Fz\n  orange task history 4Fz --json\n" +
			"  orange task history 4Fz --format build",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			switch format {
			case "":
			case formatBuild:
				return printLogEntries(ctx, &p.printer, h, id)
			default:
				return usage("found %q as --format, expected %q", format, formatBuild)
			}
			events, err := h.Queries.History(ctx, id)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(map[string]any{"events": orEmpty(events)})
			}
			for _, line := range h.Queries.Older(ctx, id, events) {
				p.say("before  %s", oneLine(line, 200))
			}
			sayEvents(&p.printer, events, evidence)
			return nil
		}),
	}
	c.Flags().BoolVar(&evidence, "evidence", false, "each event by itself, with its evidence, hooks and data")
	c.Flags().StringVar(&format, "format", "", "build: one JSON object a line, for the logs of other programs")
	return c
}

const formatBuild = "build"

// printLogEntries prints a task's history for other programs: one entry a line, with and without --json.
func printLogEntries(ctx context.Context, p *printer, h *Services, id string) error {
	entries, err := h.Queries.LogEntries(ctx, id)
	if err != nil {
		return err
	}
	for i := range entries {
		if err := p.encode(entries[i], ""); err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
	}
	return nil
}

// sayEvents prints events a day at a time: in words, or each with all that it has.
func sayEvents(p *printer, events []history.Event, evidence bool) {
	day := ""
	for len(events) > 0 {
		if at := p.day(events[0].Time); at != day {
			day = at
			p.say("%s", day)
		}
		if evidence {
			p.sayBelow(5, "%s", eventLine(p.zone, events[0]))
			events = events[1:]
			continue
		}
		n := together(p.zone, events)
		p.sayBelow(17, "%s", eventWords(p.zone, events[:n]))
		events = events[n:]
	}
}

// together is how many of the first events one line has: a run of agents that began and ended, of one day.
func together(z zone, events []history.Event) int {
	n := 0
	for n < len(events) && eventtext.Routine(&events[n]) && z.day(events[n].Time) == z.day(events[0].Time) {
		n++
	}
	return max(n, 1)
}

// eventWords are some events in one line, without their day: their numbers, the time of the first, and the words.
func eventWords(z zone, events []history.Event) string {
	first, last := &events[0], &events[len(events)-1]
	numbers := strconv.Itoa(first.Seq)
	if last != first {
		numbers += "-" + strconv.Itoa(last.Seq)
	}
	var what []string
	for i := range events {
		what = append(what, eventtext.What(&events[i]))
	}
	text := strings.Join(what, ", ")
	if !eventtext.Routine(first) {
		if who := eventtext.Who(first); who != "" {
			text += " " + who
		}
		if first.Reason != "" {
			text += ": " + first.Reason
		}
		for _, detail := range eventtext.Details(first) {
			text += "; " + detail
		}
	}
	return printable.Line(fmt.Sprintf("%6s  %s  %s", numbers, z.timeOfDay(first.Time), inOneLine(text)))
}

// eventLine is an event with all that it has, without its day: its data, the digests of texts, and hooks.
func eventLine(z zone, e history.Event) string {
	who := e.Actor
	if e.ActingAs != "" {
		who += " as " + e.ActingAs
	}
	what := e.Type
	if e.IsMove() {
		what = fmt.Sprintf("%s -> %s", e.From, e.To)
	}
	text := fmt.Sprintf("%3d  %s  %-9s %s", e.Seq, z.timeOfDay(e.Time), who, what)
	found := ""
	if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
		found = "found " // it rests on none of them
	}
	for _, evidence := range e.Evidence {
		text += fmt.Sprintf("  [%s%s %.8s]", found, evidence.Source, evidence.Digest)
	}
	if len(e.Hooks) > 0 {
		text += "  hooks: " + strings.Join(e.Hooks, ", ")
	}
	data := e.Told()
	for _, name := range []string{"role", task.CrashCount, "window", history.DataResumed, "how", "hook", "field",
		"may_change", "file", "found", "kept", "ref", "files", "aside", "taken_back", "branch", "for", "problem",
		"ended", "level", "failure",
		"refused", history.DataUnreviewed} {
		if value := data[name]; value != "" && (e.Type != history.Created || name == "branch") {
			text += fmt.Sprintf("  %s=%s", name, oneLine(value, 80))
		}
	}
	if e.Type == history.WorkflowMigrated {
		text += "  " + eventtext.What(&e)
	}
	if words := e.Data[task.DataLastWords]; words != "" {
		text += "  last words: " + oneLine(words, 200)
	}
	for _, aside := range eventtext.Aside(&e) {
		text += "  " + aside
	}
	if e.Subject.Commit != "" {
		text += fmt.Sprintf("  at %.7s", e.Subject.Commit)
	}
	if unreviewed := e.Data[history.DataUnreviewed]; unreviewed != "" {
		text += "  " + oneLine(unreviewed, 100)
	}
	if up := e.Subject.UnreviewedText(); up != "" {
		text += "  " + oneLine(up, 200)
	}
	if e.Reason != "" {
		text += "  " + oneLine(e.Reason, 100)
	}
	if e.Person != "" {
		text += "  by " + oneLine(e.Person, 200)
	}
	return printable.Line(text)
}
