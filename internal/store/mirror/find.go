package mirror

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
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
func (f Files) Stamps() map[string]uint64 {
	stamps := map[string]uint64{}
	text, err := proc.ReadFile(filepath.Join(f.Home, stampsFile))
	if err != nil || json.Unmarshal(text, &stamps) != nil {
		return map[string]uint64{}
	}
	return stamps
}

// KeepStamps keeps what was seen of the files of tasks, for a later process.
func (f Files) KeepStamps(stamps map[string]uint64) error {
	text, err := json.Marshal(stamps)
	if err == nil {
		err = proc.WriteFile(filepath.Join(f.Home, stampsFile), text, task.PrivateFile)
	}
	if err != nil {
		return fmt.Errorf("keep what was seen of the tasks' files: %w", err)
	}
	return nil
}

// Stamp changes whenever one of these files in a task's folder does, also where the change was given an older time:
// no program sets the time of a file's last change of any kind. It also changes with the version.
func (f Files) Stamp(version int64, project, id string, names ...string) uint64 {
	sum := fnv.New64a()
	words := make([]byte, 0, 5*8)
	write := func(values ...int64) {
		words = words[:0]
		for _, v := range values {
			words = binary.LittleEndian.AppendUint64(words, uint64(v))
		}
		_, _ = sum.Write(words) // it never fails
	}
	write(version)
	folder := f.Dir(project, id) + string(filepath.Separator)
	look := func(name string) {
		var info unix.Stat_t
		if err := unix.Lstat(folder+name, &info); err == nil {
			write(int64(info.Mode), int64(info.Ino), info.Size, info.Ctim.Sec, info.Ctim.Nsec)
			return
		}
		write(0)
	}
	look(DocumentName)
	look("history.jsonl")
	for _, name := range names {
		look(name)
	}
	return sum.Sum64()
}
