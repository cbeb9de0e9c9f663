package form

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
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
	c := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "", nil)
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

func TestTheFormSaysWhichAgentProgramsAreMissing(t *testing.T) {
	t.Parallel()
	c := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "", nil)
	c.Update(ChoicesRead{Choices: Choices{Projects: []task.Project{{Name: "shop"}}, Harness: "codex", Review: "amp",
		Harnesses: []harness.Choice{{Name: "amp", Program: "amp"}, {Name: "bad", Problem: "bad.yml:1:1: found [x]"},
			{Name: "codex", Program: "codex", Path: "/bin/codex"}, {Name: "pi", Program: "pi", Path: "/bin/pi"}},
	}}, screen.Size{})
	c.focus = fieldHarness
	want := [][2]string{{"codex", "the worker's agent program"}, {"pi", "the worker's agent program"},
		{"amp", "amp is not installed"}, {"bad", "its file is wrong: bad.yml:1:1: found [x]"}}
	for _, one := range want {
		if got := [2]string{c.Task().Harness, c.hint(fieldHarness)}; got != one {
			t.Errorf("the harness and its hint are %q, want %q", got, one)
		}
		c.Update(tea.KeyPressMsg{Code: tea.KeyRight}, screen.Size{})
	}
	if got := [2]string{c.Task().ReviewHarness, c.hint(fieldReview)}; got != [2]string{"amp", "amp is not installed"} {
		t.Errorf("the review harness and its hint are %q", got)
	}
}

func TestANewTaskWaitsForTasksOfItsProject(t *testing.T) {
	t.Parallel()
	tasks := []*task.Task{{ID: "4FzK", Project: "shop", Branch: "fix/login"},
		{ID: "4Gab", Project: "shop", Branch: "b"}, {ID: "7Kxx", Project: "barn", Branch: "c"}}
	for _, row := range []struct{ text, ids, hint, problem string }{
		{"", "", "ids of tasks to be merged first", ""},
		{"4F", "4FzK", "fix/login", ""},
		{"4F, 4Gab 4FzK", "4FzK 4Gab", "fix/login, b, fix/login", ""},
		{"4", "", "which of 2: more of the id", `2 tasks have an id that begins with "4"`},
		{"7K", "", "no task 7K", `No task of "shop" has an id that begins with "7K".`},
	} {
		c := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "", tasks)
		c.Update(ChoicesRead{Choices: Choices{Projects: []task.Project{{Name: "shop"}}}}, screen.Size{})
		c.focus = fieldAfter
		c.Update(tea.PasteMsg{Content: row.text}, screen.Size{})
		if got := strings.Join(c.Task().After, " "); got != row.ids || c.hint(fieldAfter) != row.hint {
			t.Errorf("%q: it waits for %q, and the hint is %q", row.text, got, c.hint(fieldAfter))
		}
		sent := c.send()
		if (sent.Create == nil) != (row.problem != "") || !strings.HasPrefix(c.problem, row.problem) ||
			row.problem != "" && c.focus != fieldAfter {
			t.Errorf("%q: sent is %v, the problem %q in %v", row.text, sent.Create, c.problem, c.focus)
		}
		if c.written() != (row.text != "") {
			t.Errorf("%q: written is %v", row.text, c.written())
		}
	}
}

func TestACreationSentBeforeTheChoicesAreReadIsSentLater(t *testing.T) {
	t.Parallel()
	ctrlS := tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl}
	shop := ChoicesRead{Choices: Choices{Projects: []task.Project{{Name: "shop"}}}}
	c := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "", nil)
	if first := c.Update(ctrlS, screen.Size{}); first.Create != nil || first.Cmd == nil {
		t.Errorf("before the choices are read it answers %+v", first)
	}
	if then := c.Update(shop, screen.Size{}); then.Create == nil {
		t.Error("once they are read it is not sent")
	}
	if again := c.Update(shop, screen.Size{}); again.Create != nil {
		t.Error("it is sent twice")
	}
	late := NewCreation(t.Context(), nil, screen.NewStyle(), nil, "", nil)
	late.Update(ctrlS, screen.Size{})
	late.Update(tea.KeyPressMsg{Code: 'x', Text: "x"}, screen.Size{})
	if then := late.Update(shop, screen.Size{}); then.Create != nil {
		t.Error("it is sent although the person went on writing")
	}
}
