package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/simulate"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// shelf has some workflows, or an error for everything that it is asked.
type shelf struct {
	files  []WorkflowFile
	folder string
	err    error
	calls  []string
	setup  simulate.Setup
	found  simulate.Report
}

func (s *shelf) PassedBy(context.Context, task.WorkflowRef) ([]guarantee.GoodEnd, error) {
	return s.Passed(nil)
}

func (s *shelf) Passed(def *workflow.Definition) ([]guarantee.GoodEnd, error) {
	return []guarantee.GoodEnd{{End: "done", Always: []string{"check tests", "a person"}, Around: []guarantee.Around{
		{What: `"## Review" PASS`, Way: "review -[2 crashes]-> ready -[a person]-> done", Line: 37},
		{What: "git clean", Way: "ready -[an override by a person]-> done", Line: 39, By: guarantee.ByOverride},
	}}}, s.err
}

func (s *shelf) Promises(*workflow.Definition, []string) error { return s.err }

func (s *shelf) Workflows() ([]WorkflowFile, error) { return slices.Clone(s.files), s.err }
func (s *shelf) WorkflowFolder() string             { return s.folder }

func (s *shelf) Workflow(name string) (*workflow.Definition, error) {
	s.calls = append(s.calls, "read "+name)
	return &workflow.Definition{Name: name}, s.err
}

func (s *shelf) CheckWorkflow(name string) (*workflow.Definition, error) {
	s.calls = append(s.calls, "check "+name)
	return &workflow.Definition{Name: name, File: name + ".yml", Version: 2}, s.err
}

func (s *shelf) CopyWorkflow(name, from string) (WorkflowFile, error) {
	s.calls = append(s.calls, "copy "+from+" as "+name)
	return WorkflowFile{Name: name, Source: "/own/" + name + ".yml", Hides: name == from, Text: "text"}, s.err
}

func (s *shelf) Simulate(_ context.Context, def *workflow.Definition, setup simulate.Setup) (simulate.Report,
	error) {
	setup.Progress = nil
	s.calls, s.setup = append(s.calls, "simulate "+def.Name), setup
	return s.found, s.err
}

func fullShelf() *shelf {
	return &shelf{folder: "/nowhere/own", files: []WorkflowFile{
		{Name: "default", Source: BuiltIn, Version: 3, States: 9, Text: "name: default\n"},
		{Name: "fast", Source: "/own/fast.yml", Hides: true, Version: 1, States: 4, Text: "name: fast\n"},
		{Name: "bad", Source: "/own/bad.yml", Problem: "bad.yml:1:1: no states [states]", Text: "name: bad\n"},
		{Name: "gone", Source: "/own/gone.yml", Problem: "permission denied"},
	}}
}

func TestWorkflow_showsWhatThePortHas(t *testing.T) {
	t.Parallel()
	const broken = "orange: workflow %[1]q is broken: %[2]s\n" +
		"  all that is wrong with it: orange workflow check %[1]q\n"
	const missing = `there is no workflow "x"; "orange workflow list" lists them`
	here := t.TempDir()
	tests := []struct {
		line, folder string
		want         said
	}{
		{"workflow list", "", said{0, "NAME     VERSION  STATES  FROM\n" +
			"default  3        9       built in\n" +
			"fast     1        4       /own/fast.yml (instead of the built-in one)\n" +
			"bad      broken   -       /own/bad.yml\n" +
			"gone     broken   -       /own/gone.yml\n",
			fmt.Sprintf(broken, "bad", "bad.yml:1:1: no states [states]") +
				fmt.Sprintf(broken, "gone", "permission denied")}},
		{"workflow show fast", "", said{0, "name: fast\n",
			"what a task has passed when it is over, since its work was last changed:\n" +
				"  done  always  check tests; a person\n" +
				"        not always  \"## Review\" PASS: review -[2 crashes]-> ready -[a person]-> done  line 37\n" +
				"        by a person  git clean: ready -[an override by a person]-> done  line 39\n"}},
		{"workflow show bad", "", said{0, "name: bad\n", ""}},
		{"workflow show gone", "", said{exitFailed, "",
			"orange: cannot show the workflow \"gone\": permission denied\n"}},
		{"workflow show x", "", said{exitNotFound, "", "orange: " + missing + "\n"}},
		{"workflow path", here, said{0, here + "\n", ""}},
		{"workflow path", "", said{0, "/nowhere/own\n", "orange: the folder is not there yet: your first file makes " +
			"it, with: orange workflow new NAME --from default\n"}},
		{"workflow path --json", "", said{0, "{\n  \"exists\": false,\n  \"path\": \"/nowhere/own\"\n}\n", ""}},
		{"workflow path fast", "", said{0, "/own/fast.yml\n", ""}},
		{"workflow path fast --json", "", said{0, "{\n  \"built_in\": false,\n  \"hides_built_in\": true,\n" +
			"  \"name\": \"fast\",\n  \"path\": \"/own/fast.yml\"\n}\n", ""}},
		{"workflow path default", "", said{0, "", "orange: the workflow \"default\" is built in: it has no file\n" +
			"  make one of your own: orange workflow new NAME --from \"default\"\n"}},
		{"workflow path default --json", "", said{0, "{\n  \"built_in\": true,\n  \"hides_built_in\": false,\n" +
			"  \"name\": \"default\",\n  \"path\": \"\"\n}\n", ""}},
		{"workflow path x", "", said{exitNotFound, "", "orange: " + missing + "\n"}},
		{"__complete workflow show x", "", said{0, "default\tbuilt in\nfast\t/own/fast.yml\n" +
			"bad\t/own/bad.yml\ngone\t/own/gone.yml\n:36\n",
			"Completion ended with directive: ShellCompDirectiveNoFileComp, ShellCompDirectiveKeepOrder\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			s := fullShelf()
			if tt.folder != "" {
				s.folder = tt.folder
			}
			if got := call(t, Services{Workflows: s}, tt.line); got != tt.want {
				t.Errorf("it came to %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestWorkflowList_hasNoTextsInJSON(t *testing.T) {
	t.Parallel()
	got := call(t, Services{Workflows: fullShelf()}, "workflow list --json")
	var answer struct{ Workflows []WorkflowFile }
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil || got.status != 0 || got.err != "" {
		t.Fatalf("%v: %#v", err, got)
	}
	want := fullShelf().files
	for i := range want {
		want[i].Text = ""
	}
	if !slices.Equal(answer.Workflows, want) {
		t.Errorf("it lists %+v, want %+v", answer.Workflows, want)
	}
	if got = call(t, Services{Workflows: &shelf{}}, "workflow list --json"); got.out != "{\n  \"workflows\": []\n}\n" {
		t.Errorf("of none it lists %q", got.out)
	}
}

func TestWorkflowNew_copiesWhatTheFlagNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ call, out, talk string }{
		"workflow new mine": {"copy default as mine", "/own/mine.yml\n",
			`edit it, check it with "orange workflow check mine", and then use it:`},
		"workflow new mine --from fast": {"copy fast as mine", "/own/mine.yml\n", `--workflow "mine"`},
		"workflow new fast --from fast": {"copy fast as fast", "/own/fast.yml\n",
			`created from now on under "fast" follow this file, and not the built-in one`},
		"workflow new mine --json": {"copy default as mine", "{\n  \"workflow\": {\n    \"name\": \"mine\",\n" +
			"    \"source\": \"/own/mine.yml\",\n    \"hides_built_in\": false\n  }\n}\n", ""},
	}
	for line, tt := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			s, who := &shelf{}, &person{}
			got := call(t, Services{Workflows: s, Identity: who}, line)
			if got.status != 0 || got.out != tt.out || !strings.Contains(got.err, tt.talk) ||
				(got.err == "") != (tt.talk == "") {
				t.Errorf("it came to %#v, want %q and %q", got, tt.out, tt.talk)
			}
			if !slices.Equal(s.calls, []string{tt.call}) || !slices.Equal(who.asked, []string{"make a workflow"}) {
				t.Errorf("it called for %q, and asked whether a person may %q", s.calls, who.asked)
			}
		})
	}
}

func TestWorkflow_endsWithTheErrorOfThePort(t *testing.T) {
	t.Parallel()
	problem := yaml.Problem{File: "x.yml", Line: 1, Col: 3, Rule: "states", Message: "no states", Source: "x: 1"}
	errs := []struct {
		err    error
		status int
		code   string
		talk   string
	}{
		{errors.New("disk on fire"), exitFailed, "failed", "orange: disk on fire\n"},
		{task.Notef(task.ErrNotFound, "no %q", "x"), exitNotFound, "not_found", "orange: no \"x\"\n"},
		{task.Notef(task.ErrUsage, "no name"), exitUsage, "usage", "orange: no name\n"},
		{yaml.Problems{problem}, exitUsage, "invalid_file",
			"orange: x.yml:1:3: no states [states]\n     1 | x: 1\n       |   ^\n"},
	}
	lines := []string{"workflow list", "workflow show x", "workflow path x", "workflow new x", "workflow check x",
		"workflow check x --quick", "workflow graph x", "workflow simulate x", "project add . --workflow x",
		"project update coffee --workflow x", "project update coffee --timeout working=6h"}
	for _, line := range lines {
		for _, tt := range errs {
			h := Services{Workflows: &shelf{err: tt.err}, Identity: &person{}, Home: homeWith(t, "coffee")}
			if got := call(t, h, line); got != (said{tt.status, "", tt.talk}) {
				t.Errorf("%s: it came to %#v, want status %d and %q", line, got, tt.status, tt.talk)
			}
			got := call(t, h, line+" --json")
			var answer struct {
				Error, Code string
				Details     []yaml.Problem
			}
			err := json.Unmarshal([]byte(got.out), &answer)
			if err != nil || got.status != tt.status || got.err != "" || answer.Error != tt.err.Error() ||
				answer.Code != tt.code {
				t.Errorf("%s --json: it came to %#v, want status %d and code %q", line, got, tt.status, tt.code)
			}
			if tt.code == "invalid_file" && !slices.Equal(answer.Details, []yaml.Problem{problem}) {
				t.Errorf("%s --json: its details are %+v", line, answer.Details)
			}
		}
	}
}

func TestWorkflowSimulate_givesThePortWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change  func(s *simulate.Setup) // of the usual one
		refused string                  // empty where the port is asked
	}{
		"": {change: func(*simulate.Setup) {}},
		"--runs 5 --seed 7 --people never": {change: func(s *simulate.Setup) {
			s.Runs, s.Seed, s.NoPeople = 5, 7, true
		}},
		"--run 3 --trace --way a,b": {change: func(s *simulate.Setup) {
			s.Only, s.Trace, s.Path = 3, true, []task.Status{"a", "b"}
		}},
		"--reviewers-fail 30% --agents-slow 0.5 --agents-lie 0 --agents-die 1%": {change: func(s *simulate.Setup) {
			s.Shares.ReviewersFail, s.Shares.Slow, s.Shares.Lying, s.Shares.Dying = 0.3, 0.5, 0, 0.01
		}},
		"--agents-stubborn 0 --agents-restless 2% --hooks-fail 3% --engine-dies 1": {change: func(s *simulate.Setup) {
			s.Shares.Stubborn, s.Shares.Restless, s.Shares.HooksFail, s.Shares.EngineDies = 0, 0.02, 0.03, 1
		}},
		"--runs 0":          {refused: "found 0 as --runs"},
		"--run -1":          {refused: "found -1 as --run"},
		"--people seldom":   {refused: `found "seldom" as --people`},
		"--trace":           {refused: "cannot trace 1000 runs at once"},
		"--agents-slow 99%": {refused: "more than 100% together"},
		"--agents-slow 30":  {refused: `found "30", expected a share`},
		"--way a,,b":        {refused: "expected states such as a,b,c"},
		"--runs many":       {refused: `"many"`},
	}
	for flags, tt := range tests {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			s := &shelf{}
			got := call(t, Services{Workflows: s}, "workflow simulate mine "+flags)
			if tt.refused != "" {
				if got.status != exitUsage || !strings.Contains(got.err, tt.refused) || len(s.calls) > 0 {
					t.Errorf("it came to %#v after the calls %q, want %q", got, s.calls, tt.refused)
				}
				return
			}
			want := usualSimulation()
			tt.change(&want)
			if got.status != 0 || fmt.Sprint(s.calls) != "[check mine simulate mine]" ||
				fmt.Sprint(s.setup) != fmt.Sprint(want) {
				t.Errorf("it came to %#v; the calls %q had %+v, want %+v", got, s.calls, s.setup, want)
			}
		})
	}
}

func TestWorkflowSimulate_endsWithStatus1WhereSomethingIsBroken(t *testing.T) {
	t.Parallel()
	const again = "orange workflow simulate mine --seed 7 --run 3 --agents-lie 50% --trace"
	h := Services{Workflows: &shelf{found: simulate.Report{Runs: 5, Breaches: []simulate.Breach{
		{Property: "one-home", Message: "two at once", Run: 3, Last: []string{"a step"}}}}}}
	const line = "workflow simulate mine --runs 5 --seed 7 --agents-lie 50%"
	got := call(t, h, line)
	want := "\nbroken: two at once [one-home], seed 7, run 3\n  a step\n  see all of it: " + again + "\n"
	if got.status != exitFailed || got.err != "" || !strings.HasSuffix(got.out, want) {
		t.Errorf("it came to %#v, want %q", got, want)
	}
	got = call(t, h, line+" --json")
	if got.status != exitFailed || got.err != "" || !strings.Contains(got.out, `"replay": "`+again+`"`) {
		t.Errorf("in JSON it came to %#v, want %q", got, again)
	}
}
