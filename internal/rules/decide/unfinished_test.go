package decide_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func TestUnfinished_isAMergeSinceTheLastMove(t *testing.T) {
	t.Parallel()
	move := history.Event{Type: history.StatusChanged, From: "working", To: "reviewing"}
	try := func(person string) history.Event {
		return history.Sign(task.Actor{Role: task.RoleHuman, Person: person, As: "reviewer", Key: "k", Asked: "merge"},
			history.Event{Type: history.MergeBegun})
	}
	failed, merged := history.Event{Type: history.MergeFailed}, history.Event{Type: history.Merged}
	note := history.Event{Type: history.Updated}
	for _, tt := range []struct {
		name           string
		events         []history.Event
		tries          int
		failed, merged bool
	}{
		{"none", []history.Event{note, move, note}, 0, false, false},
		{"one", []history.Event{move, try("Ada"), note}, 1, false, false},
		{"one that was tried again", []history.Event{move, try("Bo"), try("Ada")}, 2, false, false},
		{"one that failed", []history.Event{move, try("Ada"), failed, note}, 1, true, false},
		{"one that failed and was tried again", []history.Event{move, try("Bo"), failed, try("Ada")}, 2, false, false},
		{"one that is done and not moved", []history.Event{move, try("Ada"), merged}, 1, false, true},
		{"one of before", []history.Event{try("Ada"), failed, merged, move, note}, 0, false, false},
	} {
		u := decide.Unfinished{}.In(tt.events)
		if len(u.Tries) != tt.tries || u.Failed != tt.failed || u.Merged != tt.merged {
			t.Errorf("%s: found %+v", tt.name, u)
		}
		if tt.tries > 0 && u.Actor() != (task.Actor{Role: task.RoleHuman, Person: "Ada", As: "reviewer",
			Key: "k", Asked: "merge"}) {
			t.Errorf("%s: it is of %+v", tt.name, u.Actor())
		}
	}
}

func TestUnfinished_isOfThePersonWhomTheBeginOfTheMergeNames(t *testing.T) {
	t.Parallel()
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada", As: "reviewer", Key: "k", Asked: "merge"}
	one := newTask("reviewing")
	c := decide.Note(defaultWorkflow(t), one, one, ada, history.Event{Type: history.MergeBegun})
	if got := (decide.Unfinished{}).In(c.Events).Actor(); got != ada {
		t.Errorf("it is of %+v, want %+v", got, ada)
	}
}

func TestUnfinished_leavesAMarkWithTheCommandThatGoesOn(t *testing.T) {
	t.Parallel()
	cut := decide.Unfinished{Tries: []history.Event{{Type: history.MergeBegun}}}
	told := cut
	told.Failed = true
	one := newTask("reviewing")
	again := "orange task merge " + one.ID
	for _, tt := range []struct {
		name             string
		merge            decide.Unfinished
		unknown, against string
		had              string
		due, noted       bool
		mark             string
	}{
		{"nothing was merged", cut, "", "", "", true, true, "the default branch has not got the work"},
		{"nothing was merged, as now is known", cut, "", "", "its merge was cut short; who knows", true, true,
			"the default branch has not got the work"},
		{"it is not known", cut, "offline", "", "", true, false, "is not known: offline"},
		{"it has the work and cannot be moved", cut, "", "review_round < 3", "", true, false,
			"the default branch has the work, and the task could not be moved: review_round < 3"},
		{"it failed, has the work all the same and cannot be moved", told, "", "review_round < 3", "", true, false,
			"could not be moved"},
		{"it failed", told, "", "", "", false, false, ""},
		{"it failed, and more is not known", told, "offline", "", "", false, false, ""},
		{"it has another mark", cut, "", "", "hook notify failed", true, true, "hook notify failed"},
		{"it has another mark, and more is not known", cut, "offline", "", "hook notify failed", false, false,
			"hook notify failed"},
	} {
		before := one
		before.Attention = tt.had
		now := noon.Add(time.Minute)
		c, due := tt.merge.Stays(before, tt.unknown, tt.against, now)
		if due != tt.due || (len(c.Events) > 0) != tt.noted || !strings.Contains(c.Task.Attention, tt.mark) {
			t.Errorf("%s: due %t, marked %q, noted %+v", tt.name, due, c.Task.Attention, c.Events)
		}
		if !due {
			continue
		}
		if tt.had == "" && !strings.HasSuffix(c.Task.Attention, again) || !c.Task.UpdatedAt.Equal(now) ||
			c.Expect != one.Version || c.Task.Status != one.Status {
			t.Errorf("%s: %+v", tt.name, c.Task)
		}
		if tt.noted && (c.Events[0].Type != history.MergeFailed || c.Events[0].Actor != task.ActorEngine ||
			!c.Events[0].Time.Equal(now)) {
			t.Errorf("%s: noted is %+v", tt.name, c.Events[0])
		}
		if _, due := tt.merge.Stays(c.Task, tt.unknown, tt.against, now); due != tt.noted {
			t.Errorf("%s: it is due once more: %t", tt.name, due)
		}
	}
}
