package decide_test

import (
	"reflect"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
)

func TestWithDefaults_fillsWhatTheCreatorLeftOut(t *testing.T) {
	t.Parallel()
	shop := task.Project{Name: "shop", Workflow: "classic"}
	both := decide.Preferences{Harness: "claude", ReviewHarness: "codex"}
	worker := decide.Preferences{Harness: "claude"}
	for name, tt := range map[string]struct {
		prefer    decide.Preferences
		new, want task.New
	}{
		"everything": {both, task.New{}, task.New{Workflow: "default", Harness: "claude", ReviewHarness: "codex"}},
		"the project's workflow": {worker, task.New{Project: shop},
			task.New{Project: shop, Workflow: "classic", Harness: "claude", ReviewHarness: "claude"}},
		"nothing": {both, task.New{Project: shop, Workflow: "build", Harness: "pi", ReviewHarness: "gemini"},
			task.New{Project: shop, Workflow: "build", Harness: "pi", ReviewHarness: "gemini"}},
		"a reviewer as the chosen worker": {both, task.New{Harness: "pi"},
			task.New{Workflow: "default", Harness: "pi", ReviewHarness: "pi"}},
		"a worker next to the chosen reviewer": {both, task.New{ReviewHarness: "pi"},
			task.New{Workflow: "default", Harness: "claude", ReviewHarness: "pi"}},
	} {
		if got := decide.WithDefaults(tt.new, tt.prefer); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestFirstMove_beginsWhereANewTaskDoes(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for name, tt := range map[string]struct {
		new         task.New
		in, started task.Status
	}{
		"it waits":                          {task.New{Summary: "A thing"}, "pending", ""},
		"it is started":                     {task.New{Summary: "A thing", Spawn: true}, "pending", "planning"},
		"nothing is known, and it waits":    {task.New{Summary: " "}, "pending", ""},
		"nothing is known, and it is begun": {task.New{Summary: " ", Spawn: true}, "clarification", ""},
		"its creator says where":            {task.New{Status: "clarification"}, "clarification", ""},
		"its creator says where, begun":     {task.New{Status: "planning", Summary: "A", Spawn: true}, "planning", ""},
	} {
		tt.new.Actor = human()
		if in, started := decide.FirstMove(def, tt.new); in != tt.in || started != tt.started {
			t.Errorf("%s: it begins in %q and goes to %q, want %q and %q", name, in, started, tt.in, tt.started)
		}
		if in, _ := decide.FirstMove(def, tt.new); in != tt.in {
			t.Errorf("%s: it begins in %q, want %q", name, in, tt.in)
		}
	}
}
