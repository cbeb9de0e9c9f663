package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Touched is when something was last committed, staged or checked out in the slot. No program is run for it.
// A slot that is not there was never touched.
func (s Slot) Touched() (time.Time, error) {
	gitDir, err := s.gitDir()
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
	}
	var last time.Time
	for _, name := range []string{"index", "HEAD", filepath.Join("logs", "HEAD")} {
		info, err := os.Stat(filepath.Join(gitDir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("look at workspace %q: %w", s.Dir, err)
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, nil
}
