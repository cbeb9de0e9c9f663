package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestSetAside_movesWhatIsDamagedAndLeavesWhatIsSound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if wrong, _, err := SetAside(t.Context(), path, now); wrong != "" || err != nil {
		t.Errorf("no record: %q, %v", wrong, err)
	}
	store, err := Open(t.Context(), path)
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if wrong, _, err := SetAside(t.Context(), path, now); wrong != "" || err != nil {
		t.Errorf("a sound record: %q, %v", wrong, err)
	}
	if err := os.WriteFile(path, []byte("this is no database, however long it is read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong, aside, err := SetAside(t.Context(), path, now)
	if wrong == "" || err != nil || filepath.Base(aside) != "orange.db.broken-20260102T030405.000" {
		t.Errorf("a damaged record: %q, %q, %v", wrong, aside, err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error(err)
	}
}

func TestSetAside_movesARecordWithARowThatCannotBeRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Commit(t.Context(), record.Change{Task: task.Task{ID: "one", Project: "coffee", Branch: "b"}})
	if err == nil {
		_, err = store.db.ExecContext(t.Context(), "UPDATE tasks SET counters = '{x'")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Load(t.Context(), "one")
	if err == nil || !strings.Contains(err.Error(), "orange doctor --rebuild") {
		t.Errorf("the answer says %v, and not what to do", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	wrong, aside, err := SetAside(t.Context(), path, time.Now())
	if !strings.Contains(wrong, "counters") || aside == "" || err != nil {
		t.Errorf("a row that cannot be read: %q, %q, %v", wrong, aside, err)
	}
}

// Defect: a row that came for a task which was not asked for made the program crash.
func TestARowOfAnotherTask_isReportedWithoutACrash(t *testing.T) {
	t.Parallel()
	for table, row := range map[string]struct{ values, bytes string }{ // % is 1 to 4
		"events":  {"('Qabcdef', %, 'line')", "Qabcdef\x03line"},
		"spent":   {"('Qabcdef', '% a section', 'text', 1)", "Qabcdef3 a section"},
		"entries": {"('Qabcdef', '% a section', 'text')", "Qabcdef3 a section"},
	} {
		path := filepath.Join(t.TempDir(), "orange.db")
		store, err := Open(t.Context(), path)
		if err == nil {
			_, err = store.Commit(t.Context(), record.Change{Task: task.Task{ID: "Qabcdef", Project: "p", Branch: "b"}})
		}
		for _, n := range []string{"1", "2", "3", "4"} {
			if err == nil {
				_, err = store.db.ExecContext(t.Context(),
					"INSERT INTO "+table+" VALUES "+strings.ReplaceAll(row.values, "%", n))
			}
		}
		if err == nil {
			err = store.Close()
		}
		text, readErr := os.ReadFile(path)
		at := strings.Index(string(text), row.bytes)
		if err = errors.Join(err, readErr); err != nil || at < 0 {
			t.Fatalf("%s: found the row at %d: %v", table, at, err)
		}
		text[at] ^= 1 // it is of the task Pabcdef now
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if store, err = Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		const want = `is of task "Pabcdef", and in the place of another's`
		_, together := store.Wholes(t.Context(), []string{"Qabcdef"})
		_, alone := store.Whole(t.Context(), "Qabcdef")
		for _, err := range []error{together, alone} {
			if !IsDamaged(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", table, err)
			}
		}
		wrong, err := store.Check(t.Context())
		if err != nil || !slices.Contains(wrong, "row not in PRIMARY KEY order for "+table) {
			t.Errorf("%s: the database is said to be damaged by %q, %v", table, wrong, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Defect: the length of one text came from a place that another one may have after a flipped bit.
func TestABriefRow_withAnotherSeparatorIsNamedAndNoCrash(t *testing.T) {
	t.Parallel()
	row := strings.Join([]string{"12026-01-01T00:00:00.000Z", "id", "p", "s", "b", "", "", "", "", "w", "d", "", "",
		"3", "2026-01-01T00:00:00.000Z", "0", ""}, briefEnd)
	if _, err := briefTask(row); err != nil {
		t.Fatal(err)
	}
	row = strings.Replace(row, "p", briefEnd, 1)
	if _, err := briefTask(row); !IsDamaged(err) {
		t.Errorf("a row with one field more: %v", err)
	}
}

// Defect: a damaged name left out a value of 0, and the row was read as whole.
func TestCountersWhoseTextIsNotWhatOrangeWrites_areDamaged(t *testing.T) {
	t.Parallel()
	const whole = `[{"name":"sent_back","value":0}]`
	for text, want := range map[string]bool{whole: true, "null": true, "[]": true,
		`[{"name":"sent_back","falue":0}]`: false, `[{"name":"sent_back", "value":0}]`: false} {
		_, err := newReader().count(text)
		if got := err == nil; got != want || !want && !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
