package sqlite_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Whole tasks and brief looks are sorted here, and short answers by SQLite: the order is the same.
func TestEveryListHasTheLiveTasksFirstAndTheNewestFirst(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var want []task.Task
	for n := range 200 {
		one := aTask(fmt.Sprintf("task%04d", n*7919%1000))
		one.Live, one.CreatedAt = n%3 > 0, one.CreatedAt.Add(time.Duration(n*31%50)*time.Second)
		create(t, s, one)
		want = append(want, one)
	}
	slices.SortFunc(want, func(a, b task.Task) int {
		if a.Live != b.Live {
			return map[bool]int{true: -1, false: 1}[a.Live]
		}
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, filter := range []record.Filter{{}, {Brief: true}, {Most: 1000}, {Most: 20}} {
		found, err := s.List(t.Context(), filter)
		must(t, err)
		if !slices.EqualFunc(found, want[:len(found)], func(a, b task.Task) bool { return a.ID == b.ID }) {
			t.Errorf("the list of %+v has another order", filter)
		}
	}
}

// What a brief look fills is what the whole task has there.
func TestABriefLookReadsWhatTheWholeTaskHas(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := aTask("one")
	one.Workspace = "garden--1"
	one.Session, one.Attention, one.QueuedFor, one.Overdue = "garden/one", "a person\x1fis needed", "working", 2
	one.StalledAt = one.CreatedAt
	one.Workflow.Name, one.Workflow.Digest = "default", "d1"
	create(t, s, one)
	create(t, s, aTask("two"))
	brief, err := s.List(t.Context(), record.Filter{Brief: true})
	must(t, err)
	whole, err := s.List(t.Context(), record.Filter{})
	must(t, err)
	for i := range whole {
		w, b := whole[i], brief[i]
		if b.ID != w.ID || b.Project != w.Project || b.Branch != w.Branch || b.Summary != w.Summary ||
			b.Status != w.Status || b.Session != w.Session || b.Workspace != w.Workspace ||
			b.Attention != w.Attention || b.QueuedFor != w.QueuedFor || !b.StalledAt.Equal(w.StalledAt) ||
			!b.UpdatedAt.Equal(w.UpdatedAt) ||
			b.Overdue != w.Overdue || b.Workflow.Name != w.Workflow.Name || b.Workflow.Digest != w.Workflow.Digest {
			t.Errorf("a brief look has %+v, want of %+v", b, w)
		}
	}
}
