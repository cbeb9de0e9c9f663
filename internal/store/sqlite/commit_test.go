package sqlite_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/sqlite"
)

func TestCommit_givesBackWhatWasCommitted(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	want := aTask("one")
	want.Counters = task.Counters{{Name: "review_round", Value: 2}}
	want.Summary, want.Attention, want.PRURL, want.PRState = "ünï \"quoted\" 'x'; DROP TABLE tasks\n", "look",
		"https://example.org/1", "open"
	want.Effort, want.ReviewEffort, want.Previous, want.Session, want.Pushed = "high", "low", "planning", "s", "c0ffee"
	want.Model, want.ReviewModel = "opus", "openai/gpt-5"
	want.CreatedAt = want.CreatedAt.In(time.FixedZone("east", 3*3600))
	out := create(t, s, want)
	got := load(t, s, "one").Task
	if !reflect.DeepEqual(out.Counters, got.Counters) || !got.CreatedAt.Equal(want.CreatedAt) {
		t.Errorf("counters %v, created %v", got.Counters, got.CreatedAt)
	}
	want.Version, want.Seq, want.Hash, want.CreatedAt = 1, 1, got.Hash, got.CreatedAt
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	_, err := s.Load(t.Context(), "nobody")
	wantKind(t, err, task.ErrNotFound)
}

// Each of these changes fails at another part. Nothing of it may stay.
func TestCommit_ofAChangeThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	one := create(t, s, aTask("one"))
	create(t, s, aTask("two"))
	one = commit(t, s, record.Change{Task: one, NewSeat: &record.Seat{Hash: "h", Role: "worker"},
		Lease: record.LeaseReserve, PoolSize: 1})
	full := func() record.Change {
		next := one
		next.Status, next.Summary = "working", "another"
		return record.Change{
			Task: next, Expect: one.Version, Events: []history.Event{event(history.StatusChanged)}, Hooks: []task.Hook{
				{Action: action.SpawnAgent}},
			Spent: []task.Evidence{{Source: "## Plan", Digest: "x"}}, Entered: true, Entry: []task.Evidence{
				{Source: "## Plan", Digest: "x"}},
			EndSeats: []string{"worker"}, NewNotice: &record.Notice{Seq: 2, Role: "worker", Text: "go"},
			Lease: record.LeaseFree,
		}
	}
	tests := map[string]record.Change{
		"stale version": full(), "unknown hook to settle": full(), "seat twice": full(), "branch of another": full(),
		"entry twice": full(), "no such task": full(), "pool full": full(), "new task that is there": full(),
	}
	for name, c := range tests {
		switch name {
		case "stale version":
			c.Expect--
		case "unknown hook to settle":
			c.Settled = []record.Settled{{ID: 99, State: task.HookDone}}
		case "seat twice":
			c.NewSeat = &record.Seat{Hash: "h", Role: "worker"}
		case "branch of another":
			c.Task.Branch = "branch-two"
		case "entry twice":
			c.Entry = append(c.Entry, c.Entry...)
		case "no such task":
			c.Task.ID = "three"
		case "pool full":
			c.Task, c.Expect, c.Lease, c.PoolSize = load(t, s, "two").Task, 1, record.LeaseReserve, 1
		case "new task that is there":
			c.Expect = 0
		}
		before := dump(t, path)
		if _, err := s.Commit(t.Context(), c); err == nil {
			t.Errorf("%s: the commit succeeded", name)
		}
		if after := dump(t, path); after != before {
			t.Errorf("%s: the record was\n%s\nand is\n%s", name, before, after)
		}
	}
}

func TestCommit_letsExactlyOneOfManyWin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	create(t, s, aTask("one"))
	var wins sync.Map
	var all sync.WaitGroup
	for _, who := range []string{"first", "second"} {
		all.Go(func() {
			won, err := raceForVersions(t.Context(), path, who)
			if err != nil {
				t.Error(err)
			}
			wins.Store(who, won)
		})
	}
	all.Go(func() {
		out, err := proc.Run(t.Context(), proc.Command{Name: os.Args[0], Env: []string{partVariable + "=" + path}})
		if err != nil {
			t.Error(err)
		}
		won, _ := strconv.Atoi(out.Text())
		wins.Store("process", won)
	})
	all.Wait()
	sum := 0
	wins.Range(func(_, won any) bool { sum += won.(int); return true })
	got := load(t, s, "one").Task
	// The one who comes late finds all versions made, so the last one is always there.
	if sum != rounds || got.Version != rounds+1 || got.Seq != rounds+1 {
		t.Errorf("%d commits won, the task has version %d and %d events; want %d, %d, %d", sum, got.Version,
			got.Seq, rounds, rounds+1, rounds+1)
	}
	events, err := s.Events(t.Context(), "one", 0)
	must(t, err)
	must(t, history.VerifyChain(events))
}

func TestCommit_givesABranchToOneLiveTaskOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	openAt(t, path)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				errs[i] = err
				return
			}
			defer s.Close()
			one := aTask("task-" + strconv.Itoa(i))
			one.Branch = "fix"
			_, errs[i] = s.Commit(t.Context(), record.Change{
				Task: one, Events: []history.Event{event(history.Created)}})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantKind(t, err, task.ErrBranchTaken)
	}
	if won != 1 {
		t.Errorf("%d tasks were created, want 1", won)
	}
}

func TestCommit_freesTheBranchOfATaskThatEnded(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := create(t, s, aTask("one"))
	two := aTask("two")
	two.Branch = one.Branch
	_, err := s.Commit(t.Context(), record.Change{Task: two})
	wantKind(t, err, task.ErrBranchTaken)
	if err != nil && !strings.Contains(err.Error(), "one") {
		t.Errorf("the error does not name the holder: %v", err)
	}
	other := two
	other.ID, other.Project = "three", "field"
	create(t, s, other)
	one.Live = false
	one = commit(t, s, record.Change{Task: one})
	create(t, s, two)
	one.Live = true
	_, err = s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version})
	wantKind(t, err, task.ErrBranchTaken)
}

func TestCommit_leasesWorkspacesUpToThePoolSize(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	all := make([]task.Task, 3)
	for i := range all {
		all[i] = create(t, s, aTask(strconv.Itoa(i)))
	}
	for i := range 2 {
		all[i] = commit(t, s, record.Change{Task: all[i], Lease: record.LeaseReserve, PoolSize: 2})
		if want := "garden--" + strconv.Itoa(i+1); all[i].Workspace != want ||
			load(t, s, all[i].ID).Task.Workspace != want {
			t.Errorf("task %d got %q, want %q", i, all[i].Workspace, want)
		}
	}
	_, err := s.Commit(t.Context(), record.Change{Task: all[2], Expect: 1, Lease: record.LeaseReserve, PoolSize: 2})
	wantKind(t, err, task.ErrPoolFull)
	holders, err := s.Holders(t.Context(), "garden")
	must(t, err)
	want := []record.Holder{{Workspace: "garden--1", Task: "0", Branch: "branch-0", Status: "pending"},
		{Workspace: "garden--2", Task: "1", Branch: "branch-1", Status: "pending"}}
	if !slices.Equal(holders, want) {
		t.Errorf("holders are %v, want %v", holders, want)
	}
	if all[0] = commit(t, s, record.Change{Task: all[0], Lease: record.LeaseFree}); all[0].Workspace != "" {
		t.Errorf("the freed task still has %q", all[0].Workspace)
	}
	if all[2] = commit(t, s, record.Change{Task: all[2], Lease: record.LeaseReserve,
		PoolSize: 2}); all[2].Workspace != "garden--1" {
		t.Errorf("the freed workspace went to nobody: %q", all[2].Workspace)
	}
	if other, err := s.Holders(t.Context(), "field"); err != nil || len(other) != 0 {
		t.Errorf("another project has %v, %v", other, err)
	}
}

func TestCommit_queuesHooksInOrderAndSettlesThemOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := create(t, s, aTask("one"))
	declared := []task.Hook{
		{Action: action.IncrementReviewRound, Field: "review_round"}, {Action: action.KillReviewer},
		{Action: action.SpawnReviewer, Prompt: "reviewer"}, {Action: "from a newer program"},
	}
	one = commit(t, s, record.Change{Task: one, Events: []history.Event{event(history.StatusChanged)}, Hooks: declared})
	hooks, err := s.Hooks(t.Context(), "one", one.Seq)
	must(t, err)
	for i, h := range hooks {
		if h.Index != i || !reflect.DeepEqual(h.Hook, declared[i]) || h.Event != one.Seq || h.Task != "one" {
			t.Errorf("hook %d is %+v", i, h)
		}
	}
	if hooks[0].State != task.HookDone || len(load(t, s, "one").Owed) != 3 {
		t.Errorf("the record's own hook is %s and %d are owed", hooks[0].State, len(load(t, s, "one").Owed))
	}
	must(t, s.BeginHook(t.Context(), hooks[1].ID, someDay))
	failed := record.Settled{ID: hooks[1].ID, State: task.HookFailed, Error: "no tmux",
		NextTry: someDay.Add(time.Minute)}
	one = commit(t, s, record.Change{Task: one, Settled: []record.Settled{failed}})
	owed := load(t, s, "one").Owed
	if h := owed[0]; h.State != task.HookFailed || h.Error != "no tmux" || h.Attempts != 1 ||
		!h.NextTry.Equal(failed.NextTry) {
		t.Errorf("the failed hook is %+v", h)
	}
	for _, state := range []task.HookState{task.HookDone, task.HookSuperseded} {
		id := owed[map[task.HookState]int{task.HookDone: 0, task.HookSuperseded: 1}[state]].ID
		one = commit(t, s, record.Change{Task: one, Settled: []record.Settled{{ID: id, State: state}}})
		_, err := s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version, Settled: []record.Settled{
			{ID: id, State: task.HookDone}}})
		wantKind(t, err, task.ErrConflict)
		wantKind(t, s.BeginHook(t.Context(), id, someDay), task.ErrConflict) // no one begins what is settled
	}
	if left := load(t, s, "one").Owed; len(left) != 1 || left[0].ID != owed[2].ID {
		t.Errorf("owed are %+v", left)
	}
}

func TestPendingTasks_areThoseWhoseHooksMayBeTriedNow(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, id := range []string{"b-pending", "a-failed", "c-done"} {
		one := create(t, s, aTask(id))
		one = commit(t, s, record.Change{Task: one, Events: []history.Event{event(history.StatusChanged)},
			Hooks: []task.Hook{{Action: action.SpawnAgent}}})
		settled := record.Settled{ID: load(t, s, id).Owed[0].ID, State: task.HookDone}
		switch id {
		case "b-pending":
			continue
		case "a-failed":
			settled.State, settled.NextTry = task.HookFailed, someDay.Add(time.Minute)
		}
		commit(t, s, record.Change{Task: one, Settled: []record.Settled{settled}})
	}
	early, err := s.PendingTasks(t.Context(), someDay)
	must(t, err)
	late, err := s.PendingTasks(t.Context(), someDay.Add(time.Minute))
	must(t, err)
	if !slices.Equal(early, []string{"b-pending"}) || !slices.Equal(late, []string{"a-failed", "b-pending"}) {
		t.Errorf("early %v, late %v", early, late)
	}
}

func TestCommit_notesEvidence(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := create(t, s, aTask("one"))
	plan, review := task.Evidence{Source: "## Plan", Digest: "p"}, task.Evidence{Source: "## Review", Digest: "r"}
	one = commit(t, s, record.Change{Task: one, Events: []history.Event{event(history.StatusChanged)},
		Spent: []task.Evidence{plan}, Entered: true, Entry: []task.Evidence{review, plan}})
	// the status did not begin again
	one = commit(t, s, record.Change{Task: one, Entry: []task.Evidence{{Source: "## Other"}}})
	got := load(t, s, "one")
	if !slices.Equal(got.Spent, []task.Spent{{Evidence: plan, Seq: 2}}) ||
		!slices.Equal(got.Entry, []task.Evidence{plan, review}) {
		t.Errorf("spent %v, entry %v", got.Spent, got.Entry)
	}
	commit(t, s, record.Change{Task: one, Events: []history.Event{event(history.StatusChanged)}, Spent: []task.Evidence{
		review}, Entered: true})
	got = load(t, s, "one")
	if !slices.Equal(got.Spent, []task.Spent{{Evidence: plan, Seq: 2}, {Evidence: review, Seq: 3}}) ||
		len(got.Entry) != 0 {
		t.Errorf("spent %v, entry %v", got.Spent, got.Entry)
	}
}

func TestCommit_ofANewTaskNotesTheHeaderBeforeItsWorkspace(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	born := aTask("one") // its document shows it as it is here
	got := commit(t, s, record.Change{Task: born, Lease: record.LeaseReserve, PoolSize: 1, Events: []history.Event{
		event(history.Created)}})
	for _, one := range []task.Task{born, got} {
		for _, v := range document.Fields(one) {
			if shown, err := s.WasRendered(t.Context(), "one", v.Key, v.Text); err != nil || !shown {
				t.Errorf("%s = %q was shown: %v, %v", v.Key, v.Text, shown, err)
			}
		}
	}
	if born.Workspace == got.Workspace {
		t.Errorf("the workspace is %q before and after", got.Workspace)
	}
}

func TestCommit_notesWhatTheDocumentShows(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	first := create(t, s, aTask("one"))
	second := first
	second.Status, second.Summary = "working", "another"
	second = commit(t, s, record.Change{Task: second})
	for _, one := range []task.Task{first, second} {
		for _, v := range document.Fields(one) {
			if shown, err := s.WasRendered(t.Context(), "one", v.Key, v.Text); err != nil || !shown {
				t.Errorf("%s = %q was shown: %v, %v", v.Key, v.Text, shown, err)
			}
		}
	}
	for field, value := range map[string]string{"status": "done", "summary": "working", "branch": "x"} {
		if shown, err := s.WasRendered(t.Context(), "one", field, value); err != nil || shown {
			t.Errorf("%s = %q was shown: %v, %v", field, value, shown, err)
		}
	}
	if shown, _ := s.WasRendered(t.Context(), "two", "status", "working"); shown {
		t.Error("another task's value counts")
	}
}

func TestCommit_notesForAnHourWhichCallAskedForAnEvent(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	asked := func(call string, at time.Time) history.Event {
		e := event(history.Updated)
		e.Call, e.Time = call, at
		return e
	}
	called := func(call, id string, seqs ...int) {
		t.Helper()
		found, err := s.Called(t.Context(), call, id)
		if err != nil || !slices.Equal(found, seqs) {
			t.Errorf("the call %q of %q: found %v, %v, expected %v", call, id, found, err, seqs)
		}
	}
	one, two := create(t, s, aTask("one")), create(t, s, aTask("two"))
	one = commit(t, s, record.Change{Task: one, Events: []history.Event{asked("a", someDay), asked("", someDay)}})
	one = commit(t, s, record.Change{Task: one, Events: []history.Event{asked("a", someDay)}})
	commit(t, s, record.Change{Task: two, Events: []history.Event{asked("b", someDay)}})
	called("a", "one", one.Seq-2, one.Seq)
	called("a", "two")
	called("b", "two", two.Seq+1)
	events, err := s.Events(t.Context(), "one", 0)
	if err != nil || events[len(events)-1].Call != "" {
		t.Errorf("the history has the call: %+v, %v", events, err)
	}
	must(t, s.Delete(t.Context(), "two"))
	called("b", "two")
	commit(t, s, record.Change{Task: one, Events: []history.Event{asked("c", someDay.Add(61*time.Minute))}})
	called("a", "one")
	called("c", "one", one.Seq+1)
}
