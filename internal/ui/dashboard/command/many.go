package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/tasks"
)

// Several are the failures of a command with several tasks: each is about one of them.
type Several []Failure

// Failure is what could not be done with one task.
type Failure struct {
	What string // "merge fix/login"
	Err  error
}

func (s Several) Error() string {
	var out []string
	for _, one := range s {
		out = append(out, "cannot "+one.What+": "+one.Err.Error())
	}
	return strings.Join(out, "\n")
}

// deed is what is done with each of several tasks.
type deed struct {
	verb    string                // "merge"
	happens string                // what is done with each of them, in a sentence
	of      func(Target) []string // what the question says of each besides, in sentences; nil for nothing
	closed  func(Target) string
	// do does it with one of them, and answers what stayed behind of its work.
	do func(ctx context.Context, on Target, text string) (stayed []string, err error)
	// together does it with all of them where one depends on the other, and notes what became of each; nil where
	// they have nothing to do with each other.
	together func(ctx context.Context, all []Target, note note)
}

// note takes what became of one of several tasks, and what stayed behind of its work.
type note func(on Target, stayed []string, err error)

// what names the deed as a job: "merge 3 tasks".
func (d deed) what(n int) string {
	if n == 1 {
		return d.verb + " 1 task"
	}
	return fmt.Sprintf("%s %d tasks", d.verb, n)
}

// split are the tasks with which a deed can be done, and why it cannot with each other.
func (d deed) split(all []Target) (open []Target, left []string) {
	for _, on := range all {
		if why := d.closed(on); why != "" {
			left = append(left, tasks.Name(on.Task)+": "+why)
			continue
		}
		open = append(open, on)
	}
	return open, left
}

// about names the tasks, what is done with them, and which are left out.
func (d deed) about(open []Target, left []string) string {
	var names []string
	for _, on := range open {
		names = append(names, tasks.Name(on.Task))
	}
	text := strings.Join(names, ", ") + ". " + d.happens
	if d.of != nil {
		text += d.ofEach(open)
	}
	if len(left) > 0 {
		text += " Left out: " + strings.Join(left, "; ") + "."
	}
	return text
}

// ofEach is what is said of each task, each sentence once with the tasks that it is about.
func (d deed) ofEach(open []Target) string {
	var said []string
	about := map[string][]string{} // the names of tasks, by the sentence
	for _, on := range open {
		for _, one := range d.of(on) {
			if !slices.Contains(said, one) {
				said = append(said, one)
			}
			about[one] = append(about[one], tasks.Name(on.Task))
		}
	}
	text := ""
	for _, one := range said {
		names := about[one]
		if len(names) == len(open) {
			names = []string{"Each"}
		}
		text += " " + strings.Join(names, ", ") + ": " + one
	}
	return text
}

// none says that a deed can be done with none of the marked tasks.
func (d deed) none(left []string) FirstStep {
	return FirstStep{Message: fmt.Sprintf("cannot %s any of the marked tasks: %s", d.verb, strings.Join(left, "; "))}
}

// ask asks once for all, and names how many and which.
func (d deed) ask(c Commands, all []Target) FirstStep {
	open, left := d.split(all)
	if len(open) == 0 {
		return d.none(left)
	}
	what := d.what(len(open))
	return FirstStep{Ask: &form.Question{Style: c.Style, Title: capital(what) + "?",
		Text: d.about(open, left),
		Answers: []form.Answer{{Key: "y", Label: what, What: what, Many: true,
			Work: func(ctx context.Context) (string, error) { return d.each(ctx, open, "") }}}}}
}

// write asks for a text that all of them get.
func (d deed) write(c Commands, all []Target, title string, long bool) FirstStep {
	open, left := d.split(all)
	if len(open) == 0 {
		return d.none(left)
	}
	what := d.what(len(open))
	return FirstStep{Prompt: &form.TextPrompt{Style: c.Style, Edit: c.Edit, Long: long, Needed: true, Many: true,
		Title: capital(what) + title, Text: d.about(open, left), What: what,
		Work: func(ctx context.Context, text string) (string, error) { return d.each(ctx, open, text) }}}
}

// each does it with one task after the other. One that fails stops none of the others.
func (d deed) each(ctx context.Context, open []Target, text string) (string, error) {
	var failed Several
	var names []string // of those that it cannot be done with
	done, kept := 0, 0
	take := func(on Target, stayed []string, err error) {
		what, incomplete := d.verb+" "+tasks.Name(on.Task), (*Incomplete)(nil)
		if err == nil || errors.As(err, &incomplete) {
			done++
		}
		if len(stayed) > 0 {
			kept++
		}
		switch {
		case incomplete != nil:
			failed = append(failed, Failure{Err: incomplete})
		case err != nil:
			failed = append(failed, Failure{What: what, Err: err})
			names = append(names, tasks.Name(on.Task))
		}
	}
	together := d.together
	if together == nil {
		together = func(ctx context.Context, open []Target, note note) {
			for _, on := range open {
				var stayed []string
				err := ctx.Err()
				if err == nil {
					stayed, err = d.do(ctx, on, text)
				}
				note(on, stayed, err)
			}
		}
	}
	together(ctx, open, take)
	message := fmt.Sprintf("%s: done with %d of %d", d.what(len(open)), done, len(open))
	if kept > 0 {
		message += fmt.Sprintf("; work of %d was rescued", kept)
	}
	if len(failed) > 0 {
		return message, d.forOneReason(failed, names)
	}
	return message, nil
}

// forOneReason are failures of a deed: one that names all tasks where the reason is the same for each.
func (d deed) forOneReason(failed Several, names []string) Several {
	same := func(one Failure) bool { return one.Err.Error() == failed[0].Err.Error() }
	if len(names) < 2 || len(names) != len(failed) || slices.ContainsFunc(failed, func(one Failure) bool {
		return !same(one)
	}) {
		return failed
	}
	return Several{{What: fmt.Sprintf("%s (%s)", d.what(len(names)), strings.Join(names, ", ")), Err: failed[0].Err}}
}

// result is the outcome of a command with one of several tasks.
func (c Commands) result(out record.Outcome, err error) (stayed []string, _ error) {
	_, err = c.Report(out, err)
	return out.Stayed, err
}

func onCommand(name string) func(Target) string {
	return func(on Target) string { return on.NoCommand(name) }
}

// StartAll asks whether the agents of several tasks are to be started, or started again.
func (c Commands) StartAll(all []Target) FirstStep {
	return deed{verb: "start", happens: "An agent starts for each of them.",
		closed: func(on Target) string {
			if on.EnterMeans() == EnterAttach {
				return "its agent is running already"
			}
			return on.NoEnter()
		},
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			return c.result(c.Runner.Command(ctx, on.Task.ID, workflow.MoveSpawn, ""))
		}}.ask(c, all)
}

func (c Commands) merging() deed {
	return deed{verb: "merge", happens: "One after the other.", closed: onCommand(workflow.MoveMerge),
		of: func(on Target) []string {
			out := []string{on.lands() + "."}
			if meets := strings.TrimSpace(on.meets()); meets != "" {
				out = append(out, strings.ToLower(meets[:1])+meets[1:])
			}
			return out
		},
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			out, _, err := c.Runner.Merge(ctx, on.Task.ID, task.Merge{})
			return c.result(out, err)
		}, together: c.mergeTogether}
}

// mergeTogether merges the tasks of each project one on top of the other, as orange merge does.
func (c Commands) mergeTogether(ctx context.Context, all []Target, note note) {
	for len(all) > 0 {
		in, left, others := record.MergeMany{Project: all[0].Task.Project}, map[string]Target{}, []Target(nil)
		for _, on := range all {
			if on.Task.Project != in.Project {
				others = append(others, on)
				continue
			}
			in.Tasks, left[on.Task.ID] = append(in.Tasks, on.Task.ID), on
		}
		err := c.Runner.MergeMany(ctx, in, func(one record.MergedOne) {
			on := left[one.Task.ID]
			delete(left, one.Task.ID)
			_, failed := c.Report(one.Outcome, one.Left)
			if len(one.With) > 0 {
				failed = fmt.Errorf("in conflict with %s: %w", strings.Join(one.With, ", "), failed)
			}
			note(on, one.Outcome.Stayed, failed)
		})
		for _, id := range in.Tasks { // none of them was tried, for what concerns all
			if on, untold := left[id]; untold {
				note(on, nil, err)
			}
		}
		all = others
	}
}

// MergeAll asks whether several tasks are to be merged.
func (c Commands) MergeAll(all []Target) FirstStep { return c.merging().ask(c, all) }

func (c Commands) cancelling() deed {
	return deed{verb: "cancel", happens: "Their agents are ended; their branches and all work on them stay.",
		closed: onCommand(workflow.MoveCancel),
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			return c.result(c.Runner.Command(ctx, on.Task.ID, workflow.MoveCancel, ""))
		}}
}

// CancelAll asks whether several tasks are to be cancelled.
func (c Commands) CancelAll(all []Target) FirstStep { return c.cancelling().ask(c, all) }

// DeleteAll asks whether several tasks are to be deleted.
func (c Commands) DeleteAll(all []Target) FirstStep {
	return deed{verb: "delete", closed: Target.NoTask,
		happens: "Those that are live are cancelled first. " +
			"Their folders go to the trash; branches and rescued work stay.",
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			gone, err := c.Runner.Delete(ctx, on.Task.ID)
			return gone.Stayed, err
		}}.ask(c, all)
}

// RetryAll asks whether the hooks that failed are to run again, for several tasks.
func (c Commands) RetryAll(all []Target) FirstStep {
	return deed{verb: "try again what failed of", closed: Target.NoRetry,
		happens: "What failed runs again: that may start agents, tell them something, or push.",
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			return c.result(c.Runner.Retry(ctx, on.Task.ID))
		}}.ask(c, all)
}

// OpenPRs asks whether several branches are to be pushed and pull requests opened.
func (c Commands) OpenPRs(all []Target) FirstStep {
	return deed{verb: "open pull requests for", closed: Target.NoPR,
		happens: "Orange pushes each branch to origin and opens a pull request there.",
		do: func(ctx context.Context, on Target, _ string) ([]string, error) {
			return c.result(c.Runner.RequestPR(ctx, on.Task.ID))
		}}.ask(c, all)
}

// SayToAll asks what to say to the agents of several tasks.
func (c Commands) SayToAll(all []Target) FirstStep {
	return deed{verb: "say it to", closed: Target.NoSay,
		happens: "It is typed into the window of each agent, or handed over where it waits.",
		do: func(ctx context.Context, on Target, text string) ([]string, error) {
			_, err := c.Runner.Say(ctx, on.Task.ID, text)
			return nil, err
		}}.write(c, all, ": what?", false)
}

func (c Commands) sendingBack() deed {
	return deed{verb: "send back", closed: Target.NoChanges,
		happens: "The text goes into TASK.md of each; Orange tells or starts its worker. Comments on lines stay " +
			"unsent.",
		do: func(ctx context.Context, on Target, text string) ([]string, error) {
			return c.result(c.Runner.RequestChanges(ctx, on.Task.ID, text))
		}}
}

// RequestChangesOfAll asks what to change in several tasks: each gets the same text.
func (c Commands) RequestChangesOfAll(all []Target) FirstStep {
	return c.sendingBack().write(c, all, ": what is to change?", true)
}

// MovesOfAll opens the menu of the moves that are open for at least one of several tasks.
func (c Commands) MovesOfAll(all []Target) FirstStep {
	return FirstStep{Menu: &form.Menu{Style: c.Style, Title: fmt.Sprintf("%d tasks are marked: move them to", len(all)),
		Read: func(ctx context.Context) ([]form.Item, error) {
			var places []task.Status
			ways := map[task.Status]map[string]inbox.Way{} // by where they lead and by task
			for i := range all {
				e, err := c.Why(ctx, all[i].Task.ID)
				if err != nil {
					return nil, fmt.Errorf("read the moves of %s: %w", tasks.Name(all[i].Task), err)
				}
				if e.Task.ID == all[i].Task.ID {
					all[i].Task = e.Task
				}
				for _, one := range inbox.Ways(e, task.RoleHuman) {
					if ways[one.To] == nil {
						places = append(places, one.To)
						ways[one.To] = map[string]inbox.Way{}
					}
					ways[one.To][all[i].Task.ID] = one
				}
			}
			items := make([]form.Item, 0, len(places))
			for _, to := range places {
				items = append(items, c.placeItem(all, to, ways[to]))
			}
			return items, nil
		}}}
}

// placeItem is a state to which some of the tasks can go.
func (c Commands) placeItem(all []Target, to task.Status, ways map[string]inbox.Way) form.Item {
	d := deed{verb: "move", closed: func(on Target) string {
		one, leads := ways[on.Task.ID]
		switch {
		case !leads:
			return fmt.Sprintf("no move leads there from %s", on.Task.Status)
		case one.How == inbox.ByRequest:
			return ""
		case len(one.Details) > 0:
			return missingText(one.Details[0])
		}
		return "this move is not yours to make"
	}}
	open, left := d.split(all)
	item := form.Item{Name: string(to), State: fmt.Sprintf("open for %d of %d", len(open), len(all)),
		Open: len(open) > 0}
	if len(open) == 0 {
		item.State, item.About = "closed", left
		return item
	}
	first := ways[open[0].Task.ID]
	d.happens = fmt.Sprintf("They move to %s%s", to, then(first.Hooks))
	d.do = func(ctx context.Context, on Target, text string) ([]string, error) {
		switch commandTo(on, to) { // some of them may be merged there, others only moved
		case workflow.MoveMerge:
			return c.merging().do(ctx, on, text)
		case workflow.MoveCancel:
			return c.cancelling().do(ctx, on, text)
		case workflow.MoveRequestChanges:
			return c.sendingBack().do(ctx, on, text)
		}
		return c.result(c.Runner.Move(ctx, on.Task.ID, to, text))
	}
	item.About = append([]string{d.about(open, nil)}, left...)
	step := func() FirstStep { return d.ask(c, all) }
	if slices.ContainsFunc(open, func(on Target) bool { return ways[on.Task.ID].Reason }) {
		step = func() FirstStep { return d.write(c, all, " to "+string(to)+": why?", false) }
	}
	if own := commandTo(open[0], to); !slices.ContainsFunc(open, func(on Target) bool {
		return commandTo(on, to) != own
	}) {
		switch own {
		case workflow.MoveMerge:
			step = func() FirstStep { return c.merging().ask(c, open) }
		case workflow.MoveCancel:
			step = func() FirstStep { return c.cancelling().ask(c, open) }
		case workflow.MoveRequestChanges:
			step = func() FirstStep { return c.RequestChangesOfAll(open) }
		}
	}
	item.Choose = func() form.Response { return responseOf(step()) }
	return item
}
