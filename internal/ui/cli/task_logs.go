package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// agentWords are what an agent said last before it ended.
type agentWords struct {
	Time string `json:"timestamp"`
	Role string `json:"role"`
	Text string `json:"text"`

	at time.Time
}

// logsView is all that is kept of what Orange and its agents said about a task.
type logsView struct {
	Log       []json.RawMessage    `json:"log"`
	LastWords []agentWords         `json:"last_words"`
	Screens   []record.AgentScreen `json:"terminals"`
}

func taskLogs(p *Program) *cobra.Command {
	var lines int
	c := &cobra.Command{
		Use: "logs [ID]", Short: "Show what the log and the agents' terminals say about a task", Args: between(0, 1),
		Long: `Show what Orange keeps of a task besides its history: the lines of the log about it, the last output
of each agent that ended, and what the windows of its agents show now. --lines N shows the last N
lines of the log and of each text.`,
		Example: "  orange task logs 4Fz\n  orange task logs 4Fz --lines 200 --json",
	}
	c.RunE = p.runFound(func(ctx context.Context, h *Services, id string) error {
		if lines < 1 {
			return usage("found %d as --lines, expected a number above 0", lines)
		}
		all, err := logsOf(ctx, &p.printer, h, id, lines)
		if err != nil {
			return err
		}
		if p.json {
			return p.printJSON(all)
		}
		sayLogs(&p.printer, id, all)
		return nil
	})
	c.Flags().IntVar(&lines, "lines", 50, "how many lines of the log and of each text, from the end")
	return c
}

func logsOf(ctx context.Context, p *printer, h *Services, id string, lines int) (logsView, error) {
	all := logsView{Log: []json.RawMessage{}, LastWords: []agentWords{}}
	events, err := h.Queries.History(ctx, id)
	if err != nil {
		return all, err
	}
	for i := range events {
		all.LastWords = append(all.LastWords, wordsIn(&events[i], lines)...)
	}
	var logged bytes.Buffer
	about := []byte(`"` + id + `"`)
	err = h.Monitor.Log(func(line []byte) bool {
		return bytes.Contains(line, about) && json.Valid(line)
	}, lines, &logged)
	if err != nil {
		return all, err
	}
	for line := range bytes.Lines(logged.Bytes()) {
		all.Log = append(all.Log, bytes.TrimSpace(line))
	}
	screens, err := h.Queries.Screens(ctx, id)
	if err != nil {
		p.warn("the windows of its agents cannot be looked at: %v", err)
	}
	for i := range screens {
		screens[i].Text = lastLines(screens[i].Text, lines)
	}
	all.Screens = orEmpty(screens)
	return all, nil
}

// wordsIn are the last words that an event has, if it has any.
func wordsIn(e *history.Event, lines int) []agentWords {
	text := e.Data[task.DataLastWords]
	if text == "" {
		return nil
	}
	return []agentWords{{Time: task.FormatTime(e.Time), Role: e.Data["role"], Text: lastLines(text, lines), at: e.Time}}
}

// lastLines are the last lines of a text: of blank lines that follow each other one is left, and none at its end.
func lastLines(text string, most int) string {
	all := slices.CompactFunc(strings.Split(strings.TrimRight(text, "\n "), "\n"), func(a, b string) bool {
		return strings.TrimSpace(a+b) == ""
	})
	return strings.Join(all[max(0, len(all)-most):], "\n")
}

func sayLogs(p *printer, id string, all logsView) {
	if len(all.Log)+len(all.LastWords)+len(all.Screens) == 0 {
		p.warn("no log, terminal text or last words are kept of task %s", id)
		return
	}
	for i, line := range all.Log {
		if i == 0 {
			p.say("the log")
		}
		p.say("  %s", logLine(p.zone, line))
	}
	for _, words := range all.LastWords {
		sayText(p, strings.TrimSpace("the last words of the "+words.Role)+", "+p.stamp(words.at), words.Text)
	}
	for _, one := range all.Screens {
		title := "the window of the " + one.Role
		if one.Ended {
			title += ", whose program has ended"
		}
		sayText(p, title, one.Text)
	}
}

// sayText prints a text below a title, so that none of its lines looks like another title.
func sayText(p *printer, title, text string) {
	p.say("%s", title)
	for line := range strings.SplitSeq(text, "\n") {
		p.say("%s", strings.TrimRight("  "+line, " "))
	}
}

// logLine is a line of the log for people: when, how bad, which part of the program, what, and with what.
func logLine(z zone, line json.RawMessage) string {
	var entry map[string]any
	if err := json.Unmarshal(line, &entry); err != nil {
		return string(line)
	}
	text := ""
	for _, key := range []string{"ts", "level", "component", "msg"} {
		if value, has := entry[key]; has {
			text += strings.TrimSpace(fmt.Sprint(value)) + "  "
		}
		delete(entry, key)
	}
	delete(entry, "task")
	text = z.stamped(strings.TrimSpace(text))
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		text += fmt.Sprintf("  %s=%s", key, oneLine(fmt.Sprint(entry[key]), 200))
	}
	return text
}
