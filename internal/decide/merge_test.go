package decide_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/rejection"
	"orange/internal/task"
)

func TestMergeWay_isTheProjectsWhereThePersonDoesNotSayOtherwise(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		project  task.Project
		asked    task.Merge
		pr, base string
		unpushed int
		strategy string
		push     bool
		code     string // of the refusal
		wants    string // what it says is to be done
	}{
		"nothing is said": {push: true},
		"a strategy":      {project: task.Project{Strategy: "squash"}, strategy: "squash", push: true},
		"another strategy": {project: task.Project{Strategy: "squash"},
			asked: task.Merge{Strategy: "ff"}, strategy: "ff", push: true},
		"it stays here":             {project: task.Project{Push: "never"}},
		"it stays here, others too": {project: task.Project{Push: "never"}, unpushed: 3},
		"this one is pushed": {project: task.Project{Push: "never"},
			asked: task.Merge{Push: "always"}, push: true},
		"this one stays": {asked: task.Merge{Push: "never"}, unpushed: 3},
		"each asks": {project: task.Project{Push: "ask"}, code: rejection.PushUnanswered,
			wants: "--push, or"},
		"each asks, and is answered": {project: task.Project{Push: "ask"}, asked: task.Merge{Push: "always"},
			push: true},
		"others go along": {unpushed: 2, code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are miscounted": {unpushed: 2, asked: task.Merge{With: 1},
			code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are counted": {unpushed: 2, asked: task.Merge{With: 2}, push: true},
		"more are counted than are": {asked: task.Merge{With: 2}, code: rejection.UnpushedCommits,
			wants: "--with 0"},
		"by pull requests": {project: task.Project{Merge: "pr"}, code: rejection.PRMissing,
			wants: "create-pr T1"},
		"here all the same": {project: task.Project{Merge: "pr"}, asked: task.Merge{Local: true},
			push: true},
		"the pull request is open": {pr: "https://x/1", project: task.Project{Merge: "pr"}, code: rejection.PROpen,
			wants: "merge it there and run this again, or merge here all the same: orange task merge T1 --local"},
		"the pull request goes where tasks go": {pr: "https://x/1", base: "main",
			project: task.Project{DefaultBranch: "main"}, code: rejection.PROpen, wants: "do: merge it there"},
		"the pull request goes elsewhere": {pr: "https://x/1", base: "release",
			project: task.Project{DefaultBranch: "main"}, code: rejection.PROpen,
			wants: `have it go into "main", merge it there and run this again, or merge here all the same: `},
	} {
		in := record.Merging{Asked: tt.asked, Project: tt.project,
			PR:       record.PullRequest{URL: tt.pr, Base: tt.base},
			Unpushed: tt.unpushed, Newest: []string{"abc1234 Add it"}[:min(tt.unpushed, 1)]}
		order, err := decide.MergeWay(
			defaultWorkflow(t),
			task.Task{ID: "T1", Status: "reviewing"},
			"done",
			in,
			task.Actor{Role: task.RoleHuman},
		)
		refused, _ := errors.AsType[*rejection.Rejection](err)
		if tt.code != "" {
			if refused == nil || refused.Code != tt.code || !strings.Contains(refused.Error(), tt.wants) {
				t.Errorf("%s: it answers %v", name, err)
			}
			continue
		}
		if err != nil || order.Strategy != tt.strategy || order.Push != tt.push ||
			order.With != tt.asked.With {
			t.Errorf("%s: %+v, %v", name, order, err)
		}
	}
}

func TestMergeWay_checksWhatTheProjectNamesAndElseWhatTheWorkflowNames(t *testing.T) {
	t.Parallel()
	def := parse(t, "checked.yml", []byte(`
name: checked
version: 1
checks:
  tests: {run: [make, test], timeout: 5m}
  lint: {run: [make, lint]}
merge_checks: [tests]
states: {todo: {}, done: {terminal: true}}
transitions: [{from: todo, to: done, gate: [{check: lint}, {check: tests}]}]
`))
	asked := func(p task.Project) []record.MergeCheck {
		order, err := decide.MergeWay(def, task.Task{ID: "T1", Status: "todo"}, "done", record.Merging{Project: p},
			task.Actor{Role: task.RoleHuman})
		if err != nil {
			t.Fatal(err)
		}
		return order.Checks
	}
	if all := asked(task.Project{}); len(all) != 1 || all[0].Argv[1] != "test" || all[0].Seconds != 300 {
		t.Errorf("the workflow's are %+v", all)
	}
	if all := asked(task.Project{Checks: [][]string{{"true"}}}); len(all) != 1 || all[0].Argv[0] != "true" {
		t.Errorf("the project's are %+v", all)
	}
}
