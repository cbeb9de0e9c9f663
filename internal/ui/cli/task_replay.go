package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/proof/replay"
	"orange/internal/rules/task"
)

func taskReplay(p *Program) *cobra.Command {
	var all, strict bool
	var file string
	c := &cobra.Command{
		Use: "replay [ID]", Short: "Make every past decision on a task again, and compare", Args: between(0, 1),
		Long: `Make every past decision on a task again, from nothing but what was recorded with it, and compare
the result with the history, byte by byte. Events that only report what was done are skipped.
Decisions by another edition of the rules, of an earlier orange, are counted as not checked: Orange
looks at their events and texts, and does not make them again.
Exit status: 0 if all come out the same, 1 if one does not, or cannot be made again because
something that it was made from is lost. With --strict it is 1 too if one was not checked.

--workflow FILE makes them by the rules of that workflow (a file, or a name) instead, each on the
task as it was then, and lists those that would have come out otherwise. With --all it takes the
tasks of the workflow of that name, and counts the others; a task that is named is looked at
whatever its workflow. Evidence that was not looked at then may have been there or missing. Where
the answer is the same either way, or other evidence is known to be missing, Orange compares that
answer. It cannot compare the rest, and counts it by reason, state and evidence.
Refused requests are not in a history. Exit status: 0.

With --json: {"tasks": [{"task", "decisions", "equal", "skipped", "other_edition", "untold": [...],
"different": [...]}], "ok": whether all come out the same, "groups": [{"reason", "state", "part",
"count", "tasks", "ids"}], "others": {workflow: tasks left out}}. What is untold or different is
{"event", "type", "why", "reason", "state", "parts", "recorded", "decided"}; a group has the ids of
three of its tasks. A task that cannot be looked at has "trouble".`,
		Example: "  orange task replay 4Fz\n  orange task replay --all\n  orange task replay --all --workflow " +
			"workflows/stricter.yml",
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			ids, err := p.idsOf(ctx, h, args, all)
			if err != nil {
				return err
			}
			far := p.progress()
			replayed, err := h.Queries.Replay(ctx, ids, replay.Rules{Workflow: file, Own: all}, far.tell)
			far.end()
			if err != nil {
				return err
			}
			return sayReplays(&p.printer, replayed, file, strict)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks; with --workflow, all of the workflow of that name")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 where a decision was not checked")
	c.Flags().StringVar(&file, "workflow", "",
		"the workflow by whose rules the decisions are made, instead of those that they were made by")
	return c
}

// untoldGroup are decisions that cannot be compared for one reason, of tasks in one state.
type untoldGroup struct {
	Reason string      `json:"reason"`
	State  task.Status `json:"state"`
	Part   string      `json:"part"` // what was not looked at
	Count  int         `json:"count"`
	Tasks  int         `json:"tasks"`
	IDs    []string    `json:"ids"` // of up to three of the tasks
}

// maxGroupIDs is how many tasks of a group are named.
const maxGroupIDs = 3

// groupsOf are the decisions that cannot be compared, the most frequent first.
func groupsOf(all []replay.Replayed) []untoldGroup {
	type key struct {
		reason string
		state  task.Status
		part   string
	}
	found := map[key]*untoldGroup{}
	for _, r := range all {
		counted := map[key]bool{}
		for _, d := range r.Untold {
			k := key{d.Reason, d.State, strings.Join(d.Parts, ", ")}
			g := found[k]
			if g == nil {
				g = &untoldGroup{Reason: k.reason, State: k.state, Part: k.part}
				found[k] = g
			}
			g.Count++
			if counted[k] {
				continue
			}
			counted[k] = true
			if g.Tasks++; g.Tasks <= maxGroupIDs {
				g.IDs = append(g.IDs, r.Task)
			}
		}
	}
	out := []untoldGroup{}
	for _, g := range found {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b untoldGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.State, b.State), cmp.Compare(a.Part, b.Part))
	})
	return out
}

// sayReplays tells what came of decisions that were made again; file is the workflow by whose rules they were, if
// by another one's.
func sayReplays(p *printer, all replay.Replays, file string, strict bool) error {
	var sum replay.Replayed
	troubled := 0
	for _, r := range all.Tasks {
		sum.Decisions += r.Decisions
		sum.Equal += r.Equal
		sum.Skipped += r.Skipped
		sum.OtherEdition += r.OtherEdition
		if r.Trouble != "" {
			troubled++
		}
		sum.Untold = append(sum.Untold, r.Untold...)
		sum.Different = append(sum.Different, r.Different...)
		if !p.json {
			sayDifferences(p, r, file == "")
		}
	}
	same := len(sum.Different) == 0 && len(sum.Untold) == 0 && troubled == 0
	if p.json {
		others := all.Others
		if others == nil {
			others = map[string]int{}
		}
		if err := p.printJSON(map[string]any{"tasks": orEmpty(all.Tasks), "ok": same,
			"groups": groupsOf(all.Tasks), "others": others}); err != nil {
			return err
		}
	} else {
		if file != "" && len(sum.Untold) > 0 {
			if err := printGroups(p, groupsOf(all.Tasks)); err != nil {
				return err
			}
		}
		p.say("%s, %s made again: %d came out the same, %d differently, %d cannot be compared",
			count(len(all.Tasks), "task"), count(sum.Decisions, "decision"), sum.Equal, sum.Decisions-sum.Equal,
			len(sum.Untold))
		if sum.OtherEdition > 0 {
			p.say("not checked: %s by another edition of the rules", count(sum.OtherEdition, "decision"))
		}
		if troubled > 0 {
			p.say("%s could not be looked at", count(troubled, "task"))
		}
		sayOthers(p, all.Others)
	}
	if troubled > 0 || !same && file == "" || strict && sum.OtherEdition > 0 {
		return &ended{exitFailed}
	}
	return nil
}

// sayDifferences tells of one task what came out otherwise; with all that cannot be compared, each for itself.
func sayDifferences(p *printer, r replay.Replayed, each bool) {
	if r.Trouble != "" {
		p.say("%s cannot be looked at: %s", r.Task, r.Trouble)
	}
	for _, d := range r.Different {
		p.say("%s, event %d", r.Task, d.Event)
		p.say("  recorded: %s", orNothing(d.Recorded))
		p.say("  decided:  %s", orNothing(d.Decided))
	}
	if !each {
		return
	}
	for _, d := range r.Untold {
		p.say("%s, event %d (%s) cannot be compared: %s", r.Task, d.Event, d.Type, d.Why)
	}
}

// printGroups prints what cannot be compared.
func printGroups(p *printer, all []untoldGroup) error {
	rows := [][]string{{"CANNOT BE COMPARED", "STATE", "WHY", "TASKS"}}
	for _, g := range all {
		why := g.Reason
		if g.Part != "" {
			why += ": " + g.Part
		}
		ids := strings.Join(g.IDs, ", ")
		if more := g.Tasks - len(g.IDs); more > 0 {
			ids += fmt.Sprintf(" and %d more", more)
		}
		rows = append(rows, []string{strconv.Itoa(g.Count), cmp.Or(string(g.State), "-"), why, ids})
	}
	return p.table(table{rows: rows})
}

func sayOthers(p *printer, all map[string]int) {
	if len(all) == 0 {
		return
	}
	sum, each := 0, []string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sum += all[name]
		each = append(each, fmt.Sprintf("%s %d", name, all[name]))
	}
	p.say("left out: %s of other workflows (%s); name a task to look at it whatever its workflow",
		count(sum, "task"), strings.Join(each, ", "))
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return strings.ReplaceAll(text, "\n", fmt.Sprintf("\n%12s", ""))
}
