package command

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Moves opens the menu of the task's moves: open, or closed with what is missing.
func (c Commands) Moves(on Target) FirstStep {
	return FirstStep{Menu: &form.Menu{Style: c.Style,
		Title: fmt.Sprintf("%s is %s: move it to", tasks.Name(on.Task), on.Task.Status),
		Read: func(ctx context.Context) ([]form.Item, error) {
			e, err := c.Why(ctx, on.Task.ID)
			if err != nil {
				return nil, err
			}
			on := on
			on.Task = e.Task
			choices := inbox.Ways(e, task.RoleHuman)
			items := make([]form.Item, 0, len(choices))
			for _, one := range choices {
				items = append(items, c.item(on, one))
			}
			return items, nil
		}}}
}

func run(what string, work func(ctx context.Context) (string, error)) form.Response {
	return form.Response{Start: &form.Operation{What: what, Work: work}}
}

// responseOf is a response that asks what a command asks first.
func responseOf(step FirstStep) form.Response {
	return form.Response{Ask: step.Ask, Prompt: step.Prompt, Cmd: step.Then}
}

// item is a move as the menu has it. A move that a command leads to is made as the command makes it.
func (c Commands) item(on Target, one inbox.Way) form.Item {
	t := on.Task
	item := form.Item{Name: string(one.To), State: "closed", Open: one.How != ""}
	for _, d := range one.Details {
		item.About = append(item.About, missingText(d))
	}
	happens := fmt.Sprintf("%s → %s%s", t.Status, one.To, then(one.Hooks))
	command := commandTo(on, one.To)
	switch one.How {
	case inbox.ByRequest:
		item.State, item.About = "open", []string{happens}
		item.Choose = func() form.Response { return c.request(on, one) }
	case inbox.ByOverride:
		item.Sign, item.State = "!", "closed; you may override it"
		item.Choose = func() form.Response { return c.reason(on, one) }
	case inbox.ByRedo:
		item.Sign, item.State = "↺", "begins again"
		item.About = []string{string(t.Status) + " → " + string(one.To) + ". Agents at work are ended, and its own " +
			"agent starts."}
		item.Choose = func() form.Response { return c.reason(on, one) }
	}
	if state, known := on.Workflow.State(one.To); known && state.About != "" {
		item.About = append(item.About, state.About)
	}
	if command != "" && one.How == inbox.ByRequest {
		item.State = "open: " + command
		item.Choose = func() form.Response { return responseOf(c.own(on, command)) }
	}
	return item
}

// request makes a move, after its reason where it takes one.
func (c Commands) request(on Target, one inbox.Way) form.Response {
	t := on.Task
	if one.Reason {
		return c.reason(on, one)
	}
	return run("move "+tasks.Name(t)+" to "+string(one.To), func(ctx context.Context) (string, error) {
		return c.Report(c.Runner.Move(ctx, t.ID, one.To, ""))
	})
}

// reason asks for the reason of a move, and makes it.
func (c Commands) reason(on Target, one inbox.Way) form.Response {
	t := on.Task
	title, work := "Move it to "+string(one.To)+": why?", c.Runner.Move
	switch one.How {
	case inbox.ByOverride:
		title, work = "Override: why?", c.overriding(on)
	case inbox.ByRedo:
		title, work = "Begin "+string(one.To)+" again: why?", c.Runner.Redo
	}
	return form.Response{Prompt: &form.TextPrompt{
		Style: c.Style, Edit: c.Edit, Title: title, Needed: true,
		Text: fmt.Sprintf("%s: %s → %s%s The reason goes into the history.", tasks.Name(t), t.Status, one.To,
			then(one.Hooks)),
		What: "move " + tasks.Name(t) + " to " + string(one.To),
		Work: func(ctx context.Context, reason string) (string, error) {
			return c.Report(work(ctx, t.ID, one.To, reason))
		},
	}}
}

// merges reports whether a move of a person merges the branch: it leads to where a merge leads.
func merges(on Target, to task.Status) bool {
	return on.Task.Workspace != "" && commandTo(on, to) == workflow.MoveMerge
}

// mergesToo says what a move in spite of its conditions merges, before it is made; empty where it merges nothing.
func (on Target) mergesToo(to task.Status) string {
	if !merges(on, to) {
		return ""
	}
	return " " + capital(on.lands()) + "." + on.meets()
}

// capital is a text that begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// overriding makes a move in spite of its conditions. To where a merge leads, it merges.
func (c Commands) overriding(on Target) func(context.Context, string, task.Status, string) (record.Outcome, error) {
	return func(ctx context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
		if !merges(on, to) {
			return c.Runner.Next(ctx, id, to, reason)
		}
		out, _, err := c.Runner.Merge(ctx, id, task.Merge{Override: reason})
		return out, err
	}
}

// own is the first step of the command that leads to a state.
func (c Commands) own(on Target, command string) FirstStep {
	switch command {
	case workflow.MoveMerge:
		return c.Merge(on)
	case workflow.MoveCancel:
		return c.Cancel(on)
	}
	return c.RequestChanges(on)
}

// commandTo is the command that asks something itself and leads to a state; empty if none does. A person asks for
// changes where they judge the work.
func commandTo(on Target, to task.Status) string {
	for _, command := range []string{workflow.MoveMerge, workflow.MoveCancel, workflow.MoveRequestChanges} {
		judges := command != workflow.MoveRequestChanges || on.Workflow.WaitsForPerson(on.Task.Status)
		if there, has := on.Workflow.Move(command); has && there == to && judges {
			return command
		}
	}
	return ""
}

// missingText is an unmet condition in a line or two.
func missingText(d rejection.Detail) string {
	text := "missing: " + d.Condition + ": found " + d.Found
	if d.Want != "" {
		text += "; to do: " + d.Want
	}
	return text
}

// hooksTo are the actions of the first edge between two states.
func hooksTo(def *workflow.Definition, from, to task.Status) (out []string) {
	for _, edge := range def.Transitions {
		if edge.From != from || edge.To != to {
			continue
		}
		for _, h := range edge.Hooks {
			out = append(out, h.Action)
		}
		return out
	}
	return nil
}

// then says in words what is done after a move.
func then(hooks []string) string {
	var out []string
	for _, hook := range hooks {
		if spec, _ := action.Of(hook); spec.Then != "" {
			out = append(out, spec.Then)
		}
	}
	if len(out) == 0 {
		return "."
	}
	return "; " + strings.Join(out, ", ") + "."
}

// Say asks what to say to the agent, below a line of the body.
func (c Commands) Say(on Target, under func(size screen.Size) int) FirstStep {
	t := on.Task
	role, _ := decide.Say(on.Workflow, t, "", person())
	return FirstStep{Prompt: &form.TextPrompt{
		Style: c.Style, Edit: c.Edit, Title: "Say to the " + role + " of " + tasks.Name(t), Needed: true, Under: under,
		Text: "typed into its window, or handed over later",
		What: "say it to the " + role + " of " + tasks.Name(t),
		Work: func(ctx context.Context, text string) (string, error) {
			to, err := c.Runner.Say(ctx, t.ID, text)
			if err != nil {
				return "", err
			}
			return "said to the " + to + " of " + tasks.Name(t), nil
		},
	}}
}
