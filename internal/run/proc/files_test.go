package proc_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/run/proc"
)

func TestOpenFile_takesFilesAloneAndNeverWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), syscall.Mkfifo(at("pipe"), 0o600),
		os.Mkdir(at("folder"), 0o700), os.Symlink(at("pipe"), at("link to a pipe")), os.Symlink(at("file"), at("link")),
		os.Symlink("/dev/zero", at("zero"))); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"pipe", "folder", "link to a pipe", "zero", "socket"} {
		if _, err := proc.ReadFile(at(name)); !errors.Is(err, proc.ErrNoFile) || !strings.Contains(err.Error(), name) {
			t.Errorf("read %s: %v", name, err)
		}
		err := proc.WriteFile(at(name), []byte("x"), 0o600)
		if folder := errors.Is(err, syscall.EISDIR); !folder && !errors.Is(err, proc.ErrNoFile) {
			t.Errorf("write %s: %v", name, err)
		}
		if file, err := proc.OpenIn(root, name, os.O_RDONLY, 0); err == nil {
			t.Errorf("opened %s below its folder: %v", name, file.Close())
		}
	}
	for _, name := range []string{"file", "link"} {
		if text, err := proc.ReadFile(at(name)); err != nil || string(text) != "text" {
			t.Errorf("read %s: %q, %v", name, text, err)
		}
	}
	if err := proc.WriteFile(at("link"), []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(at("file")); err != nil || string(text) != "new" {
		t.Errorf("after a write: %q, %v", text, err)
	}
	if _, err := proc.ReadFile(at("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read none: %v", err)
	}
	if err := os.Truncate(at("file"), proc.MostFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := proc.ReadFile(at("file")); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("read a file that is too large: %v", err)
	}
}

// An agent may put a link in the place of a folder of its own.
func TestBelow_followsNoLinkOfAnAgents(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	theirs := filepath.Join(other, "5", "theirs")
	must(os.Mkdir(filepath.Join(other, "5"), 0o700))
	must(os.WriteFile(theirs, nil, 0o600))
	own := proc.BelowOf(filepath.Join(dir, "requests", "5"))
	must(os.Symlink(other, filepath.Join(dir, "requests")))
	if _, err := own.Open(); err == nil {
		t.Error("it was opened through the link")
	}
	if err := own.Remove(); err == nil {
		t.Error("it was removed through the link")
	}
	must(own.Make(0o700))
	if _, err := os.Stat(theirs); err != nil {
		t.Errorf("what the link led to is gone: %v", err)
	}
	root, err := own.Open()
	must(err)
	must(root.Close())
	must(own.Remove())
	must(own.Remove())
	if _, err := os.Stat(filepath.Join(dir, "requests", "5")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestOpenRoot_waitsForNoPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := proc.OpenRoot(path); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
	root, err := proc.OpenRoot(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadFile_readsNothingOfWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	for size, read := range map[int64]func(string) ([]byte, error){proc.MostFile: proc.ReadFile,
		proc.MostSettings: proc.ReadSettings} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size+1)); err != nil {
			t.Fatal(err)
		}
		if text, err := read(path); err == nil || text != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

func TestReplaceJSON_makesItsFolderAndIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "below", "note.json")
	if err := proc.ReadJSON(path, new(string)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before there is one: %v", err)
	}
	if err := proc.ReplaceJSON(path, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "{\n  \"a\": 1\n}\n" {
		t.Errorf("it wrote %q, %v", text, err)
	}
	got := map[string]int{}
	if err := proc.ReadJSON(path, &got); err != nil || got["a"] != 1 {
		t.Errorf("it reads %v, %v", got, err)
	}
	if err := proc.ReadJSON(path, new(string)); err == nil {
		t.Error("it reads a map as a text")
	}
}
