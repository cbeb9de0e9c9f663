package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/engine"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Folders are those of tasks, with TASK.md and everything next to it.
type Folders interface {
	engine.Folder
	// Kept is a text that was kept under a digest.
	Kept(project, id, digest string) (text string, kept bool, err error)
}

// TaskFolders are the folders and locks as one process sees them.
func (v ProcessView) TaskFolders() TaskFolders { return TaskFolders{v} }

// TaskFolders implements what an engine asks of folders, with a step for each call.
type TaskFolders struct{ v ProcessView }

// Create is a step.
func (f TaskFolders) Create(t task.Task, body string) error {
	return f.v.step("it makes TASK.md", t.ID, func() error { return f.v.Folders.Create(t, body) })
}

// Read is a step.
func (f TaskFolders) Read(project, id string, whole bool) ([]byte, error) {
	return ask(f.v, "it reads TASK.md", id, func() ([]byte, error) { return f.v.Folders.Read(project, id, whole) })
}

// ReadHistory is a step.
func (f TaskFolders) ReadHistory(project, id string) ([]byte, error) {
	return ask(f.v, "it reads history.jsonl", id, func() ([]byte, error) {
		return f.v.Folders.ReadHistory(project, id)
	})
}

// Append is a step.
func (f TaskFolders) Append(project, id, text string) error {
	return f.v.step("it writes into TASK.md", id, func() error { return f.v.Folders.Append(project, id, text) })
}

// Adopt is a step.
func (f TaskFolders) Adopt(t task.Task, content []byte) ([]byte, error) {
	return ask(f.v, "it adopts a file as TASK.md", t.ID, func() ([]byte, error) {
		return f.v.Folders.Adopt(t, content)
	})
}

// Keep is a step.
func (f TaskFolders) Keep(project, id, digest, text string) (bool, error) {
	return ask(f.v, "it keeps a text", id, func() (bool, error) {
		return f.v.Folders.Keep(project, id, digest, text)
	})
}

// Harden does nothing: the simulated world has no power cuts.
func (f TaskFolders) Harden(string, string, ...string) error { return nil }

// Trash is a step.
func (f TaskFolders) Trash(project, id string) (string, error) {
	return ask(f.v, "it moves the folder to the trash", id, func() (string, error) {
		return f.v.Folders.Trash(project, id)
	})
}

// SetAside is a step.
func (f TaskFolders) SetAside(project, id string) (string, error) {
	return ask(f.v, "it moves the folder aside", id, func() (string, error) {
		return f.v.Folders.SetAside(project, id)
	})
}

// Sync is a step.
func (f TaskFolders) Sync(t task.Task, past record.HistoryLines, header string) error {
	lines, _, err := past.Tail(0) // a step of its own
	if err != nil {
		return err
	}
	past = record.LinesOf(lines, past.Whole)
	return f.v.step("it writes the mirrors", t.ID, func() error { return f.v.Folders.Sync(t, past, header) })
}

// Projection is a step.
func (f TaskFolders) Projection(t task.Task, file string) (record.ProjectionFile, error) {
	return ask(f.v, "it looks at a projection", t.ID, func() (record.ProjectionFile, error) {
		return f.v.Folders.Projection(t, file)
	})
}

// Project is a step.
func (f TaskFolders) Project(t task.Task, file string, text []byte) error {
	return f.v.step("it writes a projection", t.ID, func() error { return f.v.Folders.Project(t, file, text) })
}

// errLocked says that a process which cannot wait asked for a lock of another.
var errLocked = errors.New("another process holds the lock")

// Lock is a step that waits until the lock is free.
func (f TaskFolders) Lock(_ context.Context, name string) (func(), error) {
	task, _, _ := strings.Cut(name, ".")
	free := func() bool { return !f.v.isLocked(name) }
	return take(f.v.Process, Step{What: "it takes a lock", Task: task, Ready: free}, func() (func(), error) {
		if !free() {
			return nil, fmt.Errorf("cannot take the lock %q: %w", name, errLocked)
		}
		return f.v.lock(name, f.v.Process.Identity()), nil
	})
}

// TryLock is a step if the lock is free.
func (f TaskFolders) TryLock(name string) (func(), bool, error) {
	if f.v.isLocked(name) {
		return nil, false, nil
	}
	task, _, _ := strings.Cut(name, ".")
	release, err := ask(f.v, "it takes a lock", task, func() (func(), error) {
		if f.v.isLocked(name) {
			return nil, errLocked
		}
		return f.v.lock(name, f.v.Process.Identity()), nil
	})
	if errors.Is(err, errLocked) {
		return nil, false, nil
	}
	return release, err == nil, err
}

// memory are folders without files. The world has their locks.
type memory map[string]*folder

type folder struct {
	header      string
	body        string
	mirror      string
	kept        map[string]string
	projections map[string][]byte
}

func (m memory) of(id string) *folder {
	if m[id] == nil {
		m[id] = &folder{kept: map[string]string{}, projections: map[string][]byte{}}
	}
	return m[id]
}

func (d *folder) text() []byte { return []byte(d.header + d.body) }

// render writes a new header. No one adds keys to it here.
func (d *folder) render(t task.Task) error {
	block, ok := document.Render(t, "", document.Room(t, ""))
	if !ok {
		return errors.New("the header of TASK.md does not fit")
	}
	d.header = block
	return nil
}

func (m memory) Create(t task.Task, body string) error {
	d := m.of(t.ID)
	d.body = body
	return d.render(t)
}

func (m memory) Read(_, id string, whole bool) ([]byte, error) {
	if !whole {
		return []byte(m.of(id).header), nil
	}
	return m.of(id).text(), nil
}

func (m memory) Append(_, id, text string) error {
	m.of(id).body += text
	return nil
}

func (m memory) Adopt(task.Task, []byte) ([]byte, error) {
	return nil, errors.New("cannot adopt a file as TASK.md: no one replaces it in a simulation")
}

func (m memory) Keep(_, id, digest, text string) (bool, error) {
	_, before := m.of(id).kept[digest]
	m.of(id).kept[digest] = text
	return !before, nil
}

func (m memory) Harden(string, string, ...string) error { return nil }

func (m memory) Kept(_, id, digest string) (string, bool, error) {
	text, kept := m.of(id).kept[digest]
	return text, kept, nil
}

func (m memory) ReadHistory(_, id string) ([]byte, error) { return []byte(m.of(id).mirror), nil }

func (m memory) Trash(string, string) (string, error) { return "trash", nil }

func (m memory) SetAside(string, string) (string, error) { return "left", nil }

func (m memory) Lock(context.Context, string) (func(), error) { return func() {}, nil }

func (m memory) TryLock(string) (func(), bool, error) { return func() {}, true, nil }

func (m memory) Sync(t task.Task, past record.HistoryLines, header string) error {
	d := m.of(t.ID)
	lines, _, err := past.Tail(0)
	if err != nil {
		return err
	}
	if header != d.header {
		return task.ErrConflict
	}
	d.mirror = strings.Join(lines, "\n") + "\n"
	return d.render(t)
}

func (m memory) Projection(t task.Task, file string) (record.ProjectionFile, error) {
	text, found := m.of(t.ID).projections[file]
	return record.ProjectionFile{There: found, Text: text}, nil
}

func (m memory) Project(t task.Task, file string, text []byte) error {
	m.of(t.ID).projections[file] = text
	return nil
}
