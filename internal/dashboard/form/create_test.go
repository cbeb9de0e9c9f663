package form

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/workflows"
)

func TestATaskBeginsOnlyWhereItsWorkflowLetsIt(t *testing.T) {
	t.Parallel()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	choices := Choices{Projects: []task.Project{{Name: "shop"}}}
	for _, name := range []string{"default", "build", "classic", "minimal", "phases"} {
		text, err := workflows.Files.ReadFile(name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		def, err := workflow.Parse(name+".yml", text, usual)
		if err != nil {
			t.Fatal(err)
		}
		choices.Workflows = append(choices.Workflows, WorkflowChoice{name, def})
	}
	c := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "")
	c.Update(ChoicesRead{Choices: choices}, screen.Size{})
	c.focus = fieldWorkflow
	for _, one := range choices.Workflows {
		if got := c.Task().Workflow; got != one.Name {
			t.Fatalf("the workflow is %q, want %q", got, one.Name)
		}
		var got, want []string
		for _, o := range c.picks[fieldStatus].options[1:] {
			got = append(got, o.value)
		}
		for _, b := range one.Rules.Births {
			want = append(want, string(b.To))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: tasks may begin in %v, want %v", one.Name, got, want)
		}
		c.Update(tea.KeyPressMsg{Code: tea.KeyRight}, screen.Size{})
	}
}
