package decide_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const request = "https://github.com/a/garden/pull/7"

// looked is a pull request of a task whose judged commit is its head.
func looked() (task.Task, record.PRLook) {
	t := newTask("reviewing")
	t.PRURL, t.PRState, t.Subject = request, record.PROpen, task.Subject{Commit: "c0ffee", Reviewed: true}
	return t, record.PRLook{PullRequest: record.PullRequest{URL: request, State: record.PROpen, Commit: "c0ffee"}}
}

func TestOfChecks_areThoseOfTheJudgedCommitThatFailed(t *testing.T) {
	t.Parallel()
	red := record.PRCheck{ID: "run 1", Name: "build", Result: record.ChecksFail, Log: "11", Address: "https://x"}
	green := record.PRCheck{ID: "run 2", Name: "lint", Result: record.ChecksPass}
	runs := record.PRCheck{ID: "run 3", Name: "slow", Result: record.ChecksPending}
	off := record.PRCheck{ID: "run 4", Name: "off", Result: record.ChecksNone}
	for name, c := range map[string]struct {
		runs   []record.PRCheck
		change func(*task.Task, *record.PRLook)
		due    bool
	}{
		"one failed":      {[]record.PRCheck{green, red, off}, nil, true},
		"none failed":     {[]record.PRCheck{green, off}, nil, false},
		"one runs":        {[]record.PRCheck{red, runs}, nil, false},
		"an older commit": {[]record.PRCheck{red}, func(_ *task.Task, l *record.PRLook) { l.Commit = "old" }, false},
		"the judged is old": {[]record.PRCheck{red}, func(t *task.Task, _ *record.PRLook) {
			t.Subject.Commit = "old"
		}, false},
		"nothing judged": {[]record.PRCheck{red}, func(t *task.Task, l *record.PRLook) {
			t.Subject.Commit, l.Commit = "", ""
		}, false},
		"merged": {[]record.PRCheck{red}, func(_ *task.Task, l *record.PRLook) {
			l.State = record.PRMerged
		}, false},
		"another's one": {[]record.PRCheck{red}, func(t *task.Task, _ *record.PRLook) { t.PRURL = "other" }, false},
	} {
		one, look := looked()
		look.Runs = c.runs
		if c.change != nil {
			c.change(&one, &look)
		}
		back, due := decide.Setback{}.OfChecks(one, &look, map[string]string{"11": "boom\n"})
		if due != c.due {
			t.Errorf("%s: due is %v", name, due)
		}
		if due && (strings.Join(back.Facts, " ") != "run 1" || back.Commit != "c0ffee" ||
			back.Reason != "checks of "+request+" failed: build" || !strings.Contains(back.Text, "| boom\n") ||
			strings.Contains(back.Text, "lint")) {
			t.Errorf("%s: %+v", name, back)
		}
	}
}

func TestOfReviews_areOfPeopleWhoMayWriteAndOfNamedPrograms(t *testing.T) {
	t.Parallel()
	review := func(id, name, state, commit string) record.PRReview {
		return record.PRReview{ID: id, Commit: commit, State: state, Said: "says " + id,
			Author: record.PRAuthor{Name: name, Writes: name == "ann" || name == "bob",
				Bot: strings.HasPrefix(name, "lint")}}
	}
	ask := record.ReviewChanges
	for name, c := range map[string]struct {
		reviews  []record.PRReview
		programs []string
		facts    string
		says     string
	}{
		"a person":   {[]record.PRReview{review("R1", "ann", ask, "c0ffee")}, nil, "R1", "R1"},
		"a stranger": {[]record.PRReview{review("R1", "eve", ask, "c0ffee")}, nil, "", ""},
		"a program":  {[]record.PRReview{review("R1", "lint", ask, "c0ffee")}, nil, "", ""},
		"a named program": {[]record.PRReview{review("R1", "lint", ask, "c0ffee")}, []string{"lint"}, "R1",
			"R1"},
		"a stranger of its name": {[]record.PRReview{review("R1", "eve", ask, "c0ffee")}, []string{"eve"}, "", ""},
		"of another commit":      {[]record.PRReview{review("R1", "ann", ask, "old")}, nil, "", ""},
		"taken back": {[]record.PRReview{review("R1", "ann", ask, "c0ffee"),
			review("R2", "ann", record.ReviewApproved, "c0ffee")}, nil, "", ""},
		"another approves": {[]record.PRReview{review("R1", "ann", ask, "c0ffee"),
			review("R2", "bob", record.ReviewApproved, "c0ffee")}, nil, "R1", "R1 R2"},
		"with remarks": {[]record.PRReview{review("R1", "ann", "COMMENTED", "c0ffee"),
			review("R2", "ann", ask, "c0ffee"), review("R3", "eve", "COMMENTED", "c0ffee")}, nil, "R2", "R1 R2"},
		"a named program with its suffix": {[]record.PRReview{review("R1", "lint[bot]", ask, "c0ffee")},
			[]string{"lint"}, "R1", "R1"},
		"dismissed after that": {[]record.PRReview{review("R1", "ann", ask, "c0ffee"),
			review("R2", "ann", record.ReviewGone, "c0ffee")}, nil, "", ""},
		"remarks after that": {[]record.PRReview{review("R1", "ann", ask, "c0ffee"),
			review("R2", "ann", "COMMENTED", "c0ffee")}, nil, "R1", "R1 R2"},
		"remarks alone": {[]record.PRReview{review("R1", "ann", "COMMENTED", "c0ffee")}, nil, "", ""},
	} {
		one, look := looked()
		look.Reviews = c.reviews
		back, due := decide.Setback{}.OfReviews(one, &look, c.programs)
		if due != (c.facts != "") || due && strings.Join(back.Facts, " ") != c.facts {
			t.Errorf("%s: due is %v, %+v", name, due, back)
		}
		for _, id := range []string{"R1", "R2", "R3"} {
			if due && strings.Contains(back.Text, "says "+id) != strings.Contains(c.says, id) {
				t.Errorf("%s: the worker reads\n%s", name, back.Text)
			}
		}
	}
	one, look := looked()
	look.Reviews = []record.PRReview{review("R1", "ann", ask, "c0ffee")}
	look.Reviews[0].Notes = []record.PRNote{{Path: "a.go", Line: 3, Said: "here"}}
	other := one
	other.Subject.Commit = "other"
	if back, due := (decide.Setback{}).OfReviews(other, &look, nil); due {
		t.Errorf("a review of another commit than the judged one is due: %+v", back)
	}
	back, _ := decide.Setback{}.OfReviews(one, &look, nil)
	if !strings.Contains(back.Text, "ann, about line 3 of a.go:") || !strings.Contains(back.Text, "| here\n") {
		t.Errorf("the worker reads\n%s", back.Text)
	}
}

// A reason is one line of the list and of the history, however many checks there are.
func TestAReason_namesNoMoreChecksThanALineTakes(t *testing.T) {
	t.Parallel()
	one, look := looked()
	for range 50 {
		look.Runs = append(look.Runs, record.PRCheck{ID: "run", Name: "wide as eyes of ö", Result: record.ChecksFail})
	}
	back, due := decide.Setback{}.OfChecks(one, &look, nil)
	if most := 400; !due || len(back.Reason) > most || !strings.HasSuffix(back.Reason, "…") ||
		!utf8.ValidString(back.Reason) {
		t.Errorf("due is %t, and the reason has %d bytes: %s", due, len(back.Reason), back.Reason)
	}
}
