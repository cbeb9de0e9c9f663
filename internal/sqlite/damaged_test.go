package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/record"
	"orange/internal/task"
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
