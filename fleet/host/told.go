package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/task"
)

func (s *Store) birthPath(id string) (string, error) {
	if name := id + ".json"; name != filepath.Base(name) || !filepath.IsLocal(name) {
		return "", fmt.Errorf("find what task %q was created from: expected an id", id)
	}
	return filepath.Join("births", id+".json"), nil
}

// KeepBirth keeps what a task was created from, as its person signed it: with it the custody of the task can begin
// again at a server that has lost it.
func (s *Store) KeepBirth(id string, b wire.Birth) error {
	path, err := s.birthPath(id)
	if err == nil {
		err = os.MkdirAll(filepath.Join(s.Dir, "births"), task.PrivateFolder)
	}
	if err != nil {
		return fmt.Errorf("keep what task %s was created from: %w", id, err)
	}
	return s.write(path, wire.Of(b))
}

// DropBirth forgets what a task was created from.
func (s *Store) DropBirth(id string) error {
	path, err := s.birthPath(id)
	if err == nil {
		err = os.Remove(filepath.Join(s.Dir, path))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget what task %s was created from: %w", id, err)
	}
	return nil
}

// HeldTask is a task that the host has, with what it can say of it to a server that knows nothing.
type HeldTask struct {
	Task   string
	Epoch  int
	Report wire.Report
	Birth  *wire.Birth // nil where the host took the task before it kept births
}

// Held are the tasks that the host has, with the last reports of them, signed again. Nothing changes: the daemon of the
// host may go on meanwhile.
func (h *Host) Held() ([]HeldTask, error) {
	h.Store.lock.Lock()
	k, err := h.Store.read()
	h.Store.lock.Unlock()
	if err != nil {
		return nil, err
	}
	var all []HeldTask
	for _, t := range k.Holder.Tasks {
		if !t.Has {
			continue
		}
		one := HeldTask{Task: t.Task, Epoch: t.Epoch}
		if one.Report, err = sign.Report(h.Key, wire.Report{Fleet: h.Fleet, Host: h.Name, Epoch: t.Epoch, Task: t.Task,
			Version: k.Versions[t.Task], Row: k.Rows[t.Task]}); err != nil {
			return nil, err
		}
		if one.Birth, err = h.Store.birth(t.Task); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (s *Store) birth(id string) (*wire.Birth, error) {
	path, err := s.birthPath(id)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var m wire.Message[wire.Birth]
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read what task %s was created from: %w", id, err)
	}
	return &m.Body, nil
}
