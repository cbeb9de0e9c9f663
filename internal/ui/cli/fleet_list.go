package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
	"orange/internal/rules/conflict"
	"orange/internal/rules/inbox"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

func (fl fleet) list() *cobra.Command {
	c := taskList(fl.program)
	var on string
	onFlag(c, &on, "only the tasks of this host")
	c.Short = "List the tasks of all hosts"
	c.Long = `List the tasks of all hosts, or of the one that --on names: those of the project that you are in, by
its name, or of all projects where you are in none or with --all. The hosts are asked all at once, 5
seconds each. Where one was not reached, the list says so and the exit status is 1: that a task is
not in the list then does not mean that it is gone.

With --json each task also has "host", and "hosts" says of each host whether it was reached.`
	c.Example = "  orange fleet list\n  orange fleet list --mine --all\n  orange fleet list --on big --json"
	c.RunE = fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
		if err := fl.exactly(c); err != nil {
			return err
		}
		call, err := callOf(&fl.input, c, args, "json")
		if err != nil {
			return err
		}
		call.Argv = slices.Insert(call.Argv, 2, "--json")
		all, err := c.Flags().GetBool("all")
		if err == nil && !all && fl.project == "" {
			_, here, lost := h.Identity.Here(ctx)
			if err = lost; here != "" {
				call.Argv = slices.Insert(call.Argv, 2, "--project="+here)
			}
		}
		hosts := f.All()
		if err == nil && on != "" {
			var one remote.Host
			one, err = f.Host(on)
			hosts = []remote.Host{one}
		}
		if err != nil {
			return err
		}
		var want wanted
		if want.mine, err = c.Flags().GetBool("mine"); err != nil {
			return err
		}
		if want.done, err = c.Flags().GetBool("done"); err != nil {
			return err
		}
		if fl.served != nil {
			return servedFleet{fl}.list(ctx, h, f, on, call, want)
		}
		return listAll(&fl.printer, fl.askAll(ctx, h, f, hosts, call), want, nil)
	})
	return c
}

// listedTask is a task as the list of a host has it.
type listedTask struct {
	ID        string               `json:"id"`
	Project   string               `json:"project"`
	Branch    string               `json:"branch"`
	Status    task.Status          `json:"status"`
	Summary   string               `json:"summary"`
	CreatedAt string               `json:"created_at"`
	UpdatedAt string               `json:"updated_at"`
	EnteredAt string               `json:"entered_at"`
	Attention string               `json:"attention"`
	QueuedFor task.Status          `json:"queued_for"`
	After     []record.Before      `json:"after"`
	Stalled   string               `json:"stalled_since"`
	Live      bool                 `json:"live"`
	Session   string               `json:"session"`
	Overdue   int                  `json:"overdue"`
	NeedsYou  record.Need          `json:"needs_you"`
	Conflicts *[]conflict.Conflict `json:"conflicts"`
	Unknown   string               `json:"conflicts_unknown"`

	// Known says how old the row is, or what the task waits for, where it comes from the server of the fleet.
	Known string `json:"known"`

	host string
	raw  json.RawMessage
}

// tasksOf are the tasks that a host listed. A host that knows no such project has none of its tasks.
func tasksOf(one told) ([]listedTask, error) {
	if problem := one.problem(); problem != "" {
		return nil, errors.New(problem)
	}
	var said struct {
		Tasks []json.RawMessage `json:"tasks"`
		Error string            `json:"error"`
		Code  string            `json:"code"`
	}
	if err := json.Unmarshal([]byte(one.reply.Stdout), &said); err != nil {
		return nil, fmt.Errorf("its list cannot be read: %w", err)
	}
	if one.reply.Exit != 0 {
		return nil, &unlisted{one.reply.Exit, said.Code, said.Error}
	}
	out := make([]listedTask, len(said.Tasks))
	for i, raw := range said.Tasks {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("its list cannot be read: %w", err)
		}
		out[i].host, out[i].raw = one.host.Name, raw
	}
	return out, nil
}

// unlisted is why a host that was reached lists nothing.
type unlisted struct {
	exit       int
	code, text string
}

func (u *unlisted) Error() string { return u.text }

// listAll prints the tasks of all hosts, and says which hosts gave none. Others are tasks that no host listed.
func listAll(p *printer, all []told, want wanted, others []listedTask) error {
	tasks := others
	var failed []error
	hosts := []map[string]any{}
	lost := 0
	for _, one := range all {
		some, err := tasksOf(one)
		tasks = append(tasks, some...)
		view := map[string]any{"name": one.host.Name, "reached": one.problem() == "", "problem": ""}
		if err != nil {
			view["problem"] = err.Error()
			failed = append(failed, err)
		}
		unknown, is := errors.AsType[*unlisted](err)
		if err != nil && (!is || unknown.exit != exitNotFound) {
			lost++
			p.warn("host %s: %v", one.host.Name, err)
		} else if text := strings.TrimSpace(one.reply.Stderr); text != "" {
			p.warn("host %s: %s", one.host.Name, strings.TrimPrefix(text, "orange: "))
		}
		hosts = append(hosts, view)
	}
	if len(failed) == len(all) && len(all) > 0 {
		if refused, is := errors.AsType[*unlisted](failed[0]); is {
			return refusedAlike(refused)
		}
	}
	arrange(tasks, want)
	if err := printAll(p, tasks, hosts, want); err != nil {
		return err
	}
	if lost > 0 {
		return &ended{exitFailed}
	}
	return nil
}

// refusedAlike is what every host said, as one of them would.
func refusedAlike(u *unlisted) error {
	switch u.exit {
	case exitUsage:
		return usage("%s", u.text)
	case exitNotFound:
		return task.Notef(task.ErrNotFound, "%s", u.text)
	}
	return errors.New(u.text)
}

// arrange brings tasks of several hosts into the order that each of them has.
func arrange(tasks []listedTask, want wanted) {
	slices.SortStableFunc(tasks, func(a, b listedTask) int {
		switch {
		case want.mine:
			return inbox.First(a.NeedsYou, b.NeedsYou, a.ID, b.ID)
		case want.done:
			return strings.Compare(b.EnteredAt, a.EnteredAt)
		case a.Live != b.Live:
			return map[bool]int{true: -1, false: 1}[a.Live]
		}
		return strings.Compare(b.CreatedAt, a.CreatedAt)
	})
}

func printAll(p *printer, tasks []listedTask, hosts []map[string]any, want wanted) error {
	if p.json {
		views := make([]json.RawMessage, len(tasks))
		for i, t := range tasks {
			views[i] = withHost(t)
		}
		return p.printJSON(map[string]any{"tasks": views, "hosts": hosts})
	}
	switch {
	case len(tasks) == 0 && want.mine:
		p.say("nothing needs you at the hosts that were reached")
		return nil
	case len(tasks) == 0:
		p.say("no tasks at the hosts that were reached")
		return nil
	case want.mine:
		rows := [][]string{{"ID", "HOST", "PROJECT", "STATUS", "NEEDS YOU", "BRANCH", "SUMMARY"}}
		for _, t := range tasks {
			rows = append(rows, []string{t.ID, t.host, t.Project, string(t.Status), t.NeedsYou.Reason, t.Branch,
				inOneLine(t.Summary)})
		}
		return p.table(table{rows: rows, gives: []int{6, 5, 2}})
	}
	return tableOfAll(p, tasks, want)
}

// withHost is a task's JSON with the host in it, the names in their order.
func withHost(t listedTask) json.RawMessage {
	name, err := json.Marshal(t.host)
	rest := bytes.TrimPrefix(bytes.TrimSpace(t.raw), []byte("{"))
	if err != nil || len(rest) == len(t.raw) {
		return t.raw
	}
	return slices.Concat([]byte(`{"host":`), name, []byte(","), rest)
}

func tableOfAll(p *printer, tasks []listedTask, want wanted) error {
	rows := [][]string{{"ID", "HOST", "PROJECT", "STATUS", "AGENT", "BRANCH", ageTitle(want.done), "SUMMARY"}}
	conflicting, now := false, time.Now()
	for _, t := range tasks {
		row := []string{t.ID, cmp.Or(t.host, "-"), t.Project, string(t.Status), cmp.Or(t.Known,
			marksOf(t.task(), t.Session, t.NeedsYou, t.After)), t.Branch, screen.Age(want.at(t.task()), now),
			inOneLine(t.Summary)}
		if mark := conflictMark(t.overview(), t.ID); mark != "" {
			row, conflicting = append(row, mark), true
		}
		rows = append(rows, row)
	}
	if conflicting {
		rows[0] = append(rows[0], "CONFLICTS")
	}
	look := func(row, column int) printable.Paint {
		if column != 3 && column != 4 {
			return printable.Plain
		}
		t := tasks[row-1]
		return lookOf(t.task(), t.Session, t.NeedsYou)
	}
	return p.table(table{rows: rows, gives: []int{7, 5, 2, 8, 4}, spare: 6, look: look})
}

// task is the task as far as a list tells it.
func (l listedTask) task() task.Task {
	t := task.Task{ID: l.ID, Project: l.Project, Branch: l.Branch, Status: l.Status, Summary: l.Summary,
		Attention: l.Attention, QueuedFor: l.QueuedFor, Live: l.Live, Overdue: l.Overdue}
	for _, b := range l.After {
		t.After = append(t.After, b.ID)
	}
	for into, text := range map[*time.Time]string{&t.StalledAt: l.Stalled, &t.UpdatedAt: l.UpdatedAt,
		&t.EnteredAt: l.EnteredAt} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			*into = at
		}
	}
	return t
}

func (l listedTask) overview() conflict.Overview {
	all := conflict.Overview{Of: map[string][]conflict.Conflict{}, Unknown: map[string]string{}}
	if l.Conflicts != nil {
		all.Of[l.ID] = *l.Conflicts
	}
	if l.Unknown != "" {
		all.Unknown[l.ID] = l.Unknown
	}
	return all
}
