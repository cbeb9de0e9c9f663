package simulate

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/document"
	"orange/internal/record"
	"orange/internal/task"
)

// files are the task's folder: TASK.md, the history's mirror, projections, and the texts that are kept.
type files struct{ r *run }

// folder is what stands in it.
type folder struct {
	there       bool
	header      string
	body        string
	mirror      string
	kept        map[string]string
	projections map[string][]byte
}

func (f files) Create(t task.Task, body string) error {
	return act(f.r, "it makes TASK.md", func() error {
		d := &f.r.folder
		d.there, d.body = true, body
		return d.render(t)
	})
}

// render writes the header anew. Nobody here adds keys of their own.
func (d *folder) render(t task.Task) error {
	block, ok := document.Render(t, "", document.Room(t, ""))
	if !ok {
		return fmt.Errorf("the header of TASK.md does not fit")
	}
	d.header = block
	return nil
}

func (f files) Read(_, _ string, whole bool) ([]byte, error) {
	return at(f.r, "it reads TASK.md", func() ([]byte, error) {
		if !whole {
			return []byte(f.r.folder.header), nil
		}
		return []byte(f.r.folder.header + f.r.folder.body), nil
	})
}

func (f files) Append(_, _, text string) error {
	return act(f.r, "it writes into TASK.md", func() error {
		f.r.folder.body += text
		return nil
	})
}

func (f files) Adopt(task.Task, []byte) ([]byte, error) {
	return nil, fmt.Errorf("cannot adopt a file as TASK.md: nobody replaces it in a simulation")
}

func (f files) Keep(_, _, digest, text string) (func() error, error) {
	return at(f.r, "it keeps a text", func() (func() error, error) {
		f.r.folder.kept[digest] = text
		return func() error { return nil }, nil
	})
}

func (f files) Trash(_, _ string) (string, error) {
	return at(f.r, "it moves the folder to the trash", func() (string, error) {
		f.r.folder.there = false
		return "trash", nil
	})
}

func (f files) Sync(t task.Task, lines []string, header string) error {
	return act(f.r, "it writes the mirrors", func() error {
		if header != f.r.folder.header {
			return task.ErrConflict
		}
		f.r.folder.mirror = strings.Join(lines, "\n")
		return f.r.folder.render(t)
	})
}

func (f files) Lock(_ context.Context, name string) (func(), error) {
	return at(f.r, "it takes a lock", func() (func(), error) {
		if f.r.locks[name] != nil {
			return nil, fmt.Errorf("would wait for ever for the lock %q", name)
		}
		return f.r.locks.take(name, f.r.at), nil
	})
}

func (f files) TryLock(name string) (func(), bool, error) {
	if f.r.locks[name] != nil {
		return nil, false, nil
	}
	release, err := f.Lock(context.Background(), name)
	return release, err == nil, err
}

func (f files) Projection(_ task.Task, file string) (record.ProjectionFile, error) {
	return at(f.r, "it looks at a projection", func() (record.ProjectionFile, error) {
		text, there := f.r.folder.projections[file]
		return record.ProjectionFile{There: there, Text: text}, nil
	})
}

func (f files) Project(_ task.Task, file string, text []byte) error {
	return act(f.r, "it writes a projection", func() error {
		f.r.folder.projections[file] = text
		return nil
	})
}
