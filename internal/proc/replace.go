package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file in one step, for its owner alone, also while another process does the same: a reader sees
// the old one or the new one.
func ReplaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err == nil {
		err = temporary.Sync()
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), os.Remove(temporary.Name()))
	}
	return nil
}
