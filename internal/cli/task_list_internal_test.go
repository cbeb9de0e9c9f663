package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/conflict"
	"orange/internal/printable"
	"orange/internal/record"
	"orange/internal/task"
)

// crowded has a thousand tasks with long names, every third of which conflicts and every fifth of which needs a person.
type crowded struct{ *feed }

const (
	longSummary = "A summary that says in ninety letters, and not one of them fewer, what the task is about now"
	longReason  = "asks: which of the seven currencies, and from when on?"
)

func newCrowd() crowded {
	f := &feed{conflicts: map[string]conflict.Overview{"garden": {Of: map[string][]conflict.Conflict{}}}}
	for n := range 1000 {
		id := fmt.Sprintf("%04dK2mN8qR1tW5yB7cD9", n)
		f.tasks = append(f.tasks, task.Task{ID: id, Project: "garden", Status: "agent-review", Live: true,
			Branch: fmt.Sprintf("feature/with-a-name-that-is-long-%d", n), Summary: longSummary})
		if n%3 == 0 {
			f.conflicts["garden"].Of[id] = []conflict.Conflict{{Branch: "feature/another-long-name",
				Files: []string{"a"}, At: time.Now()}}
		}
	}
	return crowded{f}
}

func (c crowded) Tasks(context.Context, record.Filter) ([]task.Task, error) {
	return slices.Clone(c.tasks), nil
}

func (c crowded) Needs(context.Context, []task.Task) (map[string]string, map[string]record.Need, error) {
	states, needs := map[string]string{}, map[string]record.Need{}
	for n := range c.tasks {
		if states[c.tasks[n].ID] = record.AgentAlive; n%5 == 0 {
			needs[c.tasks[n].ID] = record.Need{Kind: record.NeedsPerson, Reason: longReason}
		}
	}
	return states, needs, nil
}

// Defect: with a conflict a list was wider than any terminal, the list of needs gave nothing, and an id kept 21 letters
// where branches had 8. In a pipe summaries were cut.
func TestLists_fitEveryTerminalAndAreWholeInAPipe(t *testing.T) {
	t.Parallel()
	c := newCrowd()
	for _, want := range []wanted{{}, {mine: true}} {
		for _, width := range []int{50, 80, 120, 200, 0} {
			var out bytes.Buffer
			p := &Program{Out: printable.NewWriter(&out), Err: printable.NewWriter(&out),
				OutTerminal: func() (int, bool) { return width, false }}
			_, err := p.listOnce(t.Context(), &Services{Queries: c, Conflicts: c}, record.Filter{}, want)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(out.String()), "\n"), func(line string) bool {
				return line == ""
			})
			if width == 0 {
				if line := lines[1]; !strings.Contains(line, longSummary) || !strings.Contains(line, longReason) ||
					!strings.Contains(line, c.tasks[0].Branch) || !strings.Contains(line, c.tasks[0].ID) {
					t.Errorf("%+v: in a pipe a line is %q", want, line)
				}
				continue
			}
			for _, line := range lines {
				if screenWidth(line) > width {
					t.Errorf("%+v: at %d columns a line has %d: %q", want, width, screenWidth(line), line)
					break
				}
			}
			if !strings.HasPrefix(lines[1], "0000K2  ") && width < 200 {
				t.Errorf("%+v: at %d columns the first task is %q", want, width, lines[1])
			}
		}
	}
}
