package mirror

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// AsideName is the folder below a task's own in which artifacts lie that were set aside.
const AsideName = "set-aside"

// SetAside moves a folder of the task's to set-aside/SEQ-NAME and answers that name; empty where there is nothing in it.
// Asked twice for the same number it moves what has come since to a name of its own: nothing is ever written over.
func (f Files) SetAside(project, id, folder string, seq int) (string, error) {
	dir := f.Dir(project, id)
	from := filepath.Join(dir, filepath.FromSlash(folder))
	entries, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("set the files of %q aside: %w", folder, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, AsideName), 0o755); err != nil {
		return "", fmt.Errorf("set the files of %q aside: %w", folder, err)
	}
	name := filepath.Join(AsideName, strconv.Itoa(seq)+"-"+strings.ReplaceAll(folder, "/", "-"))
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) {
			break
		}
		name = filepath.Join(AsideName, fmt.Sprintf("%d-%s-%d", seq, strings.ReplaceAll(folder, "/", "-"), n))
	}
	if err := os.Rename(from, filepath.Join(dir, name)); err != nil {
		return "", fmt.Errorf("set the files of %q aside: %w", folder, err)
	}
	return name, nil
}
