package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
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
			Branch: fmt.Sprintf("feature/with-a-name-that-is-long-%d", n), Summary: longSummary,
			UpdatedAt: time.Now().Add(-3 * time.Hour)})
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
			p := &finder{}
			p.Out = printable.NewWriter(&out)
			p.Err = printable.NewWriter(&out)
			p.OutTerminal = func() (int, bool) { return width, false }
			_, err := lister{finder: p, want: want}.listOnce(t.Context(), &Services{Queries: c})
			if err := errors.Join(err, p.flush()); err != nil {
				t.Fatal(err)
			}
			lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(out.String()), "\n"), func(line string) bool {
				return line == ""
			})
			if want == (wanted{}) {
				if shown := strings.Contains(lines[0], "CHANGED"); shown != (width > 80 || width == 0) {
					t.Errorf("at %d columns the heads are %q", width, lines[0])
				} else if shown && !strings.Contains(lines[1], "  3h  ") {
					t.Errorf("at %d columns a line is %q", width, lines[1])
				}
			}
			if width == 0 {
				if line := lines[1]; !strings.Contains(line, longSummary) || !strings.Contains(line, longReason) ||
					!strings.Contains(line, c.tasks[0].Branch) || !strings.Contains(line, c.tasks[0].ID) {
					t.Errorf("%+v: in a pipe a line is %q", want, line)
				}
				continue
			}
			if width >= 80 && !strings.Contains(lines[len(lines)-1], map[bool]string{true: "197 more; what to type",
				false: "197 more need you: orange task list --mine"}[want.mine]) {
				t.Errorf("%+v: at %d columns the last line is %q", want, width, lines[len(lines)-1])
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

// Defect: a list printed the same project in every row, and each question twice, where branches had eight letters.
func TestTaskList_saysEachQuestionOnceAndOneProjectNotAtAll(t *testing.T) {
	t.Parallel()
	two := newCrowd()
	two.tasks = two.tasks[:6]
	two.conflicts = map[string]conflict.Overview{}
	for _, c := range []struct {
		want                wanted
		width               int
		other               bool
		questions, projects int
	}{
		{wanted{}, 80, false, 2, 0}, {wanted{mine: true}, 80, false, 2, 0}, {wanted{}, 80, true, 2, 5},
		{wanted{mine: true}, 80, true, 2, 1}, {wanted{}, 0, false, 2, 6}, {wanted{mine: true}, 0, false, 2, 2},
	} {
		one := crowded{&feed{tasks: slices.Clone(two.tasks), conflicts: two.conflicts}}
		if one.tasks[5].Project = "garden"; c.other {
			one.tasks[5].Project = "tea"
		}
		var out bytes.Buffer
		p := &finder{}
		p.Out = printable.NewWriter(&out)
		p.Err = printable.NewWriter(&out)
		p.OutTerminal = func() (int, bool) { return c.width, false }
		_, err := lister{finder: p, want: c.want}.listOnce(t.Context(), &Services{Queries: one})
		err = errors.Join(err, p.flush())
		text := strings.ReplaceAll(out.String(), "\n  ", " ")
		questions, projects := strings.Count(text, "asks: which"), strings.Count(text, "garden")
		if err != nil || questions != c.questions || projects != c.projects {
			t.Errorf("%+v: %v, %d questions and %d projects in\n%s", c, err, questions, projects, out.String())
		}
	}
}

// "What was finished yesterday?"
func TestTaskList_hasWhatEndedInATimeTheLastFirst(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := &feed{conflicts: map[string]conflict.Overview{}}
	add := func(id string, live bool, ended, changed time.Duration) {
		f.tasks = append(f.tasks, task.Task{ID: id, Live: live, Status: "merged", EnteredAt: now.Add(-ended),
			UpdatedAt: now.Add(-changed)})
	}
	const day = 24 * time.Hour
	add("lives", true, 30*time.Hour, 30*time.Hour)
	add("early", false, 40*time.Hour, time.Minute)
	add("yesterday", false, 30*time.Hour, 2*time.Minute)
	add("today", false, time.Hour, time.Hour)
	add("long", false, 9*day, 9*day)
	for _, c := range []struct {
		want wanted
		ids  string
		head string
	}{
		{wanted{}, "lives early yesterday today long", "CHANGED"},
		{wanted{done: true}, "today yesterday early long", "ENDED"},
		{wanted{done: true, window: stats.Window{Since: now.Add(-2 * day), Until: now.Add(-day)}}, "yesterday early",
			"ENDED"},
		{wanted{window: stats.Window{Since: now.Add(-2 * day)}}, "lives early yesterday today", "CHANGED"},
		{wanted{window: stats.Window{Until: now.Add(-day)}}, "lives long", "CHANGED"},
	} {
		var out bytes.Buffer
		p := &finder{}
		p.Out, p.Err = printable.NewWriter(&out), printable.NewWriter(&out)
		tasks := slices.Clone(f.tasks)
		_, err := lister{finder: p, want: c.want}.listOnce(t.Context(), &Services{Queries: f})
		f.tasks = tasks // it was sorted in its place
		var ids []string
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for _, line := range lines[1:] {
			id, _, _ := strings.Cut(line, " ")
			ids = append(ids, id)
		}
		if found := strings.Join(ids, " "); err != nil || found != c.ids || !strings.Contains(lines[0], c.head) {
			t.Errorf("%+v: %v, it is\n%s\nwant %s", c.want, err, out.String(), c.ids)
		}
	}
}

// hasty knows what a task needs only of tasks that were read as a whole.
type hasty struct{ crowded }

func (h hasty) Tasks(_ context.Context, f record.Filter) ([]task.Task, error) {
	one := task.Task{ID: "4Fz", Live: true, Status: "reviewing"}
	if !f.Brief {
		one.Subject.By = "Eye"
	}
	return []task.Task{one}, nil
}

func (h hasty) Needs(_ context.Context, tasks []task.Task) (map[string]string, map[string]record.Need, error) {
	need := record.Need{Kind: record.NeedsPerson, Reason: "waits in reviewing"}
	if up := tasks[0].Subject.UnreviewedText(); up != "" {
		need.Reason = up
	}
	return map[string]string{"4Fz": record.AgentAlive}, map[string]record.Need{"4Fz": need}, nil
}

// Defect: a list said "waits in reviewing" where every other place said who had handed the work in.
func TestTaskList_saysOfANeedWhatTheOtherPlacesSay(t *testing.T) {
	t.Parallel()
	f := hasty{crowded{&feed{conflicts: map[string]conflict.Overview{}}}}
	var out bytes.Buffer
	p := &finder{}
	p.Out, p.Err = printable.NewWriter(&out), printable.NewWriter(&out)
	_, err := lister{finder: p}.listOnce(t.Context(), &Services{Queries: f})
	if err != nil || !strings.Contains(out.String(), "needs you: handed in by Eye, not reviewed") {
		t.Errorf("%v, it says\n%s", err, out.String())
	}
}
