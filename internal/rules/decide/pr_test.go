package decide_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestElsewhere_isAMergeIntoAnotherBranchThanTheTasks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		pr     record.PullRequest
		branch string
		want   string
	}{
		"its own":             {record.PullRequest{State: record.PRMerged, Base: "main"}, "main", ""},
		"another":             {record.PullRequest{State: record.PRMerged, Base: "release"}, "main", `into "release"`},
		"no one knows":        {record.PullRequest{State: record.PRMerged}, "main", ""},
		"the project is gone": {record.PullRequest{State: record.PRMerged, Base: "release"}, "", ""},
		"open":                {record.PullRequest{State: record.PROpen, Base: "release"}, "main", ""},
		"closed":              {record.PullRequest{State: record.PRClosed, Base: "release"}, "main", ""},
	} {
		got := decide.Elsewhere(task.Task{ID: "abc"}, row.pr, row.branch)
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: it says %q, want %q", name, got, row.want)
		}
	}
}

func TestPREnded_asksForTheMoveAsARuleDoes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	def := &workflow.Definition{
		States: []workflow.State{{Name: "open"}, {Name: "late"}, {Name: "shut", Terminal: true},
			{Name: "left", Terminal: true}},
		Moves: []workflow.Move{{Command: workflow.MovePRMerged, To: "shut"}},
		Transitions: []workflow.Transition{
			{From: "open", To: "shut", By: []string{"human"}, When: []workflow.Guard{
				{Field: "review_round", Op: "<", Value: 2}}},
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
		"whoever may ask":          {"open", 1, record.PRMerged, "", "shut", ""},
		"a guard":                  {"open", 2, record.PRMerged, "", "open", "review_round < 2"},
		"a gate":                   {"late", 0, record.PRMerged, "", "late", "Handoff"},
		"something else":           {"open", 1, record.PRMerged, "it has more", "open", "it has more"},
		"no such key":              {"open", 1, record.PRClosed, "", "open", ""},
		"it is where it should be": {"shut", 1, record.PRMerged, "", "shut", ""},
	}
	for name, tt := range tests {
		one := task.Task{ID: "abc", Status: tt.status, Version: 7, Live: true, PRURL: "url", PRState: record.PROpen,
			Counters: task.Counters{}.With(task.ReviewRound, tt.rounds)}
		pr := record.PullRequest{URL: "url", State: tt.state, Merge: "c0ffee"}
		c := decide.PREnded(def, one, decide.Evidence{}, pr, tt.against, now)
		if c.Task.Status != tt.to || c.Entered != (tt.to != tt.status) || c.Task.PRState != tt.state || c.Expect != 7 {
			t.Errorf("%s: it is %q with its pull request %s, entered %v", name, c.Task.Status, c.Task.PRState,
				c.Entered)
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

func TestPRNews_concernOnlyALiveTasksOwnOpenPullRequest(t *testing.T) {
	t.Parallel()
	own := task.Task{Live: true, PRURL: "url", PRState: record.PROpen}
	if !decide.PRNews(own, record.PullRequest{URL: "url", State: record.PRMerged}) ||
		!decide.PRNews(own, record.PullRequest{URL: "url", State: record.PRClosed}) {
		t.Error("the end of its own is no news")
	}
	over, noted := own, own
	over.Live, noted.PRState = false, record.PRMerged
	for name, news := range map[string]bool{
		"open still":        decide.PRNews(own, record.PullRequest{URL: "url", State: record.PROpen}),
		"another's":         decide.PRNews(own, record.PullRequest{URL: "other", State: record.PRMerged}),
		"of a task over":    decide.PRNews(over, record.PullRequest{URL: "url", State: record.PRMerged}),
		"on record already": decide.PRNews(noted, record.PullRequest{URL: "url", State: record.PRMerged}),
		"an unknown state":  decide.PRNews(own, record.PullRequest{URL: "url", State: "LOCKED"}),
	} {
		if news {
			t.Errorf("%s is news", name)
		}
	}
}

func TestStandIn_letsAMergedPullRequestMeetEveryGitCondition(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	pr := record.PullRequest{URL: "https://forge/7", State: record.PRMerged, Commit: "second", Merge: "c0ffee"}
	one := newTask("reviewing")
	one.PRURL, one.PRState, one.Subject = pr.URL, record.PROpen, task.Subject{Commit: "first", Reviewed: true}
	moved := withGit(evidence(""), true, true)
	before := maps.Clone(moved.Facts)
	ended := func(def *workflow.Definition) record.Change {
		to, _ := decide.PRMove(def, pr)
		return decide.PREnded(def, one, moved.Merged(def, one, to, pr), pr, "", noon)
	}
	c := ended(def)
	if c.Task.Status != "done" || c.Events[1].Type != history.AutoAdvanced ||
		!strings.Contains(c.Task.Attention, "merged second, reviewed first") {
		t.Errorf("merged: %s, marked %q", shape(c), c.Task.Attention)
	}
	if !maps.Equal(before, moved.Facts) {
		t.Error("the evidence itself was changed")
	}
	stood := moved.Merged(def, one, "done", pr)
	if len(c.Spent) != 1 || c.Spent[0].Source != "git unmoved" {
		t.Fatalf("it rested on %v", c.Spent)
	}
	if text, kept := stood.Text(c.Spent[0]); !kept || !strings.Contains(text, pr.URL) ||
		!strings.Contains(text, "second") {
		t.Errorf("the text behind it is %q (%v), want the pull request and its head", text, kept)
	}
	pr.State = record.PRClosed // stands in for nothing
	shut := tiny([]workflow.Transition{{From: "busy", To: "lost", Gate: []workflow.Part{{Git: workflow.GitUnmoved}}}})
	shut.Moves = []workflow.Move{{Command: workflow.MovePRClosed, To: "lost"}}
	one.Status = "busy"
	if c = ended(shut); c.Task.Status != "busy" || !strings.Contains(c.Task.Attention, "git unmoved") {
		t.Errorf("closed: %s, marked %q", shape(c), c.Task.Attention)
	}
	// It replaces only what git says.
	strict := *def
	strict.Transitions = slices.Clone(def.Transitions)
	for i := range strict.Transitions {
		if e := &strict.Transitions[i]; e.From == "reviewing" && e.To == "done" {
			e.Gate = append(slices.Clone(e.Gate), workflow.Part{Section: "## Accepted"}, workflow.Part{Check: "tests"})
		}
	}
	pr.State = record.PRMerged
	moved.Facts[workflow.Part{Check: "tests"}.Key()] = decide.Fact{Source: "check tests", Found: "red"}
	one.Status = "reviewing"
	c = ended(&strict)
	for said, want := range map[string]bool{"## Accepted": true, "check tests: red": true, "git unmoved": false} {
		if c.Task.Status != "reviewing" || strings.Contains(c.Task.Attention, said) != want {
			t.Errorf("with more than git in the gate: %s, marked %q, %q in it: want %v", shape(c),
				c.Task.Attention, said, want)
		}
	}
}

func TestPREnded_withoutAMoveNamesThoseThatLeadOn(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.PRURL, one.PRState = "url", record.PROpen
	c := decide.PREnded(defaultWorkflow(t), one, evidence(""), record.PullRequest{URL: "url", State: record.PRMerged},
		"", noon)
	if want := `(moves that lead on from "working": agent-review, clarification, stuck, cancelled)`; c.Task.Status != "working" || !strings.Contains(c.Task.Attention, want) {
		t.Errorf("found %q, want %q in it", c.Task.Attention, want)
	}
	if !strings.Contains(c.Events[0].Data[history.DataRefused], "moves that lead on") {
		t.Errorf("the event says %q", c.Events[0].Data[history.DataRefused])
	}
}

func TestOtherHead_marksWhatWasMergedOtherwiseThanReviewed(t *testing.T) {
	t.Parallel()
	reviewed := task.Subject{Commit: "1111111aaaa", Reviewed: true}
	for name, c := range map[string]struct {
		state   string
		head    string
		subject task.Subject
		want    string
	}{
		"another head": {record.PRMerged, "2222222bbbb", reviewed,
			"as it was; merged 2222222, reviewed 1111111: look at what lies between"},
		"the same":               {record.PRMerged, "1111111aaaa", reviewed, "as it was"},
		"nobody knows the head":  {record.PRMerged, "", reviewed, "as it was"},
		"nobody has reviewed it": {record.PRMerged, "2222222bbbb", task.Subject{Commit: "1111111aaaa"}, "as it was"},
		"closed":                 {record.PRClosed, "2222222bbbb", reviewed, "as it was"},
	} {
		after := decide.MarkOtherHead(task.Task{Subject: c.subject}, task.Task{Attention: "as it was"},
			record.PullRequest{State: c.state, Commit: c.head})
		if after.Attention != c.want {
			t.Errorf("%s: the mark is %q, want %q", name, after.Attention, c.want)
		}
	}
}

func TestTransition_hasTheJudgedCommitPushedToAnOpenPullRequest(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		States: []workflow.State{{Name: "open"}, {Name: "ready"}, {Name: "shut", Terminal: true}},
		Moves:  []workflow.Move{{Command: workflow.MoveMerge, To: "shut"}},
		Transitions: []workflow.Transition{{From: "open", To: "ready"}, {From: "ready", To: "shut"},
			{From: "ready", To: "open"}, {From: "ready", To: "ready"}},
	}
	tests := map[string]struct {
		from, to task.Status
		state    string
		commit   string
		pushed   string
		moves    []workflow.Move
		wanted   bool
	}{
		"ready again":        {"open", "ready", record.PROpen, "c2", "c1", def.Moves, true},
		"pushed by another":  {"open", "ready", record.PROpen, "c2", "", def.Moves, true},
		"it has it":          {"open", "ready", record.PROpen, "c2", "c2", def.Moves, false},
		"nothing was judged": {"open", "ready", record.PROpen, "", "c1", def.Moves, false},
		"merged":             {"open", "ready", record.PRMerged, "c2", "c1", def.Moves, false},
		"none":               {"open", "ready", "", "c2", "c1", def.Moves, false},
		"back to work":       {"ready", "open", record.PROpen, "c2", "c1", def.Moves, false},
		"over":               {"ready", "shut", record.PROpen, "c2", "c1", def.Moves, false},
		"no one merges":      {"open", "ready", record.PROpen, "c2", "c1", nil, false},
		"it begins again":    {"ready", "ready", record.PROpen, "c2", "c1", def.Moves, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := *def
			rules.Moves = tt.moves
			before := task.Task{ID: "T1", Status: tt.from, Live: true, PRState: tt.state, Pushed: tt.pushed,
				Subject: task.Subject{Commit: tt.commit}}
			if tt.state != "" {
				before.PRURL = "https://github.com/a/b/pull/1"
			}
			decision, err := decide.Transition(&rules, before, decide.Evidence{Subject: before.Subject}, task.Request{
				Task: "T1", To: tt.to, Actor: task.Actor{Role: task.RoleHuman}}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			hooks := decision.Change.Hooks
			if has := len(hooks) == 1 && hooks[0].Action == action.UpdatePR; has != tt.wanted || len(hooks) > 1 {
				t.Errorf("the hooks are %+v", hooks)
			}
			if events := decision.Change.Events; len(events) > 0 && len(events[0].Hooks) != len(hooks) {
				t.Errorf("its event has the hooks %v", events[0].Hooks)
			}
		})
	}
}

func TestCreate_fromAPullRequestIsAPersonsToAsk(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{Initial: "open", States: []workflow.State{{Name: "open"}},
		Births: []workflow.Birth{{To: "open"}}}
	const address = "https://github.com/a/b/pull/1"
	wanted := task.Task{ID: "T1", Branch: "feat/a", PRURL: address, PRState: record.PROpen}
	c, err := decide.Create(def, wanted, "open", task.Actor{Role: task.RoleHuman}, time.Now())
	if err != nil || c.Task.PRURL != address || c.Task.PRState != record.PROpen || c.Events[0].Data["url"] != address {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err = decide.Create(def, wanted, "open", task.Actor{Role: task.RoleWorker}, time.Now()); err == nil {
		t.Error("an agent may")
	}
	wanted.PRURL, wanted.PRState = "", ""
	if _, err = decide.Create(def, wanted, "open", task.Actor{Role: task.RoleWorker}, time.Now()); err != nil {
		t.Errorf("without one an agent may not: %v", err)
	}
}
