package record_test

import (
	"slices"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestHookFailures_sayWhichHooksAndWhereTheTaskIs(t *testing.T) {
	t.Parallel()
	o := record.Outcome{Task: task.Task{Status: "working"}, Hooks: []task.OwedHook{
		{Hook: task.Hook{Action: "notify"}, State: task.HookDone},
		{Hook: task.Hook{Action: "push_branch"}, State: task.HookFailed, Error: "no remote"}}}
	failures, then := o.HookFailures()
	if !slices.Equal(failures, []string{"push_branch: no remote"}) || then != "the task stays working" {
		t.Errorf("%q, %q", failures, then)
	}
	o.Event = history.Event{Type: history.StatusChanged, From: "planning", To: "working"}
	if failures, then = o.HookFailures(); len(failures) != 1 || then != "the task has moved, and is working" {
		t.Errorf("%q, %q", failures, then)
	}
}

func TestWords_ofWhatPeopleReadInLists(t *testing.T) {
	t.Parallel()
	for want, said := range map[string]interface{ String() string }{
		"lib (a repository; 1 file, 7 B)":       record.Aside{Path: "lib", Why: "a repository", Files: 1, Bytes: 7},
		"the whole workspace (x; 2 files, 7 B)": record.Aside{Path: ".", Why: "x", Files: 2, Bytes: 7},
		"":                                      record.Need{Found: "it waits", Want: "nothing"},
		"a; b":                                  record.Need{Kind: record.NeedsWord, Found: "a", Want: "b"},
		"once: no section":                      record.Refusals{Count: 1, Same: 1, Reason: "no section"},
		"2 times: no section":                   record.Refusals{Count: 2, Same: 2, Reason: "no section"},
		"3 times, the last time: no section":    record.Refusals{Count: 3, Same: 2, Reason: "no section"},
	} {
		if got := said.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	for kind, want := range map[string]bool{record.NeedsAnswer: true, record.NeedsWord: true,
		record.NeedsAttention: false, record.NeedsPerson: false} {
		if (record.Need{Kind: kind}).OnScreen() != want {
			t.Errorf("%s is on the screen: %t", kind, !want)
		}
	}
}

func TestLeft_isWhatFixingLeavesOfAFinding(t *testing.T) {
	t.Parallel()
	f := record.Finding{Level: record.LevelProblem}
	if f.Left() != record.LevelProblem {
		t.Errorf("of one that no one fixed: %q", f.Left())
	}
	if f.Mended = "it was removed"; f.Left() != record.LevelOK {
		t.Errorf("of one that was fixed: %q", f.Left())
	}
}

func TestHolds_isUntilThePauseIsOver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	p := record.ForgePause{Until: at}
	if !p.Holds(at.Add(-time.Second)) || p.Holds(at) {
		t.Error("a pause is not over at its end")
	}
}

func TestEnded_saysHowAPullRequestEnded(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{record.PRClosed: "closed without a merge: pull request u",
		record.PRMerged: "merged as pull request u"} {
		if got := (record.PullRequest{URL: "u", State: state}).Ended(); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

func TestHarness_isThatOfTheAgentThatTheHookIsFor(t *testing.T) {
	t.Parallel()
	j := record.Job{Task: task.Task{Harness: "own", ReviewHarness: "other"}}
	if got := j.Harness(); got != "own" {
		t.Errorf("found %q", got)
	}
	if j.Hook.Harness = task.HarnessReview; j.Harness() != "other" {
		t.Errorf("for a review: %q", j.Harness())
	}
	if j.Agent = "named"; j.Harness() != "named" {
		t.Errorf("one that the project names for the role: %q", j.Harness())
	}
}

func TestLateNotice_namesTheHighestLevelAndTheMove(t *testing.T) {
	t.Parallel()
	level := func(reason string) history.Event {
		return history.Event{Type: history.Updated, Reason: reason, Data: map[string]string{history.DataLevel: "x"}}
	}
	move := history.Event{Type: history.StatusChanged, From: "working", To: "stuck"}
	for want, events := range map[string][]history.Event{
		"": {{Type: history.Updated, Reason: "another"}},
		`150 %; look at it with "orange task show T"`: {level("80 %"), level("150 %")},
		`150 %; it was moved to "stuck"`:              {level("150 %"), move},
	} {
		if got := (record.Change{Task: task.Task{ID: "T"}, Events: events}).LateNotice(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func TestLinesOf_givesLaterLinesAndTheTotalSize(t *testing.T) {
	t.Parallel()
	past := record.LinesOf([]string{"a", "bcd"}, true)
	for after, want := range map[int][]string{-1: {"a", "bcd"}, 0: {"a", "bcd"}, 1: {"bcd"}, 2: {}, 3: {}} {
		lines, size, err := past.Tail(after)
		if err != nil || size != 6 || !past.Whole || !slices.Equal(lines, want) {
			t.Errorf("after %d: %q, %d bytes, %v", after, lines, size, err)
		}
	}
}
