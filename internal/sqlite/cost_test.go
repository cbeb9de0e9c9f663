package sqlite_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/record"
	"orange/internal/task"
)

// A list reads its tasks with this many allocations each. Lower it when a row gets cheaper.
const rowAllocations = 12

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

// What a brief look fills is what the whole task has there.
func TestABriefLookReadsWhatTheWholeTaskHas(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := aTask("one")
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
			b.Status != w.Status || b.Session != w.Session || b.Attention != w.Attention ||
			b.QueuedFor != w.QueuedFor || !b.StalledAt.Equal(w.StalledAt) || b.Overdue != w.Overdue ||
			b.Workflow.Name != w.Workflow.Name || b.Workflow.Digest != w.Workflow.Digest {
			t.Errorf("a brief look has %+v, want of %+v", b, w)
		}
	}
}

func TestAListThatSparesMemoryHasTheSameTasks(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for n := range 300 { // more than one part of a list
		create(t, s, aTask(fmt.Sprintf("task%04d", n)))
	}
	sorted, err := s.List(t.Context(), record.Filter{Live: true})
	must(t, err)
	loose, err := s.List(t.Context(), record.Filter{Live: true, Sparing: true})
	must(t, err)
	slices.SortFunc(sorted, func(a, b task.Task) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(loose, func(a, b task.Task) int { return strings.Compare(a.ID, b.ID) })
	if len(loose) != 300 || !reflect.DeepEqual(sorted, loose) {
		t.Errorf("found %d tasks in any order and %d in theirs", len(loose), len(sorted))
	}
}
