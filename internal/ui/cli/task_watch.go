package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/eventtext"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Words for --since, and what a deleted task has in place of a type.
const (
	sinceNow    = "now"
	sinceStart  = "start"
	taskDeleted = "task.deleted"
)

type watched struct {
	id, project string // empty: of all
	types       []string
	since       string
	until       string
	timeout     time.Duration
}

func taskWatch(p *Program) *cobra.Command {
	var w watched
	var all bool
	c := &cobra.Command{
		Use: "watch [ID]", Short: "Print events of tasks as they happen, for scripts", Args: between(0, 1),
		Long: `Print events as they happen: those of one task, or of all tasks of the project that you are in, or
of all projects where you are in none or with --all. Each line is one JSON object, with and without
--json: cursor, task, project, branch, and the event as "orange task history --json" has it; for a
task that was deleted there is "deleted" in its place. No event is reported twice, and none is left
out: --since with the cursor of the last line continues after it. Events of a task that is deleted
now are reported only to those who watched before the deletion.

It ends when its output is closed, when the one task is deleted, or with --timeout (status 0), and
when you stop it (status 130). The time begins when past events are printed.
With --until it ends with status 0 once the task is in that status, or got there in what was
reported; with 1 when the time is up before, and with 4 when the task is deleted.`,
		Example: `  orange task watch --all --type status.changed --type auto.advanced
  orange task watch 4Fz --until reviewing --timeout 2h && notify-send "Have a look"
  orange task watch --since 1207 | jq -r '.task + " " + .event.type'`,
		RunE: p.run(func(ctx context.Context, h *Services, args []string) error {
			if len(args) > 0 && all {
				return usage("found --all and the id of one task, expected one of the two")
			}
			if len(args) == 0 && w.until != "" {
				return usage("--until is for one task: give its id")
			}
			cursor, err := w.begin(ctx, &p.finder, h, args, all)
			if err != nil {
				return err
			}
			p.lend()
			p.json = false // the output is lines from here on: what goes wrong goes to the standard error
			return w.follow(ctx, &p.printer, h, cursor)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "those of every project")
	c.Flags().StringVar(&w.since, "since", sinceNow, "where to begin: now, start, or the cursor of a line")
	c.Flags().StringVar(&w.until, "until", "", "end when the one task is in this status")
	c.Flags().StringSliceVar(&w.types, "type", nil, "only events of this type (repeatable); "+taskDeleted+
		" for tasks that are deleted")
	c.Flags().DurationVar(&w.timeout, "timeout", 0, "how long at most (default: until you stop it)")
	return c
}

// begin finds out what is to be watched, and the cursor to begin with.
func (w *watched) begin(ctx context.Context, p *finder, h *Services, args []string, all bool) (int64, error) {
	known := append(eventtext.Types(), taskDeleted)
	for _, name := range w.types {
		if !slices.Contains(known, name) {
			return 0, usage("found %q as --type, %s", name, yaml.Expected(name, known))
		}
	}
	if w.timeout < 0 {
		return 0, usage("found %s as --timeout, expected a time above 0", w.timeout)
	}
	newest, err := h.Queries.Changed(ctx)
	if err != nil {
		return 0, err
	}
	cursor, err := since(w.since, newest)
	if err != nil {
		return 0, err
	}
	if len(args) == 0 {
		filter, err := p.filterOf(ctx, h, all)
		w.project = filter.Project
		return cursor, err
	}
	if w.id, err = p.find(ctx, h, args); err != nil || w.until == "" {
		return cursor, err
	}
	_, def, err := h.Queries.Pinned(ctx, w.id)
	if err != nil {
		return 0, err
	}
	if states := stateNames(def); !slices.Contains(states, w.until) {
		err = usage("found %q as --until, %s", w.until, yaml.Expected(w.until, states))
	}
	return cursor, err
}

func since(word string, newest int64) (int64, error) {
	switch word {
	case sinceNow:
		return newest, nil
	case sinceStart:
		return 0, nil
	}
	cursor, err := strconv.ParseInt(word, 10, 64)
	if err != nil || cursor < 0 {
		return 0, usage("found %q as --since, expected %s, %s, or the cursor of a line", word, sinceNow, sinceStart)
	}
	if cursor > newest {
		return 0, usage("found %d as --since, and the record has come to %d only: that cursor is of another "+
			"record; begin with --since %s", cursor, newest, sinceStart)
	}
	return cursor, nil
}

// changeView is one thing that happened, as a script reads it.
type changeView struct {
	Cursor  int64          `json:"cursor"`
	Task    string         `json:"task"`
	Project string         `json:"project"`
	Branch  string         `json:"branch"`
	Deleted bool           `json:"deleted,omitempty"`
	Event   *history.Event `json:"event,omitempty"`
}

// errEnough ends a watch that has seen what it was for.
var errEnough = errors.New("there is nothing more to wait for")

// follow prints lines until there is a reason to end.
func (w watched) follow(ctx context.Context, p *printer, h *Services, cursor int64) error {
	within, off := context.WithCancelCause(ctx)
	defer off(nil)
	gone, caughtUp := false, false
	err := h.Queries.Follow(within, cursor, func(all []history.Happening) error {
		for i := range all {
			one := &all[i]
			if w.id != "" && one.Task != w.id || w.project != "" && one.Project != w.project {
				continue
			}
			gone = one.Deleted
			if err := w.print(p, one); err != nil {
				return err
			}
			if one.Event.IsMove() && string(one.Event.To) == w.until {
				return errEnough
			}
		}
		switch {
		case len(all) > 0:
			return nil
		case gone && w.id != "": // and it was not brought back in what is reported so far
			return w.lost()
		case caughtUp:
			return nil
		}
		caughtUp = true
		if w.timeout > 0 { // not before: what has happened already is reported in any case
			time.AfterFunc(w.timeout, func() { off(context.DeadlineExceeded) })
		}
		return w.there(ctx, h)
	})
	if !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(within), context.DeadlineExceeded) {
		return ending(ctx, err)
	}
	if w.until != "" {
		return fmt.Errorf("task %s did not get to %q within %s; %q shows what is missing", w.id, w.until,
			w.timeout, "orange task why "+w.id)
	}
	return nil
}

// print prints a line if it is asked for.
func (w watched) print(p *printer, h *history.Happening) error {
	out := changeView{Cursor: h.Cursor, Task: h.Task, Project: h.Project, Branch: h.Branch, Deleted: h.Deleted}
	kind := taskDeleted
	if !h.Deleted {
		out.Event, kind = &h.Event, h.Event.Type
	}
	if len(w.types) > 0 && !slices.Contains(w.types, kind) {
		return nil
	}
	return p.encode(out, "")
}

func (w watched) lost() error {
	if w.until == "" {
		return errEnough
	}
	return task.Notef(task.ErrNotFound, "task %s was deleted, and will not get to %q", w.id, w.until)
}

// there ends a watch whose task is already where it is wanted.
func (w watched) there(ctx context.Context, h *Services) error {
	if w.until == "" {
		return nil
	}
	found, err := h.Queries.Tasks(ctx, record.Filter{Prefix: w.id})
	if err != nil {
		return err
	}
	for i := range found {
		if found[i].ID == w.id && string(found[i].Status) == w.until {
			return errEnough
		}
	}
	return nil
}

// ending is how a command ends that goes on until the caller stops it.
func ending(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, errEnough):
		return nil
	case ctx.Err() != nil:
		return &ended{exitStopped}
	}
	return err
}

// liveList is a list whose changes are reported.
type liveList struct {
	lister

	shown  map[string]bool   // the tasks that are in the list now
	needs  map[string]string // why those need a person that do
	cursor int64             // how far shown has come
}

// watch prints the list, and then a line for each move and each new need of a task that belongs into it, or did so
// before.
func (l *liveList) watch(ctx context.Context, h *Services) error {
	if l.json {
		return usage("--watch is for people: %q tells the same to programs", "orange task watch")
	}
	if l.want.failures < 0 {
		return usage("found %d as --failures, expected a number from 1", l.want.failures)
	}
	l.plain = true
	l.lend()
	cursor, err := h.Queries.Changed(ctx)
	if err != nil {
		return err
	}
	l.cursor = cursor
	err = h.Queries.Follow(ctx, cursor, func(all []history.Happening) error {
		if l.shown == nil { // not before: a follower also notices that the output has no reader
			tasks, err := l.listOnce(ctx, h)
			if err == nil {
				err = l.flush() // the next line may be hours away
			}
			if err != nil {
				return err
			}
			l.shown = map[string]bool{}
			if l.needs, err = needReasons(ctx, &l.printer, h, tasks); err != nil {
				return err
			}
			for i := range tasks {
				l.shown[tasks[i].ID] = true
			}
		}
		return l.printChanges(ctx, h, all)
	})
	return ending(ctx, err)
}

func (l *liveList) printChanges(ctx context.Context, h *Services, all []history.Happening) error {
	changed, gone, next, err := h.Queries.TasksSince(ctx, l.cursor)
	if err != nil {
		return err
	}
	l.cursor = next
	after := map[string]bool{}
	for i := range changed {
		after[changed[i].ID] = false
	}
	changed = slices.DeleteFunc(changed, func(t task.Task) bool {
		return l.filter.Project != "" && t.Project != l.filter.Project || l.filter.Status != "" &&
			t.Status != l.filter.Status
	})
	if changed, _, err = l.choose(ctx, h, changed); err != nil {
		return err
	}
	for i := range changed {
		after[changed[i].ID] = true
	}
	for i := range all {
		e := &all[i].Event
		if !all[i].Deleted && !e.IsMove() && e.Type != history.Created {
			continue
		}
		// A task may have come and gone before it was looked at.
		passed := l.filter.Status != "" && l.want == (wanted{}) && e.IsMove() &&
			(e.From == l.filter.Status || e.To == l.filter.Status)
		if l.filter.Project != "" && all[i].Project != l.filter.Project || !passed && !l.shown[all[i].Task] &&
			!after[all[i].Task] {
			continue
		}
		if err := l.print(changeLine(l.zone, &all[i]) + "\n"); err != nil {
			return err
		}
	}
	maps.Copy(l.shown, after)
	for _, id := range gone {
		delete(l.shown, id)
		delete(l.needs, id)
	}
	return l.printNeeds(ctx, h, changed)
}

// printNeeds prints a line for each of some tasks that needs a person, if it did not before or for another reason.
func (l *liveList) printNeeds(ctx context.Context, h *Services, tasks []task.Task) error {
	needs, err := needReasons(ctx, &l.printer, h, tasks)
	if err != nil {
		return err
	}
	for i := range tasks {
		t, reason := &tasks[i], needs[tasks[i].ID]
		if reason != "" && reason != l.needs[t.ID] {
			line := fmt.Sprintf("%s %s/%s needs you: %s", l.clock(time.Now(), time.TimeOnly), t.Project, t.Branch,
				inOneLine(reason))
			if err := l.print(printable.Line(line) + "\n"); err != nil {
				return err
			}
		}
		l.needs[t.ID] = reason
	}
	return nil
}

// needReasons says why those of some tasks need a person that do, as far as their agents can be looked at.
func needReasons(ctx context.Context, p *printer, h *Services, tasks []task.Task) (map[string]string, error) {
	sessions, needs, err := h.Queries.Needs(ctx, tasks)
	if sessions == nil && err != nil {
		return nil, err
	}
	if err != nil {
		p.warn("some agents cannot be looked at: %v", err)
	}
	reasons := map[string]string{}
	for id := range needs {
		if needs[id].Kind != "" {
			reasons[id] = needs[id].Reason
		}
	}
	return reasons, nil
}

// changeLine is what happened to a task, for people.
func changeLine(z zone, h *history.Happening) string {
	name := h.Project + "/" + h.Branch
	if h.Deleted {
		return printable.Line(fmt.Sprintf("%s %s deleted", z.clock(time.Now(), time.TimeOnly), name))
	}
	text := fmt.Sprintf("%s %s %s %s", z.clock(h.Event.Time, time.TimeOnly), name, eventtext.What(&h.Event),
		eventtext.Who(&h.Event))
	return printable.Line(strings.TrimSpace(text))
}
