package sqlite_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// Defect: Orange told a process that may open no more files to make the record writable.
func TestARecord_thatCannotBeOpenedForWantOfFilesSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := sqlite.Open(t.Context(), path)
	if err == nil {
		err = s.Close()
	}
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), scarceVariable+"="+path)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "too many open files: this process may not have more than ") ||
		!strings.Contains(string(out), "ulimit -n") || strings.Contains(string(out), "writable") {
		t.Errorf("it says %s, %v", out, err)
	}
}

func TestOpen_worksWithStrangeFileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with spaces", "what?", "#1", "100%", "50%41", "a&b=c", "ünï", "semi;colon",
		"quote'\""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name+".db")
			s, err := sqlite.Open(t.Context(), path)
			must(t, err)
			create(t, s, aTask("one"))
			must(t, s.Close())
			must(t, s.Close()) // twice is harmless
			files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			must(t, err)
			if want := []string{path, filepath.Join(filepath.Dir(path), "locks")}; !sameNames(files, want) {
				t.Errorf("the folder holds %q, want %q alone", files, want)
			}
			if got := load(t, openAt(t, path), "one").Task; got.ID != "one" {
				t.Errorf("after reopening the task is %+v", got)
			}
		})
	}
}

func sameNames(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// A record that another program made, whether it is the earlier or the later one, stays as it is to the last byte.
func TestOpen_refusesARecordWithAnotherSchema(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"its number is in the file": true, "its number is in the log": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "orange.db")
			db := raw(t, path)
			_, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = WAL; CREATE TABLE tasks (id); "+
				"INSERT INTO tasks VALUES ('one'); PRAGMA user_version = 8")
			must(t, err)
			if closed {
				must(t, db.Close())
			}
			before := bytesOf(t, path)
			_, err = sqlite.Open(t.Context(), path)
			if !sqlite.IsOther(err) || sqlite.IsDamaged(err) || !strings.Contains(err.Error(), "its schema is 8") ||
				!strings.Contains(err.Error(), "orange doctor --rebuild") {
				t.Errorf("the error is %v", err)
			}
			if after := bytesOf(t, path); !bytes.Equal(after, before) {
				t.Error("the database was changed")
			}
			must(t, db.Close())
			wrong, aside, err := sqlite.SetAside(t.Context(), path, time.Unix(0, 0))
			if wrong == "" || err != nil || !strings.Contains(dump(t, aside), "[one]") {
				t.Errorf("set aside: %q, %q, %v", wrong, aside, err)
			}
			create(t, openAt(t, path), aTask("two"))
		})
	}
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

func TestOpen_refusesWhatIsNoDatabase(t *testing.T) {
	t.Parallel()
	if _, err := sqlite.Open(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

func TestOpen_byManyAtOnceMakesTheTablesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	errs := make(chan error)
	for range 4 {
		go func() {
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 4 {
		must(t, <-errs)
	}
}

func ids(t *testing.T, s *sqlite.Store, f record.Filter) string {
	t.Helper()
	all, err := s.List(t.Context(), f)
	must(t, err)
	var out []string
	for _, one := range all {
		out = append(out, one.ID)
	}
	return strings.Join(out, " ")
}

func TestList_filtersAndOrders(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for i, id := range []string{"ended", "old", "new", "elsewhere", "%wild"} {
		one := aTask(id)
		one.CreatedAt = someDay.Add(time.Duration(i) * time.Hour)
		one.UpdatedAt = someDay.Add(-time.Duration(i) * time.Hour)
		one.Live = id != "ended"
		switch id {
		case "ended":
			one.Status = "done"
		case "elsewhere":
			one.Project = "field"
		case "new", "old":
			one.QueuedFor = "planning"
		}
		create(t, s, one)
	}
	tests := map[string]struct {
		filter record.Filter
		want   string
	}{
		"all":                      {record.Filter{}, "%wild elsewhere new old ended"},
		"a project":                {record.Filter{Project: "garden"}, "%wild new old ended"},
		"a status":                 {record.Filter{Status: "done"}, "ended"},
		"live ones":                {record.Filter{Live: true, Project: "garden"}, "%wild new old"},
		"queued, longest first":    {record.Filter{Queued: true}, "new old"},
		"queued elsewhere":         {record.Filter{Queued: true, Project: "field"}, ""},
		"a branch":                 {record.Filter{Branch: "branch-new"}, "new"},
		"a prefix":                 {record.Filter{Prefix: "e"}, "elsewhere ended"},
		"a prefix with a wildcard": {record.Filter{Prefix: "%"}, "%wild"},
		"a prefix in another case": {record.Filter{Prefix: "E"}, ""},
		"those that ended then":    {record.Filter{EndedSince: someDay}, "ended"},
		"those that ended since":   {record.Filter{EndedSince: someDay.Add(time.Second)}, ""},
	}
	for name, tt := range tests {
		if got := ids(t, s, tt.filter); got != tt.want {
			t.Errorf("%s: found %q, want %q", name, got, tt.want)
		}
	}
}

func TestDelete_leavesNothingOfTheTaskButThatItEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	one := create(t, s, aTask("GONE-task"))
	other := create(t, s, aTask("stays"))
	commit(t, s, record.Change{Task: other, Lease: record.LeaseReserve, PoolSize: 2})
	commit(t, s, record.Change{
		Task: one, Events: []history.Event{event(history.StatusChanged)},
		Hooks: []task.Hook{{Action: action.SpawnAgent}},
		Spent: []task.Evidence{{Source: "s", Digest: "d"}}, Entered: true, Entry: []task.Evidence{
			{Source: "s", Digest: "d"}},
		NewSeat: &record.Seat{Hash: "h", Role: "worker"}, NewNotice: &record.Notice{Role: "worker", Text: "x"},
		Lease: record.LeaseReserve, PoolSize: 2,
	})
	must(t, s.Wait(t.Context(), one.ID, "worker", task.Process{PID: 7, Began: "x"}))
	must(t, s.Delete(t.Context(), one.ID))
	if left := dump(t, path); strings.Count(left, one.ID+" -1 garden branch-"+one.ID) != 1 ||
		strings.Count(left, one.ID) != 2 {
		t.Errorf("something else is left:\n%s", left)
	}
	if got := load(t, s, "stays").Task.Workspace; got != "garden--1" {
		t.Errorf("the other task has %q", got)
	}
	must(t, s.Delete(t.Context(), one.ID)) // again is harmless
}

func TestEvents_areAChainThatAChangedByteBreaks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	one := create(t, s, aTask("one"))
	for range 3 {
		one = commit(t, s, record.Change{
			Task: one, Events: []history.Event{event(history.Updated), event(history.StatusChanged)}})
	}
	events, err := s.Events(t.Context(), "one", 0)
	must(t, err)
	must(t, history.VerifyChain(events))
	if last := events[len(events)-1]; last.Hash != one.Hash || last.Seq != one.Seq || one.Seq != 7 {
		t.Errorf("the task says %d %s, its last event %d %s", one.Seq, one.Hash, last.Seq, last.Hash)
	}
	later, err := s.Events(t.Context(), "one", 5)
	must(t, err)
	if len(later) != 2 || later[0].Seq != 6 {
		t.Errorf("after event 5 come %v", later)
	}
	_, err = raw(t, path).ExecContext(t.Context(),
		"UPDATE events SET line = replace(line, 'human', 'humaN') WHERE seq = 4")
	must(t, err)
	events, err = s.Events(t.Context(), "one", 0)
	must(t, err)
	if err := history.VerifyChain(events); err == nil || !strings.Contains(err.Error(), "event 4") {
		t.Errorf("the changed event was not found: %v", err)
	}
}

func TestLines_areTheBytesThatEventsAreReadFrom(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	create(t, s, aTask("one"))
	lines, err := s.Lines(t.Context(), "one")
	must(t, err)
	events, err := s.Events(t.Context(), "one", 0)
	must(t, err)
	again, err := events[0].MarshalJSON()
	must(t, err)
	if len(lines) != 1 || lines[0] != string(again) || strings.Contains(lines[0], "\n") {
		t.Errorf("the lines are %q, the event %s", lines, again)
	}
}

func TestTakenSeat_endsTheOtherSeatsOfTheRole(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := create(t, s, aTask("one"))
	create(t, s, aTask("two"))
	seats := []record.Seat{
		{Hash: "before", Task: "one", Role: "worker", Hook: 1}, {Hash: "first try", Task: "one", Role: "worker",
			Hook: 2},
		{Hash: "second try", Task: "one", Role: "worker", Hook: 2},
		{Hash: "reviewer", Task: "one", Role: "reviewer", Hook: 3},
	}
	for i := range seats {
		one = commit(t, s, record.Change{Task: one, NewSeat: &seats[i]})
	}
	commit(t, s, record.Change{Task: load(t, s, "two").Task, NewSeat: &record.Seat{Hash: "other task", Role: "worker",
		Hook: 2}})
	one = commit(t, s, record.Change{Task: one, LostSeat: "second try", TakenSeat: &record.Seat{
		Hash: "first try", Role: "worker", Hook: 2, PID: 77, Began: "then"}})
	ended := map[string]bool{"before": true, "first try": false, "second try": true, "reviewer": false,
		"other task": false}
	for hash, want := range ended {
		seat, err := s.Seat(t.Context(), hash)
		must(t, err)
		if seat.Ended != want {
			t.Errorf("the seat %q has ended: %v, want %v", hash, seat.Ended, want)
		}
	}
	agent := task.Process{PID: 77, Began: "then"}
	found, err := s.SeatOf(t.Context(), task.Process{PID: 5, Began: "now"}, agent)
	must(t, err)
	if found.Hash != "first try" || found.Task != "one" || found.Hook != 2 {
		t.Errorf("process 77 has the seat %+v", found)
	}
	_, err = s.SeatOf(t.Context(), task.Process{PID: 77, Began: "another day"})
	wantKind(t, err, task.ErrNotFound)
	_, err = s.Seat(t.Context(), "unknown")
	wantKind(t, err, task.ErrNotFound)
	open, err := s.OpenSeats(t.Context(), "one")
	must(t, err)
	if len(open) != 2 || open[0].Hash != "first try" || open[0].PID != 77 || open[1].Hash != "reviewer" {
		t.Errorf("open are %+v", open)
	}
	commit(t, s, record.Change{Task: one, EndSeats: []string{record.EveryRole}})
	if open, err := s.OpenSeats(t.Context(), ""); err != nil || len(open) != 1 || open[0].Hash != "other task" {
		t.Errorf("open of all tasks are %+v, %v", open, err)
	}
	if seat, err := s.SeatOf(t.Context(), task.Process{PID: 5, Began: "now"}, agent); err != nil || !seat.Ended {
		t.Errorf("after its end the seat is %+v, %v", seat, err)
	}
}

// A runner that is killed leaves the seat of its attempt behind: taken for an agent's, it would tell of a death
// that never was.
func TestLostSeat_endsThoseOfAttemptsThatWereCutShort(t *testing.T) {
	t.Parallel()
	for _, state := range []task.HookState{task.HookDone, task.HookFailed} {
		s := openStore(t)
		one := commit(t, s, record.Change{Task: create(t, s, aTask("one")), Events: []history.Event{
			event(history.Updated)}, Hooks: []task.Hook{{Action: action.NotifyWorker}}})
		hook := load(t, s, "one").Owed[0].ID
		for _, seat := range []record.Seat{{Hash: "of the worker", Role: "worker", Hook: hook + 1, PID: 77},
			{Hash: "cut short", Role: "worker", Hook: hook}, {Hash: "lost", Role: "worker", Hook: hook}} {
			one = commit(t, s, record.Change{Task: one, NewSeat: &seat})
		}
		commit(t, s, record.Change{Task: one, LostSeat: "lost", Settled: []record.Settled{{ID: hook, State: state}}})
		// A failed attempt is made again: it may yet find that the one before had started an agent.
		for hash, want := range map[string]bool{"of the worker": false, "cut short": state == task.HookDone,
			"lost": true} {
			if seat, err := s.Seat(t.Context(), hash); err != nil || seat.Ended != want {
				t.Errorf("%s: the seat %q has ended: %v, want %v; %v", state, hash, seat.Ended, want, err)
			}
		}
	}
}

func TestWaitersAndNotices_areKeptByRole(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := create(t, s, aTask("one"))
	self := task.Process{PID: 5, Began: "a"}
	for range 2 {
		must(t, s.Wait(t.Context(), "one", "worker", self))
	}
	waiters, err := s.Waiters(t.Context(), "one", "worker")
	must(t, err)
	if !slices.Equal(waiters, []task.Process{self}) {
		t.Errorf("waiters are %v", waiters)
	}
	if others, err := s.Waiters(t.Context(), "one", "reviewer"); err != nil || len(others) != 0 {
		t.Errorf("reviewers wait: %v, %v", others, err)
	}
	for range 2 {
		must(t, s.Unwait(t.Context(), "one", "worker", self))
	}
	if waiters, err = s.Waiters(t.Context(), "one", "worker"); err != nil || len(waiters) != 0 {
		t.Errorf("after the wait: %v, %v", waiters, err)
	}
	for seq, text := range []string{"old", "new"} {
		one = commit(t, s, record.Change{
			Task: one, NewNotice: &record.Notice{Seq: seq + 1, Role: "worker", Text: text}})
	}
	notice, err := s.Notice(t.Context(), "one", "worker")
	must(t, err)
	if notice != (record.Notice{Seq: 2, Role: "worker", Text: "new"}) {
		t.Errorf("the notice is %+v", notice)
	}
	if none, err := s.Notice(t.Context(), "one", "reviewer"); err != nil || none != (record.Notice{}) {
		t.Errorf("the reviewer's notice is %+v, %v", none, err)
	}
}

func TestDataVersion_changesWhenAnotherStoreCommits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	mine, other := openAt(t, path), openAt(t, path)
	before, err := mine.DataVersion(t.Context())
	must(t, err)
	same, err := mine.DataVersion(t.Context())
	must(t, err)
	create(t, other, aTask("one"))
	after, err := mine.DataVersion(t.Context())
	must(t, err)
	if same != before || after == before {
		t.Errorf("the version was %d, %d, then %d", before, same, after)
	}
}

func TestSaveWorkflow_keepsATextUnderItsDigest(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ref := task.WorkflowRef{Name: "default", Version: 1, Digest: "d1"}
	must(t, s.SaveWorkflow(t.Context(), ref, []byte("text\x00")))
	must(t, s.SaveWorkflow(t.Context(), ref, []byte("another")))
	text, err := s.Workflow(t.Context(), "d1")
	if err != nil || string(text) != "text\x00" {
		t.Errorf("the text is %q, %v", text, err)
	}
	_, err = s.Workflow(t.Context(), "d2")
	wantKind(t, err, task.ErrNotFound)
}

// With a log of commits next to it SQLite believes the log, and cuts the file to the length that the log says.
func TestAForeignFileInPlaceOfTheRecord_isLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := sqlite.Open(t.Context(), path) // left open: what closes last moves the log into the file
	must(t, err)
	defer s.Close()
	create(t, s, aTask("one"))
	must(t, os.Remove(path))
	must(t, os.WriteFile(path, []byte(strings.Repeat("words of a person\n", 1<<16)), 0o600))
	before, err := os.ReadFile(path)
	must(t, err)
	other, err := sqlite.Open(t.Context(), path)
	if err == nil {
		must(t, other.Close())
		t.Fatal("it was opened")
	}
	if !sqlite.IsDamaged(err) || !strings.Contains(err.Error(), "orange doctor --rebuild") {
		t.Errorf("the error is %v", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Errorf("it has %d bytes, and had %d", len(after), len(before))
	}
}

// An attempt at a hook is under way from its begin to its end.
func TestUnderWay_namesTheAttemptsThatBeganAndHaveNotEnded(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "orange.db"))
	one := create(t, s, aTask("one"))
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one, err := s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version, Events: []history.Event{
		event(history.Updated)}, Hooks: []task.Hook{{Action: "spawn_agent"}}})
	must(t, err)
	underWay := func(since time.Time) []task.OwedHook {
		t.Helper()
		all, err := s.UnderWay(t.Context(), since)
		must(t, err)
		return all
	}
	if all := underWay(began.Add(time.Hour)); len(all) > 0 {
		t.Errorf("none has begun, and found are %+v", all)
	}
	owed, err := s.Owed(t.Context())
	must(t, err)
	must(t, s.BeginHook(t.Context(), owed[0].ID, began))
	if all := underWay(began.Add(time.Second)); len(all) != 1 || !all[0].Began.Equal(began) || all[0].Task != "one" {
		t.Errorf("found %+v", all)
	}
	if all := underWay(began); len(all) > 0 {
		t.Errorf("it began no earlier, and found are %+v", all)
	}
	_, err = s.Commit(t.Context(), record.Change{Task: one, Expect: one.Version, Settled: []record.Settled{
		{ID: owed[0].ID, State: task.HookFailed, Error: "no"}}})
	must(t, err)
	if all := underWay(began.Add(time.Hour)); len(all) > 0 {
		t.Errorf("it has ended, and found are %+v", all)
	}
	if owed, err = s.Owed(t.Context()); err != nil || !owed[0].Began.IsZero() {
		t.Errorf("owed are %+v, %v", owed, err)
	}
}
