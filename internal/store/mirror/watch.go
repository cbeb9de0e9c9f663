package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fsnotify/fsnotify"

	"orange/internal/rules/task"
)

// Watch calls touched with the path of every file of a folder that appears or is written, whichever process did
// it, until ctx ends. It may call too often, and once for several writings. An empty path says that there may be
// more than was reported one by one: at the beginning, and whenever the system could not keep up. It costs nothing
// while no file is written. The folder is made where it is missing; what lies in the folders below it is not
// watched.
func Watch(ctx context.Context, dir string, touched func(path string)) error {
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return fmt.Errorf("watch %q: %w", dir, err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %q: %w", dir, err)
	}
	defer watcher.Close()
	if err := watcher.Add(dir); err != nil {
		return fmt.Errorf("watch %q: %w", dir, err)
	}
	touched("")
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-watcher.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch %q: %w", dir, err)
			}
			touched("")
		case event := <-watcher.Events:
			if event.Has(fsnotify.Create) || event.Has(fsnotify.Write) {
				touched(event.Name)
			}
		}
	}
}
