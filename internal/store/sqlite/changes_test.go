package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// heard is what a follower hears, in short, and the cursor it goes on with.
func heard(t *testing.T, s *sqlite.Store, cursor int64, limit int) (string, int64) {
	t.Helper()
	all, next, err := s.EventsSince(t.Context(), cursor, limit)
	must(t, err)
	var out []string
	for _, h := range all {
		if h.Cursor <= cursor || h.Cursor > next || h.Project != "garden" || h.Branch == "" {
			t.Errorf("between %d and %d: %+v", cursor, next, h)
		}
		cursor = h.Cursor
		if h.Deleted {
			out = append(out, h.Task+" ends")
			continue
		}
		out = append(out, fmt.Sprintf("%s %d %s", h.Task, h.Event.Seq, h.Event.Type))
	}
	return strings.Join(out, ", "), next
}

func changed(t *testing.T, s *sqlite.Store) int64 {
	t.Helper()
	n, err := s.Changed(t.Context())
	must(t, err)
	return n
}

func TestEventsSince_tellsOfAllTasksInTheOrderOfTheCommits(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	if got, next := heard(t, s, 0, 10); got != "" || next != 0 || changed(t, s) != 0 {
		t.Errorf("an empty record tells %q, and goes on with %d", got, next)
	}
	two := create(t, s, aTask("two"))
	one := create(t, s, aTask("one"))
	two = commit(t, s, record.Change{
		Task: two, Events: []history.Event{event(history.Updated), event(history.StatusChanged)}})
	one.Attention = "look" // a change without an event
	one = commit(t, s, record.Change{Task: one})
	commit(t, s, record.Change{Task: one, Events: []history.Event{event(history.AgentCrashed)}})
	if n := changed(t, s); n != 6 {
		t.Errorf("%d changes are numbered, want one for each event and one for the change without any: 6", n)
	}
	want := "two 1 task.created, one 1 task.created, two 2 task.updated, two 3 status.changed, one 2 agent.crashed"
	got, next := heard(t, s, 0, 100)
	if got != want || next != changed(t, s) {
		t.Errorf("it tells %q until %d, want %q until %d", got, next, want, changed(t, s))
	}
	if got, after := heard(t, s, next, 100); got != "" || after != next {
		t.Errorf("told again: %q, until %d", got, after)
	}
	var bits []string
	for cursor := int64(0); ; { // bit by bit it is the same
		bit, next := heard(t, s, cursor, 1)
		if next == cursor {
			break
		}
		if cursor = next; bit != "" {
			bits = append(bits, bit)
		}
	}
	if got := strings.Join(bits, ", "); got != want {
		t.Errorf("bit by bit it tells %q, want %q", got, want)
	}
	first, err := s.Commit(t.Context(), record.Change{Task: two, Expect: two.Version - 1, Events: []history.Event{
		event(history.Updated)}})
	wantKind(t, err, task.ErrConflict)
	if got, _ := heard(t, s, next, 10); got != "" {
		t.Errorf("%v was refused, and is told: %q", first, got)
	}
	full, _, err := s.EventsSince(t.Context(), 0, 1)
	must(t, err)
	events, err := s.Events(t.Context(), "two", 0)
	must(t, err)
	if h := full[0]; h.Branch != "branch-two" || h.Event.Hash != events[0].Hash || h.Event.Data["a"] != "<&>" {
		t.Errorf("the first one is %+v", h)
	}
}

func TestEventsSince_reportsDeletedAndRestoredTasks(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	create(t, s, aTask("stays"))
	create(t, s, aTask("one"))
	before := changed(t, s)
	must(t, s.Delete(t.Context(), "one"))
	after := changed(t, s)
	must(t, s.Delete(t.Context(), "one"))
	if before >= after || after != changed(t, s) {
		t.Errorf("from %d to %d to %d", before, after, changed(t, s))
	}
	if got, _ := heard(t, s, before, 10); got != "one ends" {
		t.Errorf("who followed hears %q", got)
	}
	if got, _ := heard(t, s, 0, 10); got != "stays 1 task.created, one ends" {
		t.Errorf("who comes late hears %q", got)
	}
	line := `{"seq":1,"timestamp":"2024-05-06T07:08:09.123Z","type":"task.created","prev":""}`
	_, err := adoptOne(t, s, record.Adoption{Task: aTask("one"), Lines: []string{line}, Events: []history.Event{
		event(history.Updated)}})
	must(t, err)
	if got, _ := heard(t, s, 0, 10); got != "stays 1 task.created, one ends, one 1 task.created, one 2 task.updated" {
		t.Errorf("after it was brought back: %q", got)
	}
}

func TestTasksSince_areThoseThatChangedAndThoseThatAreGone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	since := func(cursor int64) (string, int64) {
		t.Helper()
		tasks, gone, next, err := s.TasksSince(t.Context(), cursor)
		must(t, err)
		var ids []string
		for _, one := range tasks {
			if have := load(t, s, one.ID).Task; have.Version != one.Version || have.Hash != one.Hash {
				t.Errorf("it is %+v, want %+v", one, have)
			}
			ids = append(ids, one.ID)
		}
		if next != changed(t, s) {
			t.Errorf("it goes on with %d, want %d", next, changed(t, s))
		}
		return fmt.Sprint(ids, gone), next
	}
	want := func(cursor int64, want string) int64 {
		t.Helper()
		got, next := since(cursor)
		if got != want {
			t.Errorf("behind %d: %s, want %s", cursor, got, want)
		}
		return next
	}
	want(0, "[] []")
	one := create(t, s, aTask("one"))
	create(t, s, aTask("two"))
	bare := aTask("bare") // a task without a history is one too
	_, err := s.Commit(t.Context(), record.Change{Task: bare})
	must(t, err)
	next := want(0, "[bare one two] []")
	want(next, "[] []")
	spawn := []task.Hook{{Action: action.SpawnAgent}}
	one = commit(t, s, record.Change{Task: one, Hooks: spawn, Events: []history.Event{
		event(history.Updated), event(history.Updated)}})
	one.Overdue = task.LateAlert
	commit(t, s, record.Change{Task: one})
	next = want(next, "[one] []")
	must(t, s.BeginHook(t.Context(), load(t, s, "one").Owed[0].ID, someDay))
	must(t, s.Wait(t.Context(), "one", "worker", task.Process{PID: 7, Began: "x"}))
	next = want(next, "[] []") // no part of a task
	must(t, s.Delete(t.Context(), "two"))
	end := want(next, "[] [two]")
	create(t, s, aTask("two"))
	want(next, "[two] []")
	want(end, "[two] []")
}

// Eight write at once, each through a connection of its own as a program has it, and one follows: it hears of
// everything once.
func TestEventsSince_losesAndRepeatsNothingWhileEightWrite(t *testing.T) {
	t.Parallel()
	const writers, moves = 8, 25
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	var crew sync.WaitGroup
	failed := make([]error, writers)
	for w := range writers {
		own := openAt(t, path)
		crew.Go(func() { failed[w] = write(t, own, w, moves) })
	}
	done := make(chan struct{})
	go func() { crew.Wait(); close(done) }()
	of := map[string][]int{}
	cursor, over := int64(0), false
	for {
		all, next, err := s.EventsSince(t.Context(), cursor, 7)
		must(t, err)
		for _, h := range all {
			of[h.Task] = append(of[h.Task], h.Event.Seq)
		}
		if next == cursor && over {
			break
		}
		cursor = next
		select {
		case <-done:
			over = true // and once more: what was written before this moment
		default:
		}
	}
	must(t, errors.Join(failed...))
	tasks, err := s.List(t.Context(), record.Filter{})
	must(t, err)
	for _, one := range tasks {
		want := make([]int, one.Seq)
		for i := range want {
			want[i] = i + 1
		}
		if !slices.Equal(of[one.ID], want) {
			t.Errorf("of task %s it heard %v, want %v", one.ID, of[one.ID], want)
		}
	}
	if len(tasks) != writers+1 || len(of) != writers+1 {
		t.Errorf("%d tasks, %d were heard of", len(tasks), len(of))
	}
}

// write makes a task of the writer's own, and moves it and the one that all share.
func write(t *testing.T, s *sqlite.Store, writer, moves int) error {
	own := aTask(fmt.Sprintf("own%d", writer))
	_, err := s.Commit(t.Context(), record.Change{Task: own, Events: []history.Event{event(history.Created)}})
	if err != nil {
		return err
	}
	if _, err := s.Commit(t.Context(), record.Change{Task: aTask("shared"), Events: []history.Event{
		event(history.Created)}}); err != nil && writer == 0 {
		if _, known := s.Load(t.Context(), "shared"); known != nil {
			return err
		}
	}
	for made := 0; made < moves; {
		for _, id := range []string{own.ID, "shared"} {
			have, err := s.Load(t.Context(), id)
			if err != nil {
				return err
			}
			have.Task.Summary = fmt.Sprintf("%d by %d", made, writer)
			_, err = s.Commit(t.Context(), record.Change{Task: have.Task, Expect: have.Task.Version,
				Events: []history.Event{event(history.Updated), event(history.StatusChanged)}})
			if err == nil && id == own.ID {
				made++
			}
			if err != nil && !errors.Is(err, task.ErrConflict) {
				return err
			}
		}
	}
	return nil
}

// Who has the number need not read the record again until it is another one.
func TestWrites_changesWithWhatAnyProcessWritesAndWithNothingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	own, other := openAt(t, path), openAt(t, path)
	create(t, own, aTask("one"))
	last, err := own.Writes(t.Context())
	must(t, err)
	for _, step := range []struct {
		what    string
		do      func() error
		changes bool
	}{
		{"nothing", func() error { return nil }, false},
		{"a list", func() error { _, err := own.List(t.Context(), record.Filter{}); return err }, false},
		{"a list of another process", func() error {
			_, err := other.List(t.Context(), record.Filter{})
			return err
		}, false},
		{"a waiter", func() error { return own.Wait(t.Context(), "one", "worker", task.Process{PID: 7}) }, true},
		{"a waiter of another process", func() error {
			return other.Wait(t.Context(), "one", "worker", task.Process{PID: 8})
		}, true},
	} {
		must(t, step.do())
		now, err := own.Writes(t.Context())
		must(t, err)
		if (now != last) != step.changes || now < last {
			t.Errorf("%s: %d after %d, want another one: %t", step.what, now, last, step.changes)
		}
		last = now
	}
}
