package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

func taskStats(p *Program) *cobra.Command {
	var all, week bool
	var when span
	c := &cobra.Command{
		Use: "stats [ID]", Short: "Report times, rounds, failures and crashes of one task, or of all",
		Args: between(0, 1),
		Long: `Report figures from the histories of tasks. With an ID: where that task spent its time, its rounds,
failures, crashes and agents. Without one: the same for all tasks of the project that you are in, or
of every project where you are in none or with --all.

A task ended well when it is over and was not given up. Its first attempt was enough when it ended
well without a failure, a second review or an escalation. Medians are over the time that each task
spent in a state in all its visits; tasks that are there now do not count. Refusals of agents count
where there were so many in one stay that Orange asked a person to look.

A task needed a person each time that it came to a state where it waits for one, as with questions
or stuck, and each time that no rule mended what went wrong: an agent that died, did nothing or was
refused too often, a hook or merge that failed, a time that was over. The usual look before a merge
does not count. In JSON that is "needs", and "needed_person" for the share of tasks; "reached_human"
has those alone that came to a person by a state of escalation.

With --week, or --since and --until, the figures are what happened in that time, to the tasks to
which anything happened then. A visit of a state counts if it ended then. Whether the first attempt
was enough is judged by a task's whole life. A day is one in your zone, from its beginning to its
end.`,
		Example: "  orange task stats 4Fz\n  orange task stats --all --json\n  orange task stats --week\n" +
			"  orange task stats --since 2026-11-01 --until 2026-11-30",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			switch {
			case week && when != (span{}):
				return usage("found --week and --since or --until, expected one of the two")
			case len(args) == 1 && (week || when != (span{})):
				return usage("--week, --since and --until are for the figures of all tasks: leave out the id")
			case week:
				when.since = "7d"
			}
			if len(args) == 1 {
				return statsOfOne(ctx, &p.finder, h, args)
			}
			w, err := p.window(when, time.Now())
			if err != nil {
				return err
			}
			filter, err := p.filterOf(ctx, h, all)
			if err != nil {
				return err
			}
			tasks, err := h.Queries.Tasks(ctx, filter)
			if err != nil {
				return err
			}
			all, err := h.Queries.Stats(ctx, tasks, w)
			if err != nil {
				return err
			}
			return saySummary(&p.printer, stats.Summarize(all), w)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	c.Flags().BoolVar(&week, "week", false, "what happened in the last seven days: --since 7d")
	spanFlags(c, &when, "what happened")
	return c
}

func statsOfOne(ctx context.Context, p *finder, h *Services, args []string) error {
	id, err := p.find(ctx, h, args)
	if err != nil {
		return err
	}
	found, err := h.Queries.Tasks(ctx, record.Filter{Prefix: id})
	if err != nil {
		return err
	}
	of, err := h.Queries.Stats(ctx, found, stats.Window{})
	if err != nil {
		return err
	}
	if len(of) == 0 {
		return task.Notef(task.ErrNotFound, "there is no task %q; %q lists them", oneLine(id, mostOfID),
			"orange task list")
	}
	return sayStats(&p.printer, of[0])
}

// spanView is the time in one state as JSON has it, in seconds.
type spanView struct {
	State  task.Status `json:"state"`
	Visits int         `json:"visits"`
	Time   int64       `json:"time"`
}

func sayStats(p *printer, s stats.Stats) error {
	if p.json {
		spans := make([]spanView, len(s.Spans))
		for i, span := range s.Spans {
			spans[i] = spanView{span.Status, span.Visits, seconds(span.Time)}
		}
		return p.printJSON(map[string]any{"stats": map[string]any{
			"task": s.Task, "status": s.Status, "time_in_state": seconds(s.InState),
			"total_time": seconds(s.Total), "time_by_state": spans,
			"rounds": s.Rounds, "failures": countsByName(s.Failures), "crashes": s.Crashes, "spawns": s.Spawns,
			"timeouts": s.Late, "refusals": s.Refusals,
			"first_attempt": s.FirstAttempt(), "ended_well": s.Well, "escalated": s.Escalated,
			"reached_human": s.ReachedHuman, "needs": s.Needs,
		}})
	}
	p.say("%s  %s for %s, %s in all", s.Task, s.Status, inWords(s.InState), inWords(s.Total))
	var rows [][]string
	for _, span := range s.Spans {
		rows = append(rows, []string{"  " + string(span.Status), inWords(span.Time), times(span.Visits)})
	}
	return p.columns(append(rows, []string{"  rounds", strconv.Itoa(s.Rounds)}, []string{
		"  failures", byName(s.Failures)}, []string{"  crashes", strconv.Itoa(s.Crashes)},
		[]string{"  agents started", strconv.Itoa(s.Spawns)}, []string{"  timeouts", strconv.Itoa(s.Late)},
		[]string{"  refusals", strconv.Itoa(s.Refusals)}, []string{"  needed a person", times(s.Needs)}))
}

// typicalView is how long tasks spend in a state as JSON has it, in seconds.
type typicalView struct {
	State  task.Status `json:"state"`
	Tasks  int         `json:"tasks"`
	Median int64       `json:"median"`
	P90    int64       `json:"p90"`
}

func typicalViews(spans []stats.Typical) []typicalView {
	out := make([]typicalView, len(spans))
	for i, span := range spans {
		out[i] = typicalView{span.Status, span.Tasks, seconds(span.Median), seconds(span.P90)}
	}
	return out
}

// typicalRows are the same for people, below some titles.
func typicalRows(spans []stats.Typical, titles ...string) [][]string {
	rows := [][]string{titles}
	for _, span := range spans {
		rows = append(rows, []string{string(span.Status), inWords(span.Median), inWords(span.P90),
			strconv.Itoa(span.Tasks)})
	}
	return rows
}

func saySummary(p *printer, s stats.Summary, w stats.Window) error {
	if p.json {
		view := map[string]any{
			"tasks": s.Tasks, "by_status": countsByName(s.ByStatus), "time_by_state": typicalViews(s.Spans),
			"ended_well": s.EndedWell, "first_attempt": s.FirstAttempt, "escalated": s.Escalated,
			"reached_human": s.ReachedHuman, "needed_person": s.Needed, "needs": s.Needs,
			"failures": countsByName(s.Failures), "crashes": s.Crashes, "spawns": s.Spawns, "timeouts": s.Late,
			"refusals": s.Refusals,
		}
		if w != (stats.Window{}) {
			view["since"], view["until"] = timeOr(w.Since), timeOr(w.Until)
			view["created"], view["ended"] = s.Created, s.EndedWell.Of
		}
		return p.printJSON(map[string]any{"stats": view})
	}
	if w != (stats.Window{}) {
		p.say("%s: %d created, %d ended", p.windowLine(w), s.Created, s.EndedWell.Of)
	}
	err := p.columns([][]string{
		{"tasks", strconv.Itoa(s.Tasks), byName(s.ByStatus)},
		{"ended well", inPercent(s.EndedWell), "of those that are over"},
		{"at the first attempt", inPercent(s.FirstAttempt), "of those that ended well"},
		{"escalated", inPercent(s.Escalated), "of those that were begun"},
		{"needed a person", inPercent(s.Needed), "of those that were begun; " + times(s.Needs) + " in all"},
		{"failures", byName(s.Failures), ""}, {"crashes", strconv.Itoa(s.Crashes), ""},
		{"agents started", strconv.Itoa(s.Spawns), ""}, {"timeouts", strconv.Itoa(s.Late), ""},
		{"refusals", strconv.Itoa(s.Refusals), "of agents that were refused too often"},
	})
	if err != nil || len(s.Spans) == 0 {
		return err
	}
	p.say("")
	return p.table(table{rows: typicalRows(s.Spans, "STATE", "MEDIAN", "P90", "TASKS")})
}

func countsByName(counters task.Counters) map[string]int {
	out := map[string]int{}
	for _, c := range counters {
		out[c.Name] = c.Value
	}
	return out
}

func byName(counters task.Counters) string {
	if len(counters) == 0 {
		return "none"
	}
	parts := make([]string, len(counters))
	for i, c := range counters {
		parts[i] = fmt.Sprintf("%s %d", c.Name, c.Value)
	}
	return strings.Join(parts, ", ")
}

func inPercent(s stats.Share) string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%% (%d of %d)", 100*s.Count/s.Of, s.Count, s.Of)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// inWords is a length of time for people: the finer parts of a long one say nothing.
func inWords(d time.Duration) string {
	if d < time.Minute {
		return d.Truncate(time.Second).String()
	}
	hours, minutes := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case hours >= 48:
		return fmt.Sprintf("%dd%dh", hours/24, hours%24)
	case hours > 0:
		return fmt.Sprintf("%dh%02dm", hours, minutes)
	}
	return fmt.Sprintf("%dm%02ds", minutes, d%time.Minute/time.Second)
}
