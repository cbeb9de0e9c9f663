package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/task"
)

// moveIn makes the home where it is missing, and says what stands in its way.
func moveIn(dir string) error {
	if to, err := os.Readlink(dir); err == nil {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it is a link to %q, which is not "+
				"there; make that folder, or set ORANGE_HOME to another path", dir, to)
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it is a file, expected a folder; move "+
			"it away, or set ORANGE_HOME to another path", dir)
	}
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return fmt.Errorf("cannot make ORANGE_HOME: %w", err)
	}
	return nil
}

// recordBeside refuses a home whose tasks have histories and whose record is lost: a new one would say that there
// are no tasks.
func recordBeside(dir string) error {
	record := filepath.Join(dir, recordName)
	info, err := os.Stat(record)
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look at the record: %w", err)
	}
	tasks := filepath.Join(dir, "tasks")
	files, err := filepath.Glob(filepath.Join(tasks, "*", "*", "history.jsonl"))
	if err != nil {
		return err
	}
	histories := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("look for tasks without a record: %w", err)
		}
		// an earlier program's history has no chain: it is not ours to lose
		if bytes.Contains(text, []byte(`"hash":"`)) {
			histories++
		}
	}
	if histories == 0 {
		return nil
	}
	return fmt.Errorf("cannot open the record %q: it is empty, and %d tasks have a history below %q; bring "+
		"them back with %q",
		record, histories, tasks, "orange doctor --rebuild")
}
