package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/home"
)

func TestMakeFolder_saysWhatIsInItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, home.MakeFolder(filepath.Join(dir, "new")))
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), link))
	for path, says := range map[string]string{file: "it is a file", link: "it is a link to"} {
		err := home.MakeFolder(path)
		wantError(t, err, says)
		if !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s: the call is not wrong: %v", path, err)
		}
	}
}

// Who clones the program into their home folder has its source where the home is by default.
func TestMakeFolder_refusesTheSourceOfTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "cmd", "orange"), 0o700))
	must(t, home.MakeFolder(dir))
	must(t, os.WriteFile(filepath.Join(dir, "cmd", "orange", "main.go"), nil, 0o600))
	err := home.MakeFolder(dir)
	wantError(t, err, "it holds the source of Orange")
	if !errors.Is(err, task.ErrUsage) {
		t.Errorf("the call is not wrong: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "orange.db"), nil, 0o600)) // a home of before goes on
	must(t, home.MakeFolder(dir))
}

func TestCheckRecord_refusesHistoriesWithoutARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record := filepath.Join(dir, "orange.db")
	must(t, home.CheckRecord(dir, record))
	folder := filepath.Join(dir, "tasks", "garden", "abc")
	must(t, os.MkdirAll(folder, 0o700))
	must(t, os.WriteFile(filepath.Join(folder, "history.jsonl"), []byte("{}\n"), 0o600))
	must(t, home.CheckRecord(dir, record))
	must(t, os.WriteFile(filepath.Join(folder, "history.jsonl"), []byte(`{"hash":"1"}`+"\n"), 0o600))
	wantError(t, home.CheckRecord(dir, record), "1 tasks have a history")
	must(t, os.WriteFile(record, []byte("SQLite"), 0o600))
	must(t, home.CheckRecord(dir, record))
}

// A history may be longer than what people write by hand.
func TestCheckRecord_readsLongHistories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks", "coffee", "one", "history.jsonl")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	line := `{"type":"task.created","hash":"1"}` + "\n"
	must(t, os.WriteFile(path, []byte(strings.Repeat(line, proc.MostSettings/len(line)+1)), 0o600))
	wantError(t, home.CheckRecord(dir, filepath.Join(dir, "orange.db")), "orange doctor --rebuild")
}
