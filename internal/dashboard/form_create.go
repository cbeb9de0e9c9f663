package dashboard

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// field is one of what a new task is made from.
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
	fieldStart
	fieldStatus
	fields // how many there are
)

func (f field) String() string {
	return [...]string{"project", "branch", "summary", "context", "harness", "review harness", "workflow",
		"effort", "review effort", "start at once", "begins in"}[f]
}

// picked says whether a field is chosen, not written.
func (f field) picked() bool {
	switch f {
	case fieldProject, fieldHarness, fieldReview, fieldWorkflow, fieldStart, fieldStatus:
		return true
	}
	return false
}

// creation is a task that is about to be made. The form stays until it is.
type creation struct {
	focus   field
	picks   [fields]pick
	lines   [fields]line
	context string // when it has several lines; one line stands in lines
	project string // that is wanted at first
	choices Choices
	known   bool // the choices are
	problem string
	leaving bool // Escape was pressed once
	job     int  // that makes it; 0 while nobody does
}

// created is what became of a creation.
type created struct {
	form creation
	done finished
	out  record.Outcome
}

// askCreate opens the form. One that was left while it was being sent, and was refused, stands there again.
func (m *Model) askCreate() tea.Cmd {
	c := creation{focus: fieldBranch, project: m.tasks.Project}
	if t, found := m.selected(); c.project == "" && found {
		c.project = t.Project
	}
	for f := range fields {
		c.lines[f] = newLine("")
	}
	c.picks[fieldStart] = pick{options: []option{{"yes", "yes"}, {"no", "no"}}}
	if m.unmade != nil {
		c, m.unmade = *m.unmade, nil
	}
	m.visit(inForm)
	m.form = &form{creation: &c}
	return m.lookUpChoices()
}

func (m *Model) lookUpChoices() tea.Cmd {
	ctx, care := m.ctx, m.house.Care
	return func() tea.Msg {
		choices, err := care.Choices(ctx)
		return choicesRead{choices, err}
	}
}

// learn takes in what can be chosen. What the person chose or wrote already stays.
func (c creation) learn(msg choicesRead) creation {
	if msg.err != nil {
		c.problem = cmp.Or(c.problem, msg.err.Error())
		return c
	}
	first := !c.known
	c.choices, c.known = msg.choices, true
	projects := make([]option, len(c.choices.Projects))
	for i, p := range c.choices.Projects {
		projects[i] = option{p.Name, screen.Clean(p.Name)}
	}
	c.picks[fieldProject] = c.picks[fieldProject].offer(projects)
	if first {
		c.picks[fieldProject] = c.picks[fieldProject].with(c.project)
		if c.project != "" && c.picks[fieldProject].value() != c.project {
			c.problem = fmt.Sprintf("There is no project %q any more: choose another one.", c.project)
		}
	}
	c.picks[fieldHarness] = c.picks[fieldHarness].offer(named(c.choices.Harnesses))
	c.picks[fieldReview] = c.picks[fieldReview].offer(named(c.choices.Harnesses))
	if len(projects) == 0 {
		c.problem = "There is no project yet. Open orange in a repository, or: orange project add PATH"
	}
	return c.settle()
}

func named(names []string) []option {
	out := make([]option, len(names))
	for i, n := range names {
		out[i] = option{n, screen.Clean(n)}
	}
	return out
}

// settle lets what nobody chose follow from what was chosen, as it would if the program were asked without it.
func (c creation) settle() creation {
	prefer := decide.Preferences{Harness: c.picks[fieldHarness].value(), ReviewHarness: c.choices.Review}
	wanted := task.New{Project: c.chosenProject()}
	if worker := c.picks[fieldHarness]; worker.at > 0 {
		wanted.Harness = worker.value()
	}
	wanted = decide.WithDefaults(wanted, prefer)
	if review := &c.picks[fieldReview]; !review.touched {
		*review = review.with(wanted.ReviewHarness)
	}
	books := make([]option, 0, len(c.choices.Workflows)+1)
	for _, b := range c.choices.Workflows {
		books = append(books, option{b.Name, screen.Clean(b.Name)})
	}
	own := wanted.Workflow
	if c.known && (pick{options: books}).with(own).value() != own { // it is not there, or wrong: the engine says so
		books = append(books, option{own, screen.Clean(own)})
	}
	c.picks[fieldWorkflow] = c.picks[fieldWorkflow].offer(books)
	if !c.picks[fieldWorkflow].touched {
		c.picks[fieldWorkflow] = c.picks[fieldWorkflow].with(own)
	}
	births := []option{{"", "(the usual)"}}
	if def := c.rules(); def != nil {
		for _, b := range def.Births {
			births = append(births, option{string(b.To), screen.Clean(string(b.To))})
		}
	}
	c.picks[fieldStatus] = c.picks[fieldStatus].offer(births)
	return c
}

func (c *creation) chosenProject() task.Project {
	if at := c.picks[fieldProject].at; at < len(c.choices.Projects) {
		return c.choices.Projects[at]
	}
	return task.Project{}
}

// rules are those of the chosen workflow; nil while they are not known.
func (c *creation) rules() *workflow.Definition {
	name := c.picks[fieldWorkflow].value()
	for _, b := range c.choices.Workflows {
		if b.Name == name {
			return b.Rules
		}
	}
	return nil
}

func (c *creation) starts() bool { return c.picks[fieldStart].value() == "yes" }

func (c *creation) text(f field) string {
	if f == fieldContext && c.context != "" {
		return c.context
	}
	return strings.TrimSpace(c.lines[f].text())
}

// written says whether anything would be lost.
func (c *creation) written() bool {
	for _, f := range []field{fieldBranch, fieldSummary, fieldContext, fieldEffort, fieldReviewEffort} {
		if c.text(f) != "" {
			return true
		}
	}
	return false
}

// order is what the form asks for. A harness that nobody chose is left to the house.
func (c *creation) order() task.New {
	n := task.New{
		Project: c.chosenProject(), Branch: c.text(fieldBranch), Summary: c.text(fieldSummary),
		Context: c.text(fieldContext),
		Effort:  c.text(fieldEffort), ReviewEffort: c.text(fieldReviewEffort),
		Harness: c.picks[fieldHarness].value(), ReviewHarness: c.picks[fieldReview].value(),
		Workflow: c.picks[fieldWorkflow].value(),
		Status:   task.Status(c.picks[fieldStatus].value()), Spawn: c.starts(),
	}
	return n
}

// begins is where the task begins, and where starting it leads; empty where that is not known or nothing is started.
func (c *creation) begins() (in, started task.Status) {
	def := c.rules()
	if def == nil {
		return "", ""
	}
	return decide.FirstMove(def, c.order())
}

// hint is what a field means.
func (c *creation) hint(f field) string {
	in, started := c.begins()
	switch f {
	case fieldProject:
		return c.chosenProject().Path
	case fieldBranch:
		if c.text(f) != "" {
			return "the branch that it works on"
		}
		return "empty: named after the task's id"
	case fieldSummary:
		if def := c.rules(); def != nil && c.text(f) == "" && in != "" && in != def.Initial {
			return fmt.Sprintf("empty: it begins in %s", in)
		}
		return "what is to be done, in a line"
	case fieldContext:
		return "more about it; ctrl+e: editor"
	case fieldHarness:
		return "the worker's agent program"
	case fieldReview:
		return "the reviewer's agent program"
	case fieldWorkflow:
		return "the rules that it follows"
	case fieldEffort:
		return "how hard the worker thinks"
	case fieldReviewEffort:
		return "how hard the reviewer thinks"
	case fieldStart:
		return c.startHint(in, started)
	case fieldStatus:
		if c.picks[f].value() == "" && in != "" {
			return "here: " + string(in)
		}
		return "a state where tasks may begin"
	}
	return ""
}

func (c *creation) startHint(in, started task.Status) string {
	def := c.rules()
	switch {
	case !c.starts():
		return "Enter in the list starts it"
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
