package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/conflict"
	"orange/internal/rules/eventtext"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func taskShow(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "show [ID]", Short: "Show everything about one task", Args: between(0, 1),
		Example: "  orange task show 4Fz",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			actor, err := h.Identity.Looker(ctx, id)
			if err != nil {
				actor = task.Actor{Role: task.RoleHuman} // looking is free; only the list of open moves depends on it
			}
			report, err := h.Queries.Report(ctx, id, actor)
			if err != nil {
				return err
			}
			standings, err := h.Queries.Timings(ctx, []task.Task{report.Task})
			if err != nil {
				report.Problems = append(report.Problems, "how long it has been there: "+err.Error())
			}
			conflicts := lastConflicts(ctx, &p.printer, h, []task.Task{report.Task})[report.Task.Project]
			before, err := h.Queries.Before(ctx, report.Task, true)
			if err != nil {
				report.Problems = append(report.Problems, "what it waits for: "+err.Error())
			}
			if !p.json {
				return sayReport(&p.printer, report, standings[id], conflictLines(conflicts, id), waitLines(before))
			}
			events, err := h.Queries.History(ctx, id)
			if err != nil {
				return err
			}
			return printReport(&p.printer, report, standings, events, conflicts, before)
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

func printReport(p *printer, r record.Report, standings map[string]task.Timing, events []history.Event,
	conflicts conflict.Overview, before []record.Before) error {
	hooks := hookViews(r.Owed)
	one := view(r.Task, r.Session).conflicting(conflicts).waiting(before)
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
		"setup_output": r.SetUp, "variables": orEmpty(r.Variables),
		"problems": orEmpty(r.Problems), "state_history": moves,
		"may_ask": orEmpty(r.MayAsk), "owed_hooks": hooks, "rescued": orEmpty(r.Rescued),
		"aside": orEmpty(r.Asides), "shared_settings": orEmpty(r.Shared),
		"lost": orEmpty(r.Lost), "ignored": r.Left, "last_words": r.LastWords,
		"pr_checks": r.Checks, "reviewers": r.Reviewers,
	})
}

// agentLine is how an agent is called: its harness, and the model and the effort where they are chosen.
func agentLine(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

func sayReport(p *printer, r record.Report, standing task.Timing, conflicts, before []string) error {
	t := r.Task
	p.say("%s  %s", t.ID, oneLine(t.Summary, 200))
	line := p.field
	line("status", string(t.Status)+"  "+r.About)
	line("time", timeLine(standing))
	line("work", r.Work)
	line("attention", t.Attention)
	if !t.StalledAt.IsZero() {
		line("stalled", "its agent lives and has done nothing since "+p.clock(t.StalledAt, time.DateTime))
	}
	if r.LastWords != "" {
		line("last words", r.LastWords)
	}
	if t.Queued() {
		line("queued for", string(t.QueuedFor)+" (starts when a workspace is free)")
	}
	for _, one := range before {
		line("waits for", one)
	}
	line("project", t.Project)
	line("branch", t.Branch)
	if t.PRURL != "" {
		if err := p.linked("pull request", t.PRURL, " ("+strings.ToLower(t.PRState)+")"); err != nil {
			return err
		}
		line("checks", r.Checks)
	}
	line("workflow", t.Workflow.String())
	line("harness", agentLine(t.Harness, t.Model, t.Effort))
	line("reviewer", agentLine(t.ReviewHarness, t.ReviewModel, t.ReviewEffort))
	for _, c := range t.Counters {
		value := strconv.Itoa(c.Value)
		if c.Name == task.ReviewRound && r.Reviewers > 1 {
			value += fmt.Sprintf(", reviewer %d", r.Reviewers)
		}
		line(eventtext.Counter(c.Name), value)
	}
	line("variables", strings.Join(r.Variables, ", "))
	line("agents", strings.TrimSpace(r.Session+"  "+t.Session))
	line("worktree", r.Worktree)
	line("set-up", r.SetUp)
	line("git ignores", r.Left)
	line("document", r.Path)
	for _, problem := range r.Problems {
		line("  problem", problem)
	}
	for _, one := range conflicts {
		line("conflicts with", one)
	}
	line("may ask for", strings.Join(r.MayAsk, ", "))
	for _, h := range r.Owed {
		line("hook to run", strings.TrimSpace(h.Action+" ("+string(h.State)+") "+h.Error))
	}
	for _, rescued := range r.Rescued {
		line("rescued", rescued.Ref+"  "+rescued.What)
		line("  get it back", rescued.Command)
	}
	for _, one := range r.Shared {
		line("shared settings", one)
	}
	if len(r.Shared) > 0 {
		line("  put back or keep", "orange project restore --project "+r.Task.Project+", or: orange project accept "+
			"--project "+r.Task.Project)
	}
	for _, one := range r.Lost {
		line("gone meanwhile", one)
	}
	for _, one := range r.Asides {
		line("set aside", one.String())
		line("  get it back", "orange workspace restore "+r.Task.ID+" "+joinWords([]string{one.Path}))
	}
	return nil
}
