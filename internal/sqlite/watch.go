package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watch calls changed soon after anybody has written the record, whichever process it was, until ctx ends.
// It may be called too often, and once for several changes; it costs nothing while nobody writes.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the record: %w", err)
	}
	defer watcher.Close()
	// The folder and not the file: the log of the database comes and goes with those who have it open.
	if err := watcher.Add(filepath.Dir(s.path)); err != nil {
		return fmt.Errorf("watch the record: %w", err)
	}
	changed() // what was written before is seen too
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-watcher.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				changed() // more happened than the system could tell one by one
				continue
			}
			return fmt.Errorf("watch the record: %w", err)
		case event := <-watcher.Events:
			if event.Name == s.path+"-wal" || event.Name == s.path {
				changed()
			}
		}
	}
}
