package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/history"
	"orange/internal/printable"
	"orange/internal/record"
	"orange/internal/task"
)

func (p *Program) taskList() *cobra.Command {
	var status string
	var all, watching bool
	var want wanted
	c := &cobra.Command{
		Use: "list", Short: "List tasks: the live ones first, the newest first", Args: between(0, 0),
		Long: `List the tasks of the project that you are in, or of all projects where you are in none or with --all.

With --watch the list is printed once, and then one line for everything that happens to a task that belongs into the list or did so before,
until you stop it. Nothing that was printed is changed afterwards, and there are no colours: it can be read aloud, and kept in a file.`,
		Example: "  orange task list\n  orange task list --all --status working --json\n  orange task list " +
			"--overdue --failures 2\n  orange task list --all --watch",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			filter, err := p.filter(ctx, h, all)
			if err != nil {
				return err
			}
			filter.Status = task.Status(status)
			if watching {
				return p.watchList(ctx, h, filter, want)
			}
			_, err = p.listOnce(ctx, h, filter, want)
			return err
		}),
	}
	c.Flags().BoolVar(&watching, "watch", false, "go on with one line for everything that happens")
	c.Flags().BoolVar(&want.overdue, "overdue", false,
		"only those that have been in their status for longer than they should")
	c.Flags().BoolVar(&want.escalated, "escalated", false,
		"only those that were taken out of their usual way: their state is one of escalation")
	c.Flags().IntVar(&want.failures, "failures", 0, "only those of which one state, the present one or "+
		"another, has failed at least so often since its count began")
	c.Flags().StringVar(&status, "status", "", "only those in this status")
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	return c
}

// listOnce prints the list, and answers the tasks in it.
func (p *Program) listOnce(ctx context.Context, h *Services, filter record.Filter, want wanted) ([]task.Task, error) {
	tasks, err := h.Queries.Tasks(ctx, filter)
	if err != nil {
		return nil, err
	}
	tasks, standings, err := p.choose(ctx, h, tasks, want)
	if err != nil {
		return nil, err
	}
	sessions, err := h.Queries.Sessions(ctx, tasks)
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 && want != (wanted{}) && !p.json {
		p.say("no tasks like that")
		return nil, nil
	}
	return tasks, p.list(tasks, sessions, standings)
}

// filter chooses the tasks of the project that is named, or else of the one that the working directory is in; those of
// all where it is in none.
func (p *Program) filter(ctx context.Context, h *Services, all bool) (record.Filter, error) {
	filter := record.Filter{Project: p.project}
	if filter.Project == "" && !all {
		_, here, err := h.Identity.Here(ctx)
		if err != nil {
			return filter, err
		}
		filter.Project = here
	}
	if p.project != "" {
		if _, err := h.Projects.Project(p.project); err != nil {
			return filter, err
		}
	}
	return filter, nil
}

// wanted is what a list is asked for besides what the record can choose by.
type wanted struct {
	overdue   bool
	escalated bool
	failures  int
}

// choose keeps the wanted ones of tasks, and tells how those stand in time where the answer needs it.
// A list that only shows the times is not broken by a task whose times cannot be computed; one that chooses by them is.
func (p *Program) choose(ctx context.Context, h *Services, tasks []task.Task,
	want wanted) ([]task.Task, map[string]task.Timing, error) {
	if want.failures < 0 {
		return nil, nil, usage("found %d as --failures, expected a number from 1", want.failures)
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool { return t.Counters.MostFailures() < want.failures })
	chooses := want.overdue || want.escalated
	if !chooses && !p.json {
		return tasks, nil, nil
	}
	standings, err := h.Queries.Standings(ctx, tasks)
	if err != nil && chooses {
		return nil, nil, err
	}
	if err != nil {
		p.warn("the times of some tasks cannot be computed: %v", err)
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool {
		s := standings[t.ID]
		return want.overdue && s.Overdue < task.LateAlert || want.escalated && !s.Escalated
	})
	return tasks, standings, nil
}

func (p *Program) list(tasks []task.Task, sessions map[string]string, standings map[string]task.Timing) error {
	if p.json {
		views := make([]taskView, len(tasks))
		for i, t := range tasks {
			views[i] = view(t, sessions[t.ID])
			if s, told := standings[t.ID]; told {
				views[i] = views[i].standing(s)
			}
		}
		return p.printJSON(map[string]any{"tasks": views})
	}
	if len(tasks) == 0 {
		p.say("no tasks; make one with: orange task create BRANCH SUMMARY")
		return nil
	}
	rows := [][]string{{"ID", "PROJECT", "STATUS", "AGENT", "BRANCH", "SUMMARY"}}
	for _, t := range tasks {
		rows = append(rows, []string{t.ID, t.Project, string(t.Status), marks(t, sessions[t.ID]), t.Branch,
			oneLine(t.Summary, 60)})
	}
	return p.columns(rows)
}

// marks says how a task's agents are, and what a person should look at.
func marks(t task.Task, session string) string {
	switch {
	case t.Attention != "":
		return session + " !"
	case t.Queued():
		return "queued"
	case !t.StalledAt.IsZero() && session == record.AgentAlive:
		return "stalled"
	case t.Overdue >= task.LateAlert:
		return session + " late"
	}
	return session
}

// timeLine is how a task is in time, for people; empty where that cannot be computed.
func timeLine(s task.Timing) string {
	if s == (task.Timing{}) {
		return ""
	}
	text := fmt.Sprintf("%s in this status, %s in all", inWords(s.InState), inWords(s.Total))
	switch {
	case s.Overdue >= task.LateAlert:
		text += fmt.Sprintf("; late: it should take no longer than %s", inWords(s.Timeout))
	case s.Timeout > 0:
		text += fmt.Sprintf("; it should take no longer than %s", inWords(s.Timeout))
	}
	return text
}

// oneLine makes text fit into one line of a list.
func oneLine(text string, most int) string {
	text = printable.Line(strings.Join(strings.Fields(text), " "))
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

func (p *Program) taskShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [ID]", Short: "Show everything about one task", Args: between(0, 1),
		Example: "  orange task show 4Fz",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			actor, err := h.Identity.Looker(ctx, id)
			if err != nil {
				actor = task.Actor{Role: task.RoleHuman} // looking is free; only the list of open moves depends on it
			}
			report, err := h.Queries.Report(ctx, id, actor)
			if err != nil {
				return err
			}
			standings, err := h.Queries.Standings(ctx, []task.Task{report.Task})
			if err != nil {
				report.Problems = append(report.Problems, "how long it has been there: "+err.Error())
			}
			if !p.json {
				return p.show(report, standings[id])
			}
			events, err := h.Queries.History(ctx, id)
			if err != nil {
				return err
			}
			return p.showJSON(report, standings, events)
		}),
	}
}

// moveView is one move of a task as JSON has it.
type moveView struct {
	From      task.Status `json:"from"`
	To        task.Status `json:"to"`
	Timestamp string      `json:"timestamp"`
	Reason    string      `json:"reason"`
	Actor     string      `json:"actor"`
	ActingAs  string      `json:"acting_as"`
	Person    string      `json:"person"`
}

func (p *Program) showJSON(r record.Report, standings map[string]task.Timing, events []history.Event) error {
	hooks, _ := hookViews(r.Owed)
	one := view(r.Task, r.Session)
	if s, told := standings[r.Task.ID]; told {
		one = one.standing(s).times(s)
	}
	moves := []moveView{}
	for i := range events {
		if e := &events[i]; e.IsMove() {
			moves = append(moves, moveView{e.From, e.To, task.FormatTime(e.Time), e.Reason, e.Actor, e.ActingAs,
				e.Person})
		}
	}
	return p.printJSON(map[string]any{
		"task": one, "document": r.Path, "worktree": r.Worktree, "work": r.Work, "subject": r.Task.Subject,
		"problems": orEmpty(r.Problems), "state_history": moves,
		"open": orEmpty(r.Open), "owed_hooks": hooks, "rescued": orEmpty(r.Rescued), "last_words": r.LastWords,
		"pr_checks": r.Checks,
	})
}

func (p *Program) show(r record.Report, standing task.Timing) error {
	t := r.Task
	p.say("%s  %s", t.ID, oneLine(t.Summary, 200))
	line := p.field
	line("status", string(t.Status)+"  "+r.About)
	line("time", timeLine(standing))
	line("work", r.Work)
	line("attention", t.Attention)
	if !t.StalledAt.IsZero() {
		line("stalled", "its agent lives and has done nothing since "+t.StalledAt.Local().Format(time.DateTime))
	}
	if r.LastWords != "" {
		line("last words", r.LastWords)
	}
	if t.Queued() {
		line("queued for", string(t.QueuedFor)+" (starts when a workspace is free)")
	}
	line("project", t.Project)
	line("branch", t.Branch)
	if t.PRURL != "" {
		line("pull request", fmt.Sprintf("%s (%s)", t.PRURL, strings.ToLower(t.PRState)))
		line("checks", r.Checks)
	}
	line("workflow", fmt.Sprintf("%s, version %d", t.Workflow.Name, t.Workflow.Version))
	line("harness", strings.TrimSpace(t.Harness+" "+t.Effort))
	line("reviewer", strings.TrimSpace(t.ReviewHarness+" "+t.ReviewEffort))
	for _, c := range t.Counters {
		line(c.Name, fmt.Sprint(c.Value))
	}
	line("agents", strings.TrimSpace(r.Session+"  "+t.Session))
	line("worktree", r.Worktree)
	line("document", r.Path)
	for _, problem := range r.Problems {
		line("  problem", problem)
	}
	line("open to you", strings.Join(r.Open, ", "))
	for _, h := range r.Owed {
		line("owed hook", strings.TrimSpace(h.Action+" ("+string(h.State)+") "+h.Error))
	}
	for _, rescued := range r.Rescued {
		line("rescued", rescued.Ref+"  "+rescued.What)
		line("  get it back", rescued.Command)
	}
	return nil
}

// field prints what a task has under a name. Its further lines stand below the first one, so that none of them
// looks like another name.
func (p *Program) field(name, value string) {
	if value != "" {
		p.say("  %-14s %s", name, strings.ReplaceAll(strings.TrimRight(value, "\n"), "\n",
			"\n"+strings.Repeat(" ", 17)))
	}
}

func (p *Program) logCommand() *cobra.Command {
	var level, component, grep string
	var lines int
	c := &cobra.Command{
		Use: "log", Short: "Show what the program logged", Args: between(0, 0),
		Example: "  orange log --lines 50 --level warn\n  orange log --component hook --grep spawn",
		RunE: p.run(func(_ context.Context, h *Services, _ []string) error {
			pattern, err := regexp.Compile(grep)
			if err != nil {
				return usage("found %q as --grep, expected a regular expression: %v", grep, err)
			}
			levels := []string{"DEBUG", "INFO", "WARN", "ERROR"}
			least := -1
			for i, name := range levels {
				if strings.EqualFold(name, level) {
					least = i
				}
			}
			if least < 0 {
				return usage("found %q as --level, expected one of debug, info, warn, error", level)
			}
			if lines < 1 {
				return usage("found %d as --lines, expected a number above 0", lines)
			}
			return h.Monitor.Log(func(line []byte) bool {
				return keeps(line, levels[least:], component, pattern)
			}, lines, p.Out)
		}),
	}
	c.Flags().StringVar(&level, "level", "debug", "the least level: debug, info, warn, error")
	c.Flags().StringVar(&component, "component", "", "only this part of the program: engine, hook")
	c.Flags().StringVar(&grep, "grep", "", "only lines that match this regular expression")
	c.Flags().IntVar(&lines, "lines", 200, "how many, from the end")
	return c
}

func keeps(line []byte, levels []string, component string, pattern *regexp.Regexp) bool {
	var entry struct{ Level, Component string }
	if json.Unmarshal(line, &entry) != nil || !pattern.Match(line) {
		return false
	}
	if component != "" && entry.Component != component {
		return false
	}
	for _, l := range levels {
		if strings.EqualFold(l, entry.Level) {
			return true
		}
	}
	return false
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: between(0, 0), Example: "  orange version",
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				return p.printJSON(map[string]any{"version": p.Version})
			}
			p.say("orange %s", p.Version)
			return nil
		},
	}
}
