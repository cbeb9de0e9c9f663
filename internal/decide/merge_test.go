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
		pr       string
		unpushed int
		strategy string
		push     bool
		code     string // of the refusal
		wants    string // what it says is to be done
	}{
		"nothing is said":            {push: true},
		"a strategy":                 {project: task.Project{Strategy: "squash"}, strategy: "squash", push: true},
		"another strategy":           {project: task.Project{Strategy: "squash"}, asked: task.Merge{Strategy: "ff"}, strategy: "ff", push: true},
		"it stays here":              {project: task.Project{Push: "never"}},
		"it stays here, others too":  {project: task.Project{Push: "never"}, unpushed: 3},
		"this one is pushed":         {project: task.Project{Push: "never"}, asked: task.Merge{Push: "always"}, push: true},
		"this one stays":             {asked: task.Merge{Push: "never"}, unpushed: 3},
		"each asks":                  {project: task.Project{Push: "ask"}, code: rejection.PushUnanswered, wants: "--push, or"},
		"each asks, and is answered": {project: task.Project{Push: "ask"}, asked: task.Merge{Push: "always"}, push: true},
		"others go along":            {unpushed: 2, code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are miscounted":      {unpushed: 2, asked: task.Merge{With: 1}, code: rejection.UnpushedCommits, wants: "--with 2"},
		"others are counted":         {unpushed: 2, asked: task.Merge{With: 2}, push: true},
		"more are counted than are":  {asked: task.Merge{With: 2}, code: rejection.UnpushedCommits, wants: "--with 0"},
		"by pull requests":           {project: task.Project{Merge: "pr"}, code: rejection.PRMissing, wants: "create-pr T1"},
		"here all the same":          {project: task.Project{Merge: "pr"}, asked: task.Merge{Local: true}, push: true},
		"the pull request is open": {pr: "https://x/1", project: task.Project{Merge: "pr"}, code: rejection.PROpen,
			wants: "--local"},
	} {
		in := record.Merging{Asked: tt.asked, Project: tt.project, PR: record.PullRequest{URL: tt.pr},
			Unpushed: tt.unpushed, Newest: []string{"abc1234 Add it"}[:min(tt.unpushed, 1)]}
		strategy, push, err := decide.MergeWay(
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
		if err != nil || strategy != tt.strategy || push != tt.push {
			t.Errorf("%s: strategy %q, push %v, %v", name, strategy, push, err)
		}
	}
}
