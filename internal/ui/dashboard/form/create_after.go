package form

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// after are the ids of the tasks that the new one waits for. problem is what is wrong with what the person wrote: ids,
// or beginnings of ids, of tasks of the chosen project.
func (c *Creation) after() (ids []string, problem string) {
	for _, one := range c.namedTasks() {
		switch {
		case len(one.found) == 0:
			return nil, fmt.Sprintf("No task of %q has an id that begins with %q.", c.chosenProject().Name, one.word)
		case len(one.found) > 1:
			return nil, fmt.Sprintf("%d tasks have an id that begins with %q: write more of it.", len(one.found),
				one.word)
		case !slices.Contains(ids, one.found[0].ID):
			ids = append(ids, one.found[0].ID)
		}
	}
	return ids, ""
}

// namedTask is a word of the person's for a task, with all that it may mean.
type namedTask struct {
	word  string
	found []*task.Task
}

func (c *Creation) namedTasks() []namedTask {
	apart := func(r rune) bool { return r == ',' || r == ' ' }
	var out []namedTask
	for _, word := range strings.FieldsFunc(c.text(fieldAfter), apart) {
		one := namedTask{word: word}
		for _, t := range c.tasks {
			if t.Project == c.chosenProject().Name && strings.HasPrefix(t.ID, word) {
				one.found = append(one.found, t)
			}
		}
		out = append(out, one)
	}
	return out
}

// afterHint names the branches of the tasks that the new one waits for.
func (c *Creation) afterHint() string {
	var branches []string
	for _, one := range c.namedTasks() {
		switch len(one.found) {
		case 0:
			return fmt.Sprintf("no task %s", screen.Clean(one.word))
		case 1:
			branches = append(branches, screen.Clean(one.found[0].Branch))
		default:
			return fmt.Sprintf("which of %d: more of the id", len(one.found))
		}
	}
	if len(branches) == 0 {
		return "ids of tasks to be merged first"
	}
	return strings.Join(branches, ", ")
}
