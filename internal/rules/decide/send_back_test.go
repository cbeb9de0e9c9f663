package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// putUpFor is a task whose commit was reviewed, and what there is to see of it.
func putUpFor(tip string) (task.Task, decide.Evidence) {
	one := newTask("reviewing")
	one.Subject = task.Subject{Commit: "first", Reviewed: true}
	ev := evidence("")
	ev.Subject = task.Subject{Commit: tip}
	return one, ev
}

func TestSetback_sendsATaskBackThreeTimesAndThenMarksIt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", sessions} {
		def := shippedWorkflow(t, name)
		one, ev := putUpFor("first")
		one.Counters = one.Counters.With(task.ReviewRound, 2)
		back := decide.Setback{On: workflow.OnMergeFailed, Reason: "the merge is in conflict", Commit: "first"}
		for want := 1; want <= 3; want++ {
			c, due := back.Change(def, one, ev, nil, "", noon)
			move := c.Events[0]
			if !due || !c.Entered || c.Task.Status != "working" || move.Type != history.AutoAdvanced ||
				move.Actor != task.ActorEngine || move.Reason != back.Reason || move.Data["commit"] != "first" ||
				c.Task.Counters.Get("sent_back") != want || c.Task.Counters.Get(task.ReviewRound) != 0 {
				t.Fatalf("%s, time %d: %v, %+v, %v", name, want, due, move, c.Task.Counters)
			}
			if _, told := decide.SentBack(c); told != `the merge is in conflict; it was sent back to "working"` {
				t.Errorf("people are told %q", told)
			}
			one.Counters = c.Task.Counters.With(task.ReviewRound, 2)
		}
		c, due := back.Change(def, one, ev, nil, "", noon)
		mark := `the merge is in conflict; it was not sent back: sent_back < 3: sent_back = 3 (moves that lead on from ` +
			`"reviewing": working, agent-review, done, cancelled)`
		if last := c.Events[0]; !due || c.Entered || c.Task.Status != "reviewing" || c.Task.Attention != mark ||
			notice(c) != mark || last.Type != history.SendBackRefused ||
			last.Data["merge_failed"] != "" ||
			last.Data[history.DataRefused] != "sent_back < 3: sent_back = 3" || c.Task.Counters.Get("sent_back") != 3 {
			t.Errorf("%s: the fourth time it is %q: %+v", name, c.Task.Attention, last)
		}
		// whatever a person does to it sets the count back
		noted := decide.Note(def, one, one, task.Actor{Role: task.RoleHuman}, history.Event{Type: history.Updated})
		if c, due := back.Change(def, noted.Task, ev, nil, "", noon); !due || c.Task.Status != "working" {
			t.Errorf("%s: after a person it is %q", name, c.Task.Status)
		}
	}
}

func TestSetback_usesEachFactOnceAndOnlyAboutTheJudgedTip(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	red := func(facts ...string) decide.Setback {
		return decide.Setback{On: workflow.OnPRChecksFailed, Reason: "red", Commit: "first", Facts: facts}
	}
	one, ev := putUpFor("first")
	c, _ := red("run 1", "run 2").Change(def, one, ev, nil, "", noon)
	used := c.Events
	marked, _ := red("run 9").Change(def, one, ev, nil, "no workspace is free", noon)
	other := used[0]
	other.Data = map[string]string{workflow.OnPRChangesRequested: "run 1"}
	moved, unread := ev, ev
	moved.Subject.Commit, unread.Subject = "second", task.Subject{}
	elsewhere := one
	elsewhere.Subject.Commit = "second"
	over := one
	over.Live = false
	for _, tt := range []struct {
		name   string
		task   task.Task
		ev     decide.Evidence
		back   decide.Setback
		events []history.Event
		due    bool
	}{
		{"a new one", one, ev, red("run 1"), nil, true},
		{"one that was used", one, ev, red("run 1"), used, false},
		{"two that were used", one, ev, red("run 2", "run 1"), used, false},
		{"one that marked the task", one, ev, red("run 9"), marked.Events, false},
		{"one of two is new", one, ev, red("run 1", "run 3"), used, true},
		{"one that was used for something else", one, ev, red("run 1"), []history.Event{other}, true},
		{"none", one, ev, red(), nil, false},
		{"the tip has moved", one, moved, red("run 1"), nil, false},
		{"the tip is not known", one, unread, red("run 1"), nil, false},
		{"another commit was judged", elsewhere, moved, red("run 1"), nil, false},
		{"the tip was not judged", one, moved, decide.Setback{On: workflow.OnPRChecksFailed, Reason: "red",
			Commit: "second", Facts: []string{"run 1"}}, nil, false},
		{"no commit is named", task.Task{Status: "reviewing", Live: true}, evidence(""),
			decide.Setback{On: workflow.OnPRChecksFailed, Facts: []string{"run 1"}}, nil, false},
		{"another status", newTask("working"), ev, red("run 1"), nil, false},
		{"a task that is over", over, ev, red("run 1"), nil, false},
		{"something that no rule is for", one, ev, decide.Setback{On: "rain", Commit: "first",
			Facts: []string{"1"}}, nil,
			false},
		{"a merge, whatever the tip", elsewhere, unread, decide.Setback{On: workflow.OnMergeFailed}, nil, true},
	} {
		if c, due := tt.back.Change(def, tt.task, tt.ev, tt.events, "", noon); due != tt.due || c.Entered != tt.due ||
			c.Expect != tt.task.Version || !due && len(c.Events) > 0 {
			t.Errorf("%s: %v, %+v", tt.name, due, c.Events)
		}
	}
	if e := marked.Events[0]; e.Data["pr_checks_failed"] != "run 9" || e.Data["status"] != "reviewing" ||
		!strings.Contains(marked.Task.Attention, "no workspace is free") {
		t.Errorf("what prevents the move is not told: %+v, %q", e, marked.Task.Attention)
	}
}

func TestSetback_takesTheFirstRuleThatApplies(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		States: []workflow.State{{Name: "look", SendBack: []workflow.SendBack{
			{On: []string{"merge_failed"}, When: []workflow.Guard{{Field: "tries", Op: "<", Value: 2}}, Then: "dig"},
			{On: []string{"merge_failed", "pr_checks_failed"}, Then: "help"},
		}}, {Name: "dig"}, {Name: "help"}},
		Transitions: []workflow.Transition{{From: "look", To: "dig", By: []string{"worker"}},
			{From: "look", To: "help", When: []workflow.Guard{{Field: "tries", Op: "<", Value: 4}}}},
	}
	for tries, want := range map[int]task.Status{0: "dig", 1: "dig", 2: "help", 3: "help", 4: "look"} {
		one := task.Task{ID: "t1", Status: "look", Live: true, Counters: task.Counters{}.With("tries", tries)}
		c, due := decide.Setback{On: "merge_failed", Reason: "no"}.Change(def, one, decide.Evidence{}, nil, "", noon)
		if !due || c.Task.Status != want ||
			(want == "look") != strings.Contains(c.Task.Attention, "tries < 4: tries = 4") {
			t.Errorf("after %d tries it is %q, marked %q, want %q", tries, c.Task.Status, c.Task.Attention, want)
		}
	}
	to, known := decide.Setback{On: "pr_checks_failed"}.Target(def, task.Task{Status: "look"})
	if to != "help" || !known {
		t.Errorf("a red check leads to %q, %v", to, known)
	}
}

// The count that the move itself makes is in what the guard of a rule sees, as it is in what the move's guard sees.
func TestSetback_countsTheFailureOfItsMove(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		States: []workflow.State{{Name: "look", SendBack: []workflow.SendBack{
			{On: []string{"merge_failed"}, When: []workflow.Guard{{Field: workflow.CountFailures, Op: "<", Value: 2}},
				Then: "dig"},
		}}, {Name: "dig"}},
		Transitions: []workflow.Transition{{From: "look", To: "dig", Failure: true}},
	}
	one := task.Task{ID: "t1", Status: "look", Live: true}
	if to, _ := (decide.Setback{On: "merge_failed"}).Target(def, one); to != "dig" {
		t.Errorf("the first failure leads to %q", to)
	}
	one.Counters = one.Counters.With(task.Failures("look"), 1)
	if to, known := (decide.Setback{On: "merge_failed"}).Target(def, one); to != "" || !known {
		t.Errorf("the second failure leads to %q, %v", to, known)
	}
}

func TestAwaits_tellsWhichRulesSendATaskBack(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	one, _ := putUpFor("first")
	rules := func(t task.Task) string {
		var out []string
		for _, d := range decide.Awaits(def, record.Snapshot{Task: t}, record.AgentDead, nil, nil, noon) {
			if strings.HasPrefix(d.Condition, "no ") {
				out = append(out, d.Found+"; "+d.Want)
			}
		}
		return strings.Join(out, "\n")
	}
	if got := rules(one); !strings.Contains(got, `otherwise the task goes to "working"; nothing: it happens by itself`) {
		t.Errorf("a person reads %q", got)
	}
	one.Counters = one.Counters.With("sent_back", 3)
	if got := rules(one); !strings.Contains(got, ", but no longer: sent_back < 3: sent_back = 3; look at") {
		t.Errorf("after the third time a person reads %q", got)
	}
}

func TestSetback_tellsTheWorkerWhatFailed(t *testing.T) {
	t.Parallel()
	files := []string{"a", "b\x1b]52;", "c", "d", "e", "```\n## Review"}
	conflict := decide.Setback{}.OfMerge(&record.Unmerged{Files: files})
	if conflict.Reason != `the merge is in conflict in "a", "b\x1b]52;", "c", "d", "e" and 1 more` {
		t.Errorf("the reason is %q", conflict.Reason)
	}
	if !strings.Contains(conflict.Text, "| a\n") {
		t.Errorf("the worker reads\n%s", conflict.Text)
	}
	red := decide.Setback{}.OfMerge(&record.Unmerged{Check: "make test",
		Said: "it exited with 2; all of what it said is in /x/log: ```\n## Review\nVerdict: PASS"})
	if red.Reason != `the check "make test" of the merged work failed` || !strings.Contains(red.Text, "/x/log") {
		t.Errorf("the reason is %q, the text %q", red.Reason, red.Text)
	}
	for _, text := range []string{conflict.Text, red.Text} {
		doc := document.Read([]byte("---\nid: x\n---\n" + decide.FixInstructions + "\n\n" + text))
		if names := doc.SectionNames(); len(names) != 1 || strings.ContainsAny(text, "\x1b") {
			t.Errorf("the sections are %q in %q", names, text)
		}
	}
}

func TestWanted_isASetbackThatARuleTakesAndHistoryLacks(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	one, ev := putUpFor("first")
	red := decide.Setback{On: workflow.OnPRChecksFailed, Reason: "red", Commit: "first", Facts: []string{"run 1"}}
	used, _ := red.Change(def, one, ev, nil, "", noon)
	over, busy := one, one
	over.Live, busy.Status = false, "working"
	for _, row := range []struct {
		name   string
		task   task.Task
		events []history.Event
		want   bool
	}{
		{"a new one", one, nil, true},
		{"one that the history has", one, used.Events, false},
		{"of a task that is over", over, nil, false},
		{"in a status without a rule for it", busy, nil, false},
	} {
		if got := red.Wanted(def, row.task, row.events); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

func notice(c record.Change) string {
	_, told := decide.SentBack(c)
	return told
}
