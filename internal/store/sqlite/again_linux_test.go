package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/store/sqlite"
)

// Defect: a process that opened its record a second time had no lock on it any more, and the next program that closed
// the record deleted the log of commits that this process wrote to.
func TestAgain_leavesTheLocksOfTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	first, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := first.Changed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !locked(t, path) {
		t.Fatal("this process has no lock on its record: it cannot be seen whether it loses it")
	}
	second, err := first.Again(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Changed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !locked(t, path) {
		t.Error("this process has lost its lock on the record")
	}
}

// locked reports whether this process has a lock on a file.
func locked(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("the system does not list its locks: %v", err)
	}
	file, own := fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino), fmt.Sprint(os.Getpid())
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) > 5 && words[1] == "POSIX" && words[4] == own && strings.HasSuffix(words[5], file) {
			return true
		}
	}
	return false
}
