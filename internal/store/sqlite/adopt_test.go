package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// told is a task with a history of two events, as its folder would tell it.
func told(t *testing.T, id string) record.Adoption {
	t.Helper()
	a := record.Adoption{Task: aTask(id)}
	for i := range 2 {
		sealed, err := history.Seal(event(history.Created), i+1, a.Task.Hash)
		must(t, err)
		line, err := json.Marshal(sealed)
		must(t, err)
		a.Lines = append(a.Lines, string(line))
		a.Task.Hash = sealed.Hash
	}
	return a
}

func adoptOne(t *testing.T, s *sqlite.Store, a record.Adoption) (task.Task, error) {
	t.Helper()
	all, err := s.Adopt(t.Context(), []record.Adoption{a})
	if err != nil {
		return task.Task{}, err
	}
	return all[0], nil
}

func TestAdopt_takesTheHistoryLineByLineAsItStands(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	a := told(t, "one")
	a.Task.Workspace, a.FirstHook = "garden--1", 5000
	a.Spent = []task.Spent{{Evidence: task.Evidence{Source: "## plan", Digest: "d"}, Seq: 2}}
	a.Entry = []task.Evidence{{Source: "## review", Digest: "e"}}
	a.Shown = []record.Shown{{Field: "status", Value: "planning"}}
	a.Seats = []record.Seat{{Hash: "h", Role: "worker", PID: 7, Began: "then", Ended: true}}
	a.Events = []history.Event{event(history.Updated)}
	out, err := adoptOne(t, s, a)
	must(t, err)
	got := load(t, s, "one")
	if out.Seq != 3 || out.Version != 1 || !reflect.DeepEqual(got.Task.Hash, out.Hash) ||
		!reflect.DeepEqual(got.Spent, a.Spent) || !reflect.DeepEqual(got.Entry, a.Entry) {
		t.Errorf("adopted %+v, loaded %+v", out, got)
	}
	wantBytes(t, s, "one")
	lines, err := s.Lines(t.Context(), "one")
	must(t, err)
	if len(lines) != 3 || lines[0] != a.Lines[0] || lines[1] != a.Lines[1] {
		t.Errorf("the lines are %v", lines)
	}
	events, err := s.Events(t.Context(), "one", 0)
	must(t, err)
	must(t, history.VerifyChain(events))
	for _, value := range []string{"planning", "pending"} {
		if was, err := s.WasRendered(t.Context(), "one", "status", value); err != nil || !was {
			t.Errorf("the status %s was never shown: %v", value, err)
		}
	}
	seat, err := s.SeatOf(t.Context(), task.Process{PID: 7, Began: "then"})
	if err != nil || !seat.Ended || seat.Task != "one" {
		t.Errorf("the seat is %+v, %v", seat, err)
	}
	// Hooks get numbers that the lost record cannot have had.
	commit(t, s, record.Change{Task: got.Task, Events: []history.Event{event(history.Updated)}, Hooks: []task.Hook{
		{Action: action.SpawnAgent}}})
	wantBytes(t, s, "one")
	owed, err := s.Owed(t.Context())
	must(t, err)
	if len(owed) != 1 || owed[0].ID != 5001 {
		t.Errorf("owed: %+v", owed)
	}
}

func TestAdopt_neverGivesSmallerNumbersToHooks(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for i, first := range []int64{5000, 10} {
		a := told(t, fmt.Sprint(i))
		a.FirstHook = first
		out, err := adoptOne(t, s, a)
		must(t, err)
		commit(t, s, record.Change{Task: out, Events: []history.Event{event(history.Updated)}, Hooks: []task.Hook{
			{Action: action.KillSession}}})
	}
	owed, err := s.Owed(t.Context())
	must(t, err)
	if len(owed) != 2 || owed[0].ID != 5001 || owed[1].ID != 5002 {
		t.Errorf("owed: %+v", owed)
	}
}

func TestAdopt_ofWhatIsTakenLeavesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	first := told(t, "one")
	first.Task.Workspace = "garden--1"
	_, err := adoptOne(t, s, first)
	must(t, err)
	before := dump(t, path)
	_, err = adoptOne(t, s, first)
	wantKind(t, err, task.ErrConflict)
	workspace := told(t, "two")
	workspace.Task.Workspace = "garden--1"
	_, err = adoptOne(t, s, workspace)
	wantKind(t, err, task.ErrConflict)
	branch := told(t, "three")
	branch.Task.Branch, branch.Task.Workspace = first.Task.Branch, "garden--2"
	_, err = adoptOne(t, s, branch)
	wantKind(t, err, task.ErrBranchTaken)
	if after := dump(t, path); after != before {
		t.Errorf("something stayed:\n%s\nbefore:\n%s", after, before)
	}
}

func TestIsDamaged_tellsAFileThatIsNoDatabaseFromOtherTrouble(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "orange.db")
	must(t, os.WriteFile(path, make([]byte, 8192), 0o644))
	must(t, os.WriteFile(path, []byte("this is no database, and it is longer than the header of one would be: "+
		"one hundred bytes are enough for that."), 0o644))
	_, err := sqlite.Open(t.Context(), path)
	if !sqlite.IsDamaged(err) {
		t.Errorf("garbage: %v", err)
	}
	_, err = sqlite.Open(t.Context(), filepath.Join(dir, "no", "such", "folder.db"))
	if err == nil || sqlite.IsDamaged(err) {
		t.Errorf("no folder: %v", err)
	}
	if sqlite.IsDamaged(nil) {
		t.Error("no error is damage")
	}
}

func TestCheck_findsAPageThatWasOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	create(t, s, aTask("one"))
	wrong, err := s.Check(t.Context())
	must(t, err)
	if len(wrong) > 0 {
		t.Fatalf("a whole one: %v", wrong)
	}
	must(t, s.Close())
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	garbage := make([]byte, 3*4096)
	for i := range garbage {
		garbage[i] = byte(i*7 + 3)
	}
	_, err = file.WriteAt(garbage, 2*4096)
	must(t, err)
	must(t, file.Close())
	s, err = sqlite.Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	if wrong, err = s.Check(t.Context()); err != nil || len(wrong) == 0 {
		t.Errorf("overwritten: %v, %v", wrong, err)
	}
}

func TestAdopt_takesAllThatItIsGivenInOneTransactionOrNone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	_, err := adoptOne(t, s, told(t, "known"))
	must(t, err)
	for _, again := range []string{"known", "other"} {
		_, err = s.Adopt(t.Context(), []record.Adoption{told(t, "one"), told(t, again)})
		if (err == nil) != (again == "other") || err != nil && !errors.Is(err, task.ErrConflict) {
			t.Errorf("adopted with %q: %v", again, err)
		}
		want := map[string]int{"known": 1, "other": 3}[again]
		if ids, err := s.IDs(t.Context(), ""); err != nil || len(ids) != want {
			t.Errorf("with %q the record has %q, %v", again, ids, err)
		}
	}
}

func TestAllLines_groupsTheHistoriesByTask(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	want := map[string][]string{}
	for _, id := range []string{"b", "a"} {
		a := told(t, id)
		_, err := adoptOne(t, s, a)
		must(t, err)
		want[id] = a.Lines
	}
	got := map[string][]string{}
	must(t, s.AllLines(t.Context(), func(id string, lines []string) error {
		got[id] = lines
		return nil
	}))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
