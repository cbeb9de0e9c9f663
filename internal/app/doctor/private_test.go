package doctor_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orange/internal/rules/task"
)

func TestExamine_tellsWhatOthersMayLookIntoAndTakesThatRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := []string{"orange.db", "orange.db-wal", "orange-2026-01-02T03-04-05.678.log",
		"tasks/garden/one/TASK.md", "tasks/garden/one/evidence/kept", "locks/monitor", "env.json"}
	// people's and agents'
	others := []string{"tasks/garden/one/planning/notes.md", "workspaces/garden--1/main.go", "harnesses/mine.yml",
		"config.yml"}
	for _, name := range append(open, others...) {
		path := filepath.Join(w.home, name)
		if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil { // whatever the umask says
			t.Fatal(err)
		}
	}
	link := filepath.Join(w.home, "locks", "elsewhere")
	if err := os.Symlink(filepath.Join(w.home, "config.yml"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.home, 0o750); err != nil {
		t.Fatal(err)
	}
	is := "warning private " + w.home +
		`: 8 files and folders that others on this machine may look into, such as "` + w.home + `" (drwxr-x---)`
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{is}) {
		t.Errorf("found %q, want %q", found, is)
	}
	if found := notOK(w.examine(true)); !slices.Equal(found, []string{is + " taken from 8"}) {
		t.Errorf("mended %q, want %q", found, is)
	}
	if found := notOK(w.examine(false)); len(found) != 0 {
		t.Errorf("after that it found %q", found)
	}
	for _, name := range open {
		if info, err := os.Stat(filepath.Join(w.home, name)); err != nil || info.Mode().Perm() != task.PrivateFile {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
	for _, name := range others {
		if info, err := os.Stat(filepath.Join(w.home, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s has the mode %v, %v: it is not the program's", name, info.Mode(), err)
		}
	}
}
