package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/history"
	"orange/internal/passed"
	"orange/internal/printable"
	"orange/internal/task"
)

func (p *Program) taskHistory() *cobra.Command {
	var format string
	var evidence bool
	c := &cobra.Command{
		Use: "history [ID]", Short: "Show what happened to a task, who asked, and the evidence of each move",
		Args: between(0, 1),
		Long: `Show what happened to a task, who asked, and the evidence of each move, a day at a time. With
--evidence each text has the beginning of its digest, and each move its hooks. What an earlier
Orange wrote of it comes first, as "before": nothing proves it.

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
				return p.logEntries(ctx, h, id)
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
			day := ""
			for _, e := range events {
				if at := p.day(e.Time); at != day {
					day = at
					p.say("%s", day)
				}
				p.sayBelow(5, "%s", p.eventLine(e, evidence))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&evidence, "evidence", false, "the digests of texts, and the hooks of each move")
	c.Flags().StringVar(&format, "format", "", "build: one JSON object a line, for the logs of other programs")
	return c
}

const formatBuild = "build"

// logEntries prints a task's history for other programs: one entry a line, with and without --json.
func (p *Program) logEntries(ctx context.Context, h *Services, id string) error {
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

// migratedWords says from which text of a workflow to which one an event led. Older events do not name the first.
func migratedWords(data map[string]string) string {
	text := func(name, version, digest string) string {
		n, _ := strconv.Atoi(data[version]) // one that cannot be read is not known
		return task.WorkflowRef{Name: data[name], Version: n, Digest: data[digest]}.String()
	}
	return text("from_workflow", "from_version", "from") + " -> " + text("workflow", "version", "to")
}

// eventLine is an event for people, without its day; proof adds the digests of texts, and hooks.
func (p *Program) eventLine(e history.Event, proof bool) string {
	who := e.Actor
	if e.ActingAs != "" {
		who += " as " + e.ActingAs
	}
	what := e.Type
	if e.IsMove() {
		what = fmt.Sprintf("%s -> %s", e.From, e.To)
	}
	text := fmt.Sprintf("%3d  %s  %-9s %s", e.Seq, p.timeOfDay(e.Time), who, what)
	found := ""
	if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
		found = "found " // it rests on none of them
	}
	for _, evidence := range e.Evidence {
		digest := ""
		if proof {
			digest = fmt.Sprintf(" %.8s", evidence.Digest)
		}
		text += "  [" + found + evidence.Source + digest + "]"
	}
	if len(e.Hooks) > 0 && proof {
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
		text += "  " + oneLine(migratedWords(data), 200)
	}
	if words := e.Data[task.DataLastWords]; words != "" {
		text += "  last words: " + oneLine(words, 200)
	}
	if ignored := cmp.Or(e.Data[history.DataOverride], e.Data[passed.DataForced]); ignored != "" {
		text += "  in spite of " + oneLine(ignored, 100)
	}
	if skipped := e.Data[passed.DataSkipped]; skipped != "" {
		text += "  by force past " + oneLine(strings.ReplaceAll(skipped, "\n", "; "), 100)
	}
	if without := e.Data[passed.DataWithout]; without != "" {
		text += "  merged elsewhere without " + oneLine(strings.ReplaceAll(without, "\n", "; "), 100)
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
