package mirror

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestHas_findsTheFolderOfATaskInAnyProject(t *testing.T) {
	t.Parallel()
	f := Files{Home: t.TempDir()}
	if _, err := f.Has("abc"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without any task: %v", err)
	}
	if err := os.MkdirAll(f.Dir("garden", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"abc": true, "abd": false, "../garden": false, "": false, "..": false} {
		if has, err := f.Has(id); has != want || err != nil {
			t.Errorf("%q: %v, %v", id, has, err)
		}
	}
}

func TestStamp_changesWithEachOfTheFiles(t *testing.T) {
	t.Parallel()
	f := Files{Home: t.TempDir()}
	if err := os.MkdirAll(f.Dir("garden", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := f.Stamp(1, "garden", "abc", "state.json")
	for _, name := range []string{"TASK.md", "history.jsonl", "state.json"} {
		if err := os.WriteFile(filepath.Join(f.Dir("garden", "abc"), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		now := f.Stamp(1, "garden", "abc", "state.json")
		if now == before {
			t.Errorf("%s was made, and the stamp is the same", name)
		}
		before = now
	}
}

func TestStamp_changesWhereTheTimeOfWritingIsSetBack(t *testing.T) {
	t.Parallel()
	f := Files{Home: t.TempDir()}
	path := f.Document("garden", "abc")
	written := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	write := func(text string) {
		err := os.WriteFile(path, []byte(text), 0o600)
		if err = errors.Join(err, os.Chtimes(path, written, written)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(f.Dir("garden", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("a")
	before := f.Stamp(1, "garden", "abc")
	// The clock of a file system ticks slowly: one write may fall into the tick of the one before.
	for late := time.Now().Add(10 * time.Second); f.Stamp(1, "garden", "abc") == before; write("b") {
		if time.Now().After(late) {
			t.Fatal("the text is another one, and the stamp is the same")
		}
	}
}
