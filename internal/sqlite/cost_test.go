package sqlite_test

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"orange/internal/record"
	"orange/internal/task"
)

// A list reads its tasks with this many allocations each. Lower it when a row gets cheaper.
const rowAllocations = 5

func TestABriefListOfAThousandTasksAllocatesLittleForEach(t *testing.T) { //nolint:paralleltest // counts allocations
	s := openStore(t)
	const many = 1000
	for n := range many {
		one := aTask(fmt.Sprintf("task%04d", n))
		create(t, s, one)
	}
	found := testing.AllocsPerRun(5, func() {
		all, err := s.List(t.Context(), record.Filter{Brief: true})
		if err != nil || len(all) != many {
			t.Fatal(len(all), err)
		}
	})
	if found > many*rowAllocations {
		t.Errorf("found %v allocations a task, want at most %d", found/many, rowAllocations)
	}
}

// A list of whole tasks takes this many bytes and allocations for each, the tasks themselves with them: 590 bytes,
// of which the models have 32.
// Lower them when a row gets cheaper.
const (
	wholeBytes       = 1250
	wholeAllocations = 33
)

func TestAListHoldsEachOfAThousandTasksOnce(t *testing.T) { //nolint:paralleltest // counts allocations
	s := openStore(t)
	const many = 1000
	for n := range many {
		create(t, s, aTask(fmt.Sprintf("task%04d", n)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := s.List(t.Context(), record.Filter{})
	runtime.ReadMemStats(&after)
	if err != nil || len(all) != many || cap(all) != many {
		t.Fatal(len(all), cap(all), err)
	}
	if found := (after.TotalAlloc - before.TotalAlloc) / many; found > wholeBytes {
		t.Errorf("found %d bytes a task, want at most %d", found, wholeBytes)
	}
	if found := (after.Mallocs - before.Mallocs) / many; found > wholeAllocations {
		t.Errorf("found %d allocations a task, want at most %d", found, wholeAllocations)
	}
}

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
