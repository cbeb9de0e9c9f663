package decide_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/decide"
	"orange/internal/task"
	"orange/internal/workflow"
)

func TestPREnded_asksForTheMoveAsARuleDoes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	def := &workflow.Definition{
		States: []workflow.State{{Name: "open"}, {Name: "late"}, {Name: "shut", Terminal: true}, {Name: "left", Terminal: true}},
		Moves:  []workflow.Move{{Command: workflow.MovePRMerged, To: "shut"}},
		Transitions: []workflow.Transition{
			{From: "open", To: "shut", By: []string{"human"}, When: []workflow.Guard{{Field: "review_round", Op: "<", Value: 2}}},
			{From: "late", To: "shut", Gate: []workflow.Part{{Section: "## Handoff", Required: true}}},
		},
	}
	tests := map[string]struct {
		status  task.Status
		rounds  int
		state   string
		against string
		to      task.Status
		marked  string
	}{
		"whoever may ask":          {"open", 1, task.PRMerged, "", "shut", ""},
		"a guard":                  {"open", 2, task.PRMerged, "", "open", "review_round < 2"},
		"a gate":                   {"late", 0, task.PRMerged, "", "late", "Handoff"},
		"something else":           {"open", 1, task.PRMerged, "it has more", "open", "it has more"},
		"no such key":              {"open", 1, task.PRClosed, "", "open", ""},
		"it is where it should be": {"shut", 1, task.PRMerged, "", "shut", ""},
	}
	for name, tt := range tests {
		one := task.Task{ID: "abc", Status: tt.status, Version: 7, Live: true, PRURL: "url", PRState: task.PROpen, Counters: task.Counters{}.With(task.ReviewRound, tt.rounds)}
		pr := task.PullRequest{URL: "url", State: tt.state, Merge: "c0ffee"}
		c := decide.PREnded(def, one, decide.Evidence{}, pr, tt.against, now)
		if c.Task.Status != tt.to || c.Entered != (tt.to != tt.status) || c.Task.PRState != tt.state || c.Expect != 7 {
			t.Errorf("%s: it is %q with its pull request %s, entered %v", name, c.Task.Status, c.Task.PRState, c.Entered)
		}
		if (tt.marked == "") != (c.Task.Attention == "") || !strings.Contains(c.Task.Attention, tt.marked) {
			t.Errorf("%s: the mark is %q, want %q", name, c.Task.Attention, tt.marked)
		}
		if tt.marked != "" && !strings.Contains(c.Task.Attention, "orange task merge abc") {
			t.Errorf("%s: the mark %q says not what to do", name, c.Task.Attention)
		}
		if c.Events[0].IsMove() || c.Events[0].Data["url"] != "url" || c.Events[0].Data["commit"] != "c0ffee" {
			t.Errorf("%s: the first event is %+v", name, c.Events[0])
		}
	}
}

func TestPRNews_areOnlyThoseOfALiveTasksOwnOpenPullRequest(t *testing.T) {
	t.Parallel()
	own := task.Task{Live: true, PRURL: "url", PRState: task.PROpen}
	if !decide.PRNews(own, task.PullRequest{URL: "url", State: task.PRMerged}) || !decide.PRNews(own, task.PullRequest{URL: "url", State: task.PRClosed}) {
		t.Error("the end of its own is no news")
	}
	over, noted := own, own
	over.Live, noted.PRState = false, task.PRMerged
	for name, news := range map[string]bool{
		"open still":        decide.PRNews(own, task.PullRequest{URL: "url", State: task.PROpen}),
		"another's":         decide.PRNews(own, task.PullRequest{URL: "other", State: task.PRMerged}),
		"of a task over":    decide.PRNews(over, task.PullRequest{URL: "url", State: task.PRMerged}),
		"on record already": decide.PRNews(noted, task.PullRequest{URL: "url", State: task.PRMerged}),
		"an unknown state":  decide.PRNews(own, task.PullRequest{URL: "url", State: "LOCKED"}),
	} {
		if news {
			t.Errorf("%s is news", name)
		}
	}
}
