package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/rules/task"
)

// ReplaceFile writes a file in one step, for its owner alone, also while another process does the same: a reader sees
// the old one or the new one.
func ReplaceFile(path string, text []byte) error {
	return replace(path, text, true)
}

// ReplaceCopy is ReplaceFile that does not wait for the disk, for a file that a machine which dies need not keep.
func ReplaceCopy(path string, text []byte) error {
	return replace(path, text, false)
}

// ReplaceJSON is ReplaceFile of a value as JSON, in lines that people can read. It makes the file's folder.
func ReplaceJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), task.PrivateFolder)
	}
	if err != nil {
		return err
	}
	return ReplaceFile(path, append(text, '\n'))
}

// ReadJSON reads what ReplaceJSON wrote.
func ReadJSON(path string, into any) error {
	text, err := ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func replace(path string, text []byte, wait bool) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	_, err = temporary.Write(text)
	if err == nil && wait {
		err = temporary.Sync()
	}
	err = errors.Join(err, temporary.Close())
	if info, missing := os.Lstat(path); err == nil && missing == nil && info.IsDir() {
		err = errors.New("a folder is in its place; move that away")
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), os.Remove(temporary.Name()))
	}
	return nil
}
