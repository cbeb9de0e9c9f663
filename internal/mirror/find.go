package mirror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"orange/internal/task"
)

// Has reports whether the home has the folder of a task, be it on record or not. That there is no folder of tasks at
// all is os.ErrNotExist.
func (f Files) Has(id string) (bool, error) {
	if id != filepath.Base(id) || !filepath.IsLocal(id) {
		return false, nil
	}
	projects, err := os.ReadDir(filepath.Join(f.Home, "tasks"))
	if err != nil {
		return false, fmt.Errorf("look for the task's folder: %w", err)
	}
	for _, p := range projects {
		_, err := os.Lstat(f.Dir(p.Name(), id))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("look for the task's folder: %w", err)
		}
	}
	return false, nil
}

// stampsFile is among the files of the running program.
const stampsFile = "locks/stamps.json"

// Stamps are the stamps that KeepStamps kept last, by task; none where they are not there, or were cut short.
func (f Files) Stamps() map[string]string {
	stamps := map[string]string{}
	text, err := os.ReadFile(filepath.Join(f.Home, stampsFile))
	if err != nil || json.Unmarshal(text, &stamps) != nil {
		return map[string]string{}
	}
	return stamps
}

// KeepStamps keeps what was seen of the files of tasks, for a later process.
func (f Files) KeepStamps(stamps map[string]string) error {
	text, err := json.Marshal(stamps)
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Home, stampsFile), text, task.PrivateFile)
	}
	if err != nil {
		return fmt.Errorf("keep what was seen of the tasks' files: %w", err)
	}
	return nil
}

// Stamp changes whenever one of these files in a task's folder does, also where the change was given an older time:
// no program sets the time of a file's last change of any kind.
func (f Files) Stamp(project, id string, names ...string) string {
	var out bytes.Buffer
	for _, name := range append([]string{"TASK.md", "history.jsonl"}, names...) {
		var info unix.Stat_t
		if err := unix.Lstat(filepath.Join(f.Dir(project, id), name), &info); err == nil {
			fmt.Fprintf(&out, "%o %d %d %d.%09d;", info.Mode, info.Ino, info.Size, info.Ctim.Sec, info.Ctim.Nsec)
		}
	}
	return out.String()
}
