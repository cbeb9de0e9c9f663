package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
	"orange/internal/rules/fencing"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Clock is the time of a machine since its start, sleep included, and which start that was.
type Clock func() (boot string, up time.Duration, err error)

// Store keeps what the host knows of its rights, in files below $ORANGE_HOME/fleet. One process uses it.
type Store struct {
	Dir   string
	Clock Clock
	Now   func() time.Time

	lock sync.Mutex
}

// hostFile is the file host.json.
type hostFile struct {
	Boot     string         `json:"boot"` // the start of the machine that the lease is counted from
	Holder   custody.Holder `json:"holder"`
	Versions map[string]int `json:"versions"` // of the last report of each task
	Draining bool           `json:"draining,omitempty"`
	// Rows are the last ones that were reported, with the last snapshot that was acknowledged.
	Rows map[string]wire.Row `json:"rows,omitempty"`
}

func (s *Store) read() (hostFile, error) {
	k := hostFile{Versions: map[string]int{}, Rows: map[string]wire.Row{}}
	text, err := os.ReadFile(filepath.Join(s.Dir, "host.json"))
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return k, fmt.Errorf("read what this host knows of its tasks: %w", err)
	}
	return k, nil
}

// Read is what the host knows of its rights. A lease of another start of the machine is over.
func (s *Store) Read() (custody.Holder, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, err := s.read()
	if err != nil {
		return custody.Holder{}, err
	}
	boot, _, err := s.Clock()
	if boot != k.Boot {
		k.Holder.Until = 0
	}
	return k.Holder, err
}

// Change changes what the host knows, and writes its lease to lease.json, where orange reads it: the tasks that are
// gone come first.
func (s *Store) Change(change func(custody.Holder) (custody.Holder, error)) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, err := s.read()
	if err != nil {
		return err
	}
	boot, _, err := s.Clock()
	if err != nil {
		return fmt.Errorf("read the clock of this machine: %w", err)
	}
	if boot != k.Boot {
		k.Boot, k.Holder.Until = boot, 0
	}
	before := k.Holder.Until
	if k.Holder, err = change(k.Holder); err != nil {
		return err
	}
	if err := s.write("host.json", k); err != nil {
		return err
	}
	if k.Holder.Until == before {
		return nil
	}
	return s.write("lease.json", fencing.HomeLease{Boot: boot, Until: k.Holder.Until, Answered: s.Now()})
}

// errBehind says that a later row of the task was reported.
var errBehind = errors.New("a later row was reported")

// Next is the number of the next report of a task, which has this row, and the row with what is known of its snapshot.
// Without back it is refused where a row with a later event was reported.
func (s *Store) Next(id string, row wire.Row, back bool) (int, wire.Row, error) {
	version := 0
	err := s.note(func(k *hostFile) {
		if !back && k.Rows[id].Head.Event > row.Head.Event {
			return
		}
		row.Shipped, row.ShippedAt = k.Rows[id].Shipped, k.Rows[id].ShippedAt
		k.Versions[id]++
		k.Rows[id], version = row, k.Versions[id]
	})
	if err == nil && version == 0 {
		err = errBehind
	}
	return version, row, err
}

// Shipped notes that a snapshot of a task was acknowledged which goes to an event.
func (s *Store) Shipped(id string, event int) error {
	return s.note(func(k *hostFile) {
		row := k.Rows[id]
		row.Shipped, row.ShippedAt = event, s.Now().Unix()
		k.Rows[id] = row
	})
}

// Row is the last row that was reported of a task.
func (s *Store) Row(id string) (wire.Row, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, err := s.read()
	return k.Rows[id], err
}

// Drain notes whether the host takes no new tasks.
func (s *Store) Drain(drained bool) error {
	return s.note(func(k *hostFile) { k.Draining = drained })
}

// Draining reports whether the host takes no new tasks.
func (s *Store) Draining() (bool, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, err := s.read()
	return k.Draining, err
}

// note changes what is kept besides the rights of the host.
func (s *Store) note(change func(*hostFile)) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, err := s.read()
	if err != nil {
		return err
	}
	change(&k)
	return s.write("host.json", k)
}

// write replaces a file in one step that outlives a power cut.
func (s *Store) write(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.Dir, task.PrivateFolder)
	}
	if err == nil {
		err = proc.ReplaceFile(filepath.Join(s.Dir, name), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note what this host knows of its tasks: %w", err)
	}
	return nil
}
