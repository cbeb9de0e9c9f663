package decide_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
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
		"one goes along": {unpushed: 1, code: rejection.UnpushedCommits,
			wants: "push them yourself, or have them go with it, or leave origin out: "},
		"others go along": {unpushed: 2, code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are miscounted": {unpushed: 2, asked: task.Merge{With: 1},
			code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are counted": {unpushed: 2, asked: task.Merge{With: 2}, push: true},
		"more are counted than are": {asked: task.Merge{With: 2}, code: rejection.UnpushedCommits,
			wants: "leave --with out: orange task merge T1"},
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

func TestMergeWay_runsTheProjectsChecksOrElseTheWorkflows(t *testing.T) {
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

// What a refusal of a merge names is a merge that is not refused again: it has what was asked for, and all that it
// needs besides.
func TestARefusedMerge_namesCommandsThatAreNotRefused(t *testing.T) {
	t.Parallel()
	def, person := defaultWorkflow(t), task.Actor{Role: task.RoleHuman, As: "human"}
	refusals := 0
	for _, merge := range []string{"", "pr"} {
		for _, push := range []string{"", "ask", "always", "never"} {
			for _, url := range []string{"", "https://x/1"} {
				for _, unpushed := range []int{0, 3} {
					for _, asked := range []task.Merge{{}, {Local: true}, {Push: "always"}, {Push: "never"}, {With: 2},
						{Strategy: "squash", Override: "it's fine", With: 3, Push: "always"}} {
						in := record.Merging{Asked: asked, Unpushed: unpushed,
							Project: task.Project{Merge: merge, Push: push}}
						if !asked.Local {
							in.PR.URL = url
						}
						tk := task.Task{ID: "T1", Status: "reviewing"}
						_, err := decide.MergeWay(def, tk, "done", in, person)
						if err == nil {
							continue
						}
						refusals++
						lines := in.Commands("T1", person.As)
						for _, line := range lines {
							if !strings.Contains(err.Error(), line) {
								t.Errorf("%+v: %q is not in: %v", in, line, err)
							}
							again := in
							if again.Asked = askedBy(t, line); again.Asked.Local {
								again.PR = record.PullRequest{}
							}
							if again.Asked.Strategy != asked.Strategy || again.Asked.Override != asked.Override ||
								asked.Push != "" && again.Asked.Push != asked.Push && len(lines) == 1 {
								t.Errorf("%+v: %q asks for another merge", in, line)
							}
							if _, err := decide.MergeWay(def, tk, "done", again, person); err != nil {
								t.Errorf("%+v: %q is refused: %v", in, line, err)
							}
						}
					}
				}
			}
		}
	}
	if refusals < 50 {
		t.Errorf("only %d merges were refused", refusals)
	}
}

// askedBy is what a line asks for.
func askedBy(t *testing.T, line string) (m task.Merge) {
	t.Helper()
	rest, is := strings.CutPrefix(line, "orange task merge T1")
	if before, after, has := strings.Cut(rest, " --override 'it'\\''s fine'"); has {
		m.Override, rest = "it's fine", before+after
	}
	words := strings.Fields(rest)
	for len(words) > 0 && is {
		value := ""
		switch word := words[0]; word {
		case "--local":
			m.Local = true
		case "--push":
			m.Push = "always"
		case "--no-push":
			m.Push = "never"
		case "--strategy", "--with", "--as":
			value, words = words[1], words[1:]
			if word == "--strategy" {
				m.Strategy = value
			}
			if word == "--with" {
				m.With, _ = strconv.Atoi(value)
			}
		default:
			is = false
		}
		words = words[1:]
	}
	if !is {
		t.Fatalf("cannot read %q", line)
	}
	return m
}
