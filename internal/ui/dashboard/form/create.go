package form

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
)

type field int

const (
	fieldProject field = iota
	fieldBranch
	fieldSummary
	fieldContext
	fieldHarness
	fieldReview
	fieldWorkflow
	fieldEffort
	fieldReviewEffort
	fieldModel
	fieldReviewModel
	fieldStart
	fieldAfter
	fieldStatus
	fields // how many there are
)

func (f field) String() string {
	return [...]string{"project", "branch", "summary", "context", "harness", "review harness", "workflow",
		"effort", "review effort", "model", "review model", "start at once", "waits for", "begins in"}[f]
}

// picked reports whether the person chooses the value of a field instead of writing it.
func (f field) picked() bool {
	return slices.Contains([]field{fieldProject, fieldHarness, fieldReview, fieldWorkflow, fieldStart, fieldStatus}, f)
}

// Choices are what a new task can be made from. The first project and the first workflow are the default.
type Choices struct {
	Projects  []task.Project
	Harnesses []harness.Choice
	Harness   string // the default harness of the worker
	Review    string // that of the reviewer
	Workflows []WorkflowChoice
}

// WorkflowChoice is a workflow that a new task can have.
type WorkflowChoice struct {
	Name  string
	Rules *workflow.Definition
}

// Chooser looks up what a new task can be made from.
type Chooser interface {
	Choices(ctx context.Context) (Choices, error)
}

// ChoicesRead is the answer of the chooser.
type ChoicesRead struct {
	Choices Choices
	Err     error
}

// Creation is the form for a new task. It stays until the task is created.
type Creation struct {
	ctx     context.Context
	chooser Chooser
	style   *screen.Style
	edit    func(text string) tea.Cmd // opens the person's editor, and answers Edited

	focus   field
	picks   [fields]pick
	lines   [fields]line
	context string // a context of several lines; one of a single line is in lines
	project string // the project that is chosen at first
	tasks   []*task.Task
	choices Choices
	known   bool // the choices were read
	problem string
	leaving bool // Escape was pressed once
	early   bool // the person sent it before the choices were read
	sent    bool // the task is being created
}

// NewCreation makes the form for a new task of a project. Tasks are those that there are: the new one may wait for
// some of them.
func NewCreation(ctx context.Context, chooser Chooser, style *screen.Style, edit func(text string) tea.Cmd,
	project string, tasks []*task.Task) *Creation {
	c := &Creation{ctx: ctx, chooser: chooser, style: style, edit: edit, focus: fieldBranch, project: project,
		tasks: tasks}
	for f := range fields {
		c.lines[f] = newLine("")
	}
	c.picks[fieldStart] = pick{options: []option{{"yes", "yes"}, {"no", "no"}}}
	return c
}

// Load looks up what a new task can be made from.
func (c *Creation) Load() tea.Cmd {
	ctx, chooser := c.ctx, c.chooser
	return func() tea.Msg {
		choices, err := chooser.Choices(ctx)
		return ChoicesRead{choices, err}
	}
}

// setChoices takes the choices. What the person chose or wrote already stays.
func (c *Creation) setChoices(msg ChoicesRead) {
	if msg.Err != nil {
		c.problem = cmp.Or(c.problem, msg.Err.Error())
		return
	}
	first := !c.known
	c.choices, c.known = msg.Choices, true
	var projects []string
	for _, p := range c.choices.Projects {
		projects = append(projects, p.Name)
	}
	c.picks[fieldProject] = c.picks[fieldProject].offer(optionsOf(projects))
	if first {
		c.picks[fieldProject] = c.picks[fieldProject].with(c.project)
		if c.project != "" && c.picks[fieldProject].value() != c.project {
			c.problem = fmt.Sprintf("There is no project %q any more: choose another one.", c.project)
		}
	}
	c.picks[fieldHarness] = c.picks[fieldHarness].offer(c.harnesses())
	c.picks[fieldReview] = c.picks[fieldReview].offer(c.harnesses())
	if len(projects) == 0 {
		c.problem = noProject
	}
	c.settle()
}

const noProject = "There is no project yet. Open orange in a repository with a commit, or: orange project add PATH"

// harnesses are those that the person can choose from: the default one, then those whose program is there.
func (c *Creation) harnesses() []option {
	rank := func(one harness.Choice) int {
		switch {
		case one.Name == c.choices.Harness:
			return 0
		case one.Path != "":
			return 1
		}
		return 2
	}
	sorted := slices.SortedStableFunc(slices.Values(c.choices.Harnesses), func(a, b harness.Choice) int {
		return cmp.Compare(rank(a), rank(b))
	})
	var names []string
	for _, one := range sorted {
		names = append(names, one.Name)
	}
	return optionsOf(names)
}

// harnessHint is what to know of the chosen harness before it is used: whose program it is, or why no agent will start.
func (c *Creation) harnessHint(f field, whose string) string {
	for _, one := range c.choices.Harnesses {
		switch {
		case one.Name != c.picks[f].value():
		case one.Problem != "":
			return "its file is wrong: " + one.Problem
		case one.Path == "":
			return one.Program + " is not installed"
		}
	}
	return whose
}

func optionsOf(names []string) []option {
	out := make([]option, len(names))
	for i, n := range names {
		out[i] = option{n, screen.Clean(n)}
	}
	return out
}

// settle gives the fields that the person did not choose the values that follow from the others.
func (c *Creation) settle() {
	prefer := decide.Preferences{Harness: c.picks[fieldHarness].value(), ReviewHarness: c.choices.Review}
	wanted := task.New{Project: c.chosenProject()}
	if worker := c.picks[fieldHarness]; worker.at > 0 {
		wanted.Harness = worker.value()
	}
	wanted = decide.WithDefaults(wanted, prefer)
	if review := &c.picks[fieldReview]; !review.touched {
		*review = review.with(wanted.ReviewHarness)
	}
	var workflows []string
	for _, b := range c.choices.Workflows {
		workflows = append(workflows, b.Name)
	}
	own := wanted.Workflow
	if c.known && !slices.Contains(workflows, own) { // it is missing or invalid: the engine says so
		workflows = append(workflows, own)
	}
	flow := &c.picks[fieldWorkflow]
	if *flow = flow.offer(optionsOf(workflows)); !flow.touched {
		*flow = flow.with(own)
	}
	births := []option{{"", "(the usual)"}}
	if def := c.rules(); def != nil {
		for _, b := range def.Births {
			births = append(births, option{string(b.To), screen.Clean(string(b.To))})
		}
	}
	c.picks[fieldStatus] = c.picks[fieldStatus].offer(births)
}

func (c *Creation) chosenProject() task.Project {
	if at := c.picks[fieldProject].at; at < len(c.choices.Projects) {
		return c.choices.Projects[at]
	}
	return task.Project{}
}

// rules is the chosen workflow; nil while it is unknown.
func (c *Creation) rules() *workflow.Definition {
	name := c.picks[fieldWorkflow].value()
	for _, b := range c.choices.Workflows {
		if b.Name == name {
			return b.Rules
		}
	}
	return nil
}

func (c *Creation) starts() bool { return c.picks[fieldStart].value() == "yes" }

func (c *Creation) text(f field) string {
	if f == fieldContext && c.context != "" {
		return c.context
	}
	return strings.TrimSpace(c.lines[f].text())
}

func (c *Creation) written() bool {
	return slices.ContainsFunc([]field{fieldBranch, fieldSummary, fieldContext, fieldEffort, fieldReviewEffort,
		fieldModel, fieldReviewModel, fieldAfter},
		func(f field) bool { return c.text(f) != "" })
}

// Task is the task that the form describes.
func (c *Creation) Task() task.New {
	after, _ := c.after()
	return task.New{
		Project: c.chosenProject(), Branch: c.text(fieldBranch), NameBranch: true, Summary: c.text(fieldSummary),
		Context: c.text(fieldContext),
		Effort:  c.text(fieldEffort), ReviewEffort: c.text(fieldReviewEffort),
		Model: c.text(fieldModel), ReviewModel: c.text(fieldReviewModel),
		Harness: c.picks[fieldHarness].value(), ReviewHarness: c.picks[fieldReview].value(),
		Workflow: c.picks[fieldWorkflow].value(),
		Status:   task.Status(c.picks[fieldStatus].value()), Spawn: c.starts(), After: after,
		Actor: task.Actor{Role: task.RoleHuman},
	}
}

// begins is the status in which the task begins, and the one that starting it leads to; empty where that is unknown or
// the task is not started.
func (c *Creation) begins() (in, started task.Status) {
	def := c.rules()
	if def == nil {
		return "", ""
	}
	return decide.FirstMove(def, c.Task())
}

func (c *Creation) hint(f field) string {
	in, started := c.begins()
	switch f {
	case fieldProject:
		return c.chosenProject().Path
	case fieldBranch:
		if c.text(f) != "" {
			return "the branch that it works on"
		}
		return "empty: named after the summary"
	case fieldSummary:
		if def := c.rules(); def != nil && c.text(f) == "" && in != "" && in != def.Initial {
			return fmt.Sprintf("empty: it begins in %s", in)
		}
		return "what is to be done, in a line"
	case fieldContext:
		return "more about it; ctrl+e: editor"
	case fieldHarness:
		return c.harnessHint(f, "the worker's agent program")
	case fieldReview:
		return c.harnessHint(f, "the reviewer's agent program")
	case fieldWorkflow:
		return "the rules that it follows"
	case fieldEffort:
		return "how hard the worker thinks"
	case fieldReviewEffort:
		return "how hard the reviewer thinks"
	case fieldModel:
		return "empty: its program's usual one"
	case fieldReviewModel:
		return "the same for the reviewer"
	case fieldStart:
		return c.startHint(in, started)
	case fieldAfter:
		return c.afterHint()
	case fieldStatus:
		if c.picks[f].value() == "" && in != "" {
			return "here: " + string(in)
		}
		return "a state where tasks may begin"
	}
	return ""
}

func (c *Creation) startHint(in, started task.Status) string {
	def := c.rules()
	switch {
	case !c.starts():
		return c.style.Keys.Of("start") + " in the list starts it"
	case c.text(fieldAfter) != "":
		return "once what it waits for is merged"
	case started != "":
		return fmt.Sprintf("%s → %s", in, started)
	case def == nil:
		return "its agent begins to work"
	}
	if birth, found := def.Birth(in); found && birth.Spawns() {
		return fmt.Sprintf("an agent begins in %s", in)
	}
	return fmt.Sprintf("no agent begins in %s", in)
}
