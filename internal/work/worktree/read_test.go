package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/work/git"
)

// The one who reads a pipe waits until someone writes into it, and no signal ends that. One pipe must not stop
// the one who looks after all tasks.
func TestAPipeInPlaceOfAFile_isNeverWaitedFor(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"patterns": sparseFile, "its own configuration": configFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			gitDir, err := git.DirOf(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			pipe := filepath.Join(gitDir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(pipe), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(pipe); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			over := make(chan error, 1)
			go func() {
				_, _, err := s.Files().Snapshot(t.Context())
				if err == nil {
					_, err = s.Release(t.Context(), "T1")
				}
				over <- err
			}()
			select {
			case err = <-over:
			case <-time.After(time.Minute):
				t.Fatal("it waits for a pipe")
			}
			if err != nil && !strings.Contains(err.Error(), "is no file") {
				t.Error(err)
			}
		})
	}
}
