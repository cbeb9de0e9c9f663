package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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
