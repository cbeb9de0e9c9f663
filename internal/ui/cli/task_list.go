package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/conflict"
	"orange/internal/rules/inbox"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/ui/dashboard/screen"
)

// lister lists tasks.
type lister struct {
	*finder

	filter record.Filter // what the record chooses by
	want   wanted
}

func taskList(p *Program) *cobra.Command {
	l := lister{finder: &p.finder}
	var status string
	var all, watching bool
	var when span
	c := &cobra.Command{
		Use: "list", Short: "List tasks: the live ones first, the newest first", Args: between(0, 0),
		Long: `List the tasks of the project that you are in, or of all projects where you are in none or with
--all.

With --watch the list is printed once, and then one line whenever a task that is or was in the list
moves, comes to need you, is created or is deleted, until you stop it. Printed lines never change
and have no colours: a screen reader can read them, and you can keep them in a file.

With --mine only the tasks that need you are listed, the one that has waited for longest first, each
with the reason in a few words: what an agent asks, "review passed", "limit until 14:20". The
dashboard has the same tasks on top, in the same order and words.

With --done only the tasks that are over are listed, merged or given up, the last one first. ENDED
is how long ago each of them ended; without --done CHANGED is how long ago a task was changed last.
--since and --until choose by the same time. Both take how long ago, as 24h or 7d, or a day in your
zone, which counts from its beginning to its end. In JSON the two times are "entered_at" and
"updated_at".`,
		Example: "  orange task list\n  orange task list --all --status working --json\n  orange task list " +
			"--overdue --failures 2\n  orange task list --all --mine\n  orange task list --all --watch\n" +
			"  orange task list --done --since 2026-11-29 --until 2026-11-29",
		RunE: p.run(func(ctx context.Context, h *Services, _ []string) error {
			var err error
			if l.filter, err = l.filterOf(ctx, h, all); err != nil {
				return err
			}
			if l.want.window, err = p.window(when, time.Now()); err != nil {
				return err
			}
			l.filter.Status = task.Status(status)
			if watching {
				return (&liveList{lister: l}).watch(ctx, h)
			}
			_, err = l.listOnce(ctx, h)
			return err
		}),
	}
	c.Flags().BoolVar(&watching, "watch", false, "then print one line for each move and each need")
	c.Flags().BoolVar(&l.want.mine, "mine", false, "only those that need you, the oldest need first")
	c.Flags().BoolVar(&l.want.overdue, "overdue", false,
		"only those that have been in their status for longer than they should")
	c.Flags().BoolVar(&l.want.escalated, "escalated", false,
		"only those that are in a state of escalation")
	c.Flags().IntVar(&l.want.failures, "failures", 0, "only those of which a state "+
		"failed at least this often since its count began")
	c.Flags().BoolVar(&l.want.done, "done", false, "only those that are over, the last one first")
	spanFlags(c, &when, "only those that were changed, or with --done ended,")
	c.Flags().StringVar(&status, "status", "", "only those in this status")
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	return c
}

// listOnce prints the list, and answers the tasks in it.
func (l lister) listOnce(ctx context.Context, h *Services) ([]task.Task, error) {
	filter, want := l.filter, l.want
	filter.Brief = want == wanted{} && !l.json
	tasks, err := h.Queries.Tasks(ctx, filter)
	if err == nil && len(tasks) == 0 && filter.Status != "" {
		err = knownStatus(h, filter.Status)
	}
	if err != nil {
		return nil, err
	}
	tasks, standings, err := l.choose(ctx, h, tasks)
	if err != nil {
		return nil, err
	}
	sessions, needs, err := h.Queries.Needs(ctx, tasks)
	if sessions == nil && err != nil {
		return nil, err
	}
	if err != nil {
		l.warn("some agents cannot be looked at: %v", err)
	}
	if filter.Brief {
		if err := wholeNeeds(ctx, h, filter, needs); err != nil {
			return nil, err
		}
	}
	if want.mine {
		tasks = whoNeed(tasks, needs)
	}
	if len(tasks) == 0 && want != (wanted{}) && !l.json {
		l.say("%s", map[bool]string{true: "nothing needs you",
			false: "no task is like that; all of them: orange task list --all"}[want.mine])
		return nil, nil
	}
	if want.mine && !l.json {
		return tasks, l.mine(tasks, needs)
	}
	if !l.json {
		lost, older, err := h.Queries.Unrecorded(ctx)
		if err != nil {
			return nil, err
		}
		if older > 0 {
			l.say("%s of an earlier Orange left in their folders: \"orange adopt\" lists them", count(older, "task"))
		} else if lost > 0 && len(tasks) == 0 {
			l.say("no tasks; %d have a folder and are not on record: \"orange doctor\" names them", lost)
		}
		if lost > 0 && len(tasks) == 0 {
			return nil, nil
		}
	}
	return tasks, l.list(tasks, known{sessions, needs, standings, lastConflicts(ctx, &l.printer, h, tasks),
		beforeOf(ctx, &l.printer, h, tasks)})
}

// wholeNeeds finds the needs of tasks that were read briefly again, for the tasks as a whole: a brief look has neither
// since when they are in their status nor who handed their work in.
func wholeNeeds(ctx context.Context, h *Services, filter record.Filter,
	needs map[string]record.Need) error {
	if !slices.ContainsFunc(slices.Collect(maps.Values(needs)), func(n record.Need) bool { return n.Kind != "" }) {
		return nil
	}
	filter.Brief = false
	tasks, err := h.Queries.Tasks(ctx, filter)
	if err != nil {
		return err
	}
	sessions, whole, err := h.Queries.Needs(ctx, whoNeed(tasks, needs))
	if sessions == nil && err != nil {
		return err
	}
	maps.DeleteFunc(needs, func(_ string, n record.Need) bool { return n.Kind != "" })
	maps.Copy(needs, whole)
	return nil
}

// knownStatus refuses a status that no workflow has: its list would never have a task.
func knownStatus(h *Services, status task.Status) error {
	names, unread, err := statesOf(h)
	if err != nil || len(unread) > 0 || slices.Contains(names, string(status)) {
		return err // one that cannot be read may have it
	}
	return usage("found %q as --status, %s", status, yaml.Expected(string(status), names))
}

// whoNeed are those of tasks that need a person, the oldest need first.
func whoNeed(tasks []task.Task, needs map[string]record.Need) []task.Task {
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool { return needs[t.ID].Kind == "" })
	slices.SortStableFunc(tasks, func(a, b task.Task) int {
		return inbox.First(needs[a.ID], needs[b.ID], a.ID, b.ID)
	})
	return tasks
}

// mine prints the tasks that need a person, and why.
func (l lister) mine(tasks []task.Task, needs map[string]record.Need) error {
	rows := [][]string{{"ID", "PROJECT", "STATUS", "NEEDS YOU", "BRANCH", "SUMMARY"}}
	told := l.toldBelow(tasks, needs)
	for _, t := range tasks {
		reason := needs[t.ID].Reason
		if slices.Contains(told, t.ID) {
			reason = "see below"
		}
		rows = append(rows, []string{t.ID, t.Project, string(t.Status), reason, t.Branch, inOneLine(t.Summary)})
	}
	all := table{rows: rows, gives: []int{5, 4, 1, 3}}
	if len(told) == len(tasks) {
		all.leaveOut(3)
	}
	l.leaveOutProject(&all, tasks)
	err := l.table(all)
	l.turns(tasks, needs, true)
	return err
}

// leaveOutProject takes the column of projects out of a table for a person where all tasks are of one.
func (l lister) leaveOutProject(all *table, tasks []task.Task) {
	width, _ := l.outTerminal()
	if width > 0 && !slices.ContainsFunc(tasks, func(t task.Task) bool { return t.Project != tasks[0].Project }) {
		all.leaveOut(1)
	}
}

// wanted is what a list is asked for besides what the record can choose by.
type wanted struct {
	mine      bool
	overdue   bool
	escalated bool
	failures  int
	done      bool
	window    stats.Window
}

// at is the time that a list shows of a task, and chooses by.
func (w wanted) at(t task.Task) time.Time {
	if w.done {
		return t.EnteredAt
	}
	return t.UpdatedAt
}

// choose keeps the wanted ones of tasks, and tells how those stand in time where the answer needs it.
// A list that only shows the times is not broken by a task whose times cannot be computed; one that chooses by them is.
func (l lister) choose(ctx context.Context, h *Services, tasks []task.Task) ([]task.Task,
	map[string]task.Timing, error) {
	want := l.want
	if want.failures < 0 {
		return nil, nil, usage("found %d as --failures, expected a number from 1", want.failures)
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool {
		return t.Counters.MostFailures() < want.failures || want.done && t.Live || !want.window.Has(want.at(t))
	})
	if want.done {
		slices.SortStableFunc(tasks, func(a, b task.Task) int { return b.EnteredAt.Compare(a.EnteredAt) })
	}
	chooses := want.overdue || want.escalated
	if !chooses && !l.json {
		return tasks, nil, nil
	}
	standings, err := h.Queries.Timings(ctx, tasks)
	if err != nil && chooses {
		return nil, nil, err
	}
	if err != nil {
		l.warn("the times of some tasks cannot be computed: %v", err)
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool {
		s := standings[t.ID]
		return want.overdue && s.Overdue < task.LateAlert || want.escalated && !s.Escalated
	})
	return tasks, standings, nil
}

// known is what a list shows of tasks besides themselves: by their ids, and the conflicts by project.
type known struct {
	sessions  map[string]string
	needs     map[string]record.Need
	standings map[string]task.Timing
	conflicts map[string]conflict.Overview
	before    map[string][]record.Before
}

func (l lister) list(tasks []task.Task, of known) error {
	if l.json {
		views := make([]taskView, len(tasks))
		for i, t := range tasks {
			views[i] = view(t, of.sessions[t.ID]).conflicting(of.conflicts[t.Project]).waiting(of.before[t.ID])
			if n, is := of.needs[t.ID]; is && n.Kind != "" {
				views[i].NeedsYou = &n
			}
			if s, told := of.standings[t.ID]; told {
				views[i] = views[i].standing(s)
			}
		}
		return l.printJSON(map[string]any{"tasks": views})
	}
	if len(tasks) == 0 {
		l.say("no tasks; make one with: orange task create BRANCH SUMMARY")
		return nil
	}
	rows := append(make([][]string, 0, len(tasks)+1), []string{"ID", "PROJECT", "STATUS", "AGENT", "BRANCH",
		ageTitle(l.want.done), "SUMMARY"})
	conflicting, now := false, time.Now()
	told := l.toldBelow(tasks, of.needs)
	for _, t := range tasks {
		need := of.needs[t.ID]
		if slices.Contains(told, t.ID) {
			need.Reason = ""
		}
		row := []string{t.ID, t.Project, string(t.Status),
			marksOf(t, of.sessions[t.ID], need, of.before[t.ID]), t.Branch, screen.Age(l.want.at(t), now),
			inOneLine(t.Summary)}
		if mark := conflictMark(of.conflicts[t.Project], t.ID); mark != "" {
			row, conflicting = append(row, mark), true
		}
		rows = append(rows, row)
	}
	if conflicting {
		rows[0] = append(rows[0], "CONFLICTS")
	}
	look := func(row, column int) printable.Paint {
		if column != 2 && column != 3 {
			return printable.Plain
		}
		t := tasks[row-1]
		return lookOf(t, of.sessions[t.ID], of.needs[t.ID])
	}
	branch := func(row, column int) string {
		if column != 4 {
			return ""
		}
		return tasks[row-1].PRURL // from its branch: there is no column of pull requests
	}
	shown := table{rows: rows, gives: []int{6, 4, 1, 7, 3}, spare: 5, look: look, leads: branch}
	l.leaveOutProject(&shown, tasks)
	err := l.table(shown)
	l.turns(tasks, of.needs, false)
	return err
}

// ageTitle is the head of the column that says how long ago something was.
func ageTitle(done bool) string {
	if done {
		return "ENDED"
	}
	return "CHANGED"
}

// mostTurns is how many tasks a list names the commands of.
const mostTurns = 3

// toldBelow are the tasks whose needs a person at a terminal reads whole below the list: the list does not say them
// too.
func (l lister) toldBelow(tasks []task.Task, needs map[string]record.Need) []string {
	if width, _ := l.outTerminal(); width == 0 {
		return nil
	}
	var ids []string
	for _, t := range whoNeed(slices.Clone(tasks), needs) {
		if len(ids) < mostTurns {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// turns shows a person at a terminal all of why the tasks that have needed them for longest do, and what to type there.
// Then it says how many more need them; mine: the list above has those.
func (l lister) turns(tasks []task.Task, needs map[string]record.Need, mine bool) {
	if width, _ := l.outTerminal(); width == 0 {
		return
	}
	waiting := whoNeed(slices.Clone(tasks), needs)
	for _, t := range waiting[:min(len(waiting), mostTurns)] {
		l.say("")
		l.needUnder(t.Branch, needs[t.ID])
	}
	more := len(waiting) - mostTurns
	switch {
	case more <= 0:
	case mine:
		l.say("\n%d more; what to type for each: orange task why ID", more)
	case more == 1:
		l.say("\n1 more needs you: orange task list --mine")
	default:
		l.say("\n%d more need you: orange task list --mine", more)
	}
}

// lookOf is the colour of a task's status, which the words next to it tell as well.
func lookOf(t task.Task, session string, need record.Need) printable.Paint {
	switch {
	case t.Attention != "" || session == record.AgentDead:
		return printable.Red
	case need.Kind != "" || !t.StalledAt.IsZero() || t.Overdue >= task.LateAlert:
		return printable.Yellow
	case session == record.AgentAlive:
		return printable.Green
	case !t.Live:
		return printable.Faint
	}
	return printable.Plain
}

// marksOf says how a task's agents are, and what a person should look at.
func marksOf(t task.Task, session string, need record.Need, before []record.Before) string {
	switch {
	case t.Queued():
		return "queued"
	case need.Reason != "":
		return session + ", needs you: " + need.Reason
	case need.Kind != "":
		return session + ", needs you"
	case t.Attention != "":
		return session + " !"
	case need.Kind == "" && need.Found != "":
		return session + ", " + need.Found
	case t.WaitsForTasks():
		return waitMark(t, before)
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
