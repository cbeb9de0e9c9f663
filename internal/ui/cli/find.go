package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// finder finds the tasks and the projects that people name, by their words or by the folder that they are in.
type finder struct {
	input

	project string      // the one that is named
	guessed []task.Task // those that were found by words of their summaries
}

// find turns what the user wrote into the id of one task: its id, a beginning that no other id has, or its branch; for
// a person at a terminal words of its summary, too. Nothing means the task of the workspace that the working directory
// is in.
func (f *finder) find(ctx context.Context, h *Services, args []string) (string, error) {
	if len(args) == 0 || args[0] == "" {
		id, _, err := h.Identity.Here(ctx)
		if err == nil && id == "" {
			err = usage("which task? Give its id, or run this in its workspace; %q lists the tasks", "orange task list")
		}
		return id, err
	}
	word := args[0]
	found, err := f.tasksNamed(ctx, h, word)
	if err != nil || len(found) == 1 {
		return idOf(found), err
	}
	if len(found) == 0 {
		if found, err = f.byWords(ctx, h, word); err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", f.noTask(ctx, h, word)
	case 1:
		return found[0].ID, nil
	}
	return "", usage("%q may be one of several tasks: %s", word, several(found))
}

// tasksNamed are the tasks that a word may mean: the one with this id, or those of this branch and those whose ids
// begin so.
func (f *finder) tasksNamed(ctx context.Context, h *Services, word string) ([]task.Task, error) {
	begun, err := h.Queries.Tasks(ctx, record.Filter{Prefix: word})
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(begun, func(t task.Task) bool { return t.ID == word }); at >= 0 {
		return begun[at : at+1], nil
	}
	found, err := f.onBranch(ctx, h, word)
	if err != nil {
		return nil, err
	}
	for _, t := range begun {
		if !slices.ContainsFunc(found, func(other task.Task) bool { return other.ID == t.ID }) {
			found = append(found, t)
		}
	}
	return found, nil
}

func idOf(found []task.Task) string {
	if len(found) == 0 {
		return ""
	}
	return found[0].ID
}

// several names tasks, and of many only the first.
func several(tasks []task.Task) string {
	const most = 5
	var names []string
	for _, t := range tasks[:min(most, len(tasks))] {
		names = append(names, t.ID+" ("+t.Branch+")")
	}
	text := strings.Join(names, ", ")
	if more := len(tasks) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// onBranch are the tasks with exactly this branch: the live one, or else those that are over. Where projects have the
// same branch, those of the present project come before others.
func (f *finder) onBranch(ctx context.Context, h *Services, branch string) ([]task.Task, error) {
	all, err := h.Queries.Tasks(ctx, record.Filter{Branch: branch, Project: f.project})
	all = slices.DeleteFunc(all, func(t task.Task) bool { return t.Branch != branch })
	if err != nil || len(all) < 2 {
		return all, err
	}
	_, here, err := h.Identity.Here(ctx)
	if err != nil {
		return nil, err
	}
	all = preferred(all, func(t task.Task) bool { return t.Project == here })
	return preferred(all, func(t task.Task) bool { return t.Live }), nil
}

// preferred are those tasks that a fact holds for, or all where it holds for none.
func preferred(all []task.Task, fact func(task.Task) bool) []task.Task {
	some := slices.DeleteFunc(slices.Clone(all), func(t task.Task) bool { return !fact(t) })
	if len(some) > 0 {
		return some
	}
	return all
}

// byWords are the tasks whose summary has all words of a text: live ones, or else those that are over. Only a person at
// a terminal sees which task was meant, so that no one else may name one like that.
func (f *finder) byWords(ctx context.Context, h *Services, text string) ([]task.Task, error) {
	if !f.atTerminal() || h.Identity.Person(ctx, "name a task by words of its summary") != nil {
		return nil, nil
	}
	wanted := smallWords(text)
	if len(wanted) == 0 {
		return nil, nil
	}
	filter, err := f.filterOf(ctx, h, false)
	if err != nil {
		return nil, err
	}
	filter.Brief = true
	all, err := h.Queries.Tasks(ctx, filter)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(t task.Task) bool { return !summaryHas(t.Summary, wanted) })
	found = preferred(found, func(t task.Task) bool { return t.Live })
	if len(found) == 1 {
		f.guessed = append(f.guessed, found[0])
		f.warn("found %s", nameOf(found[0]))
	}
	return found, nil
}

// atTerminal reports whether a person sits at both ends of the command.
func (i *input) atTerminal() bool {
	width, _ := i.outTerminal()
	return i.Terminal && !i.json && width > 0
}

// smallWords are the words of a text in small letters.
func smallWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// summaryHas reports whether each wanted word begins a word of a summary.
func summaryHas(summary string, wanted []string) bool {
	words := smallWords(summary)
	for _, want := range wanted {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, want) }) {
			return false
		}
	}
	return true
}

// nameOf names a task so that a person knows it again.
func nameOf(t task.Task) string {
	return fmt.Sprintf("task %s, %q (branch %s, %s)", t.ID, oneLine(t.Summary, 60), t.Branch, t.Status)
}

// mostOfID is how many letters are repeated of what someone takes for a task's id.
const mostOfID = 60

// noTask says that there is no such task, and which one may be meant.
func (f *finder) noTask(ctx context.Context, h *Services, word string) error {
	var names []string
	if filter, err := f.filterOf(ctx, h, false); err == nil {
		filter.Live, filter.Brief = true, true
		live, err := h.Queries.Tasks(ctx, filter)
		if err != nil {
			return err
		}
		for i := range live {
			names = append(names, live[i].Branch)
		}
	}
	return task.Notef(task.ErrNotFound, "there is no task %q%s; %q lists them", oneLine(word, mostOfID),
		yaml.Guess(word, names), "orange task list")
}

// sureOf is sure for what is done to one task. A task that was found by words is named in the question, which --yes
// does not answer: that was said of the words, and not of the task.
func (f *finder) sureOf(id string, actor task.Actor, yes bool, verb, rest, not string) error {
	at := slices.IndexFunc(f.guessed, func(t task.Task) bool { return t.ID == id })
	if at < 0 {
		return f.sure(actor, yes, verb+" task "+id+"?"+rest, not)
	}
	return f.sure(actor, false, verb+" "+nameOf(f.guessed[at])+"?"+rest, not)
}

// sureIfGuessed is sureOf for what is not asked of a task that was named as it is.
func (f *finder) sureIfGuessed(id string, actor task.Actor, verb, not string) error {
	if !slices.ContainsFunc(f.guessed, func(t task.Task) bool { return t.ID == id }) {
		return nil
	}
	return f.sureOf(id, actor, false, verb, "", not)
}

// findAll turns what the user wrote into the ids of tasks, each once.
func (f *finder) findAll(ctx context.Context, h *Services, words []string) ([]string, error) {
	var ids []string
	for _, word := range words {
		if word = strings.TrimSpace(word); word == "" {
			return nil, usage("which task? One of the ids is empty; %q lists them", "orange task list")
		}
		id, err := f.find(ctx, h, []string{word})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// idsOf are the tasks that a command is about: the one that is named or stood in, or all of the project or the home.
func (f *finder) idsOf(ctx context.Context, h *Services, args []string, all bool) ([]string, error) {
	if !all {
		id, err := f.find(ctx, h, args)
		return []string{id}, err
	}
	if len(args) > 0 {
		return nil, usage("found %q next to --all, expected one of the two", args[0])
	}
	return h.Queries.All(ctx, f.project)
}

// filterOf chooses the tasks of the project that is named, or else of the one that the working directory is in; those
// of all where it is in none.
func (f *finder) filterOf(ctx context.Context, h *Services, all bool) (filter record.Filter, err error) {
	filter.Project = f.project
	if !all {
		if filter.Project, err = f.projectMeant(ctx, h); err != nil {
			return filter, err
		}
	}
	if f.project != "" {
		_, err = h.Home.Project(f.project)
	}
	return filter, err
}

// projectMeant is the name of the project that is named, or else of the one of the folder; empty where there is none.
func (f *finder) projectMeant(ctx context.Context, h *Services) (name string, err error) {
	if f.project != "" {
		return f.project, nil
	}
	_, name, err = h.Identity.Here(ctx)
	return name, err
}

// projectHere is the name of the project that a person names or is in; it need not be registered here.
func (f *finder) projectHere(ctx context.Context, h *Services) (string, error) {
	name, err := f.projectMeant(ctx, h)
	if err == nil && name == "" {
		err = usage("which project? Be in its folder, or name it with --project")
	}
	return name, err
}

// projectOf is the project that a command is about: the one named, or that of the working directory.
func (f *finder) projectOf(ctx context.Context, h *Services) (task.Project, error) {
	name, err := f.projectMeant(ctx, h)
	if err == nil && name == "" {
		err = usage("which project? Run this in its folder, or name it with --project; %q registers a repository",
			"orange project add PATH")
	}
	if err != nil {
		return task.Project{}, err
	}
	return h.Home.Project(name)
}

// projectName is the name of the project that a command is about; empty with --all.
func (f *finder) projectName(ctx context.Context, h *Services, all bool) (string, error) {
	if all {
		return "", nil
	}
	project, err := f.projectOf(ctx, h)
	return project.Name, err
}
