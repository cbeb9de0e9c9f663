package fleet_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// fifo is a file that gives nothing as long as no one writes to it.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
