// Package traces has the agents of a home as a monitor asks for them, with what they leave in files.
package traces

import (
	"context"

	"orange/internal/rules/task"
	"orange/internal/run/launch"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
	"orange/internal/work/pool"
)

// Agents are the agents of a home: their windows, their processes, and the files that they write. Every field is
// required.
type Agents struct {
	*pool.Pool
	*tmux.Server
	proc.System
	Mirrors mirror.Files
	Home    *home.Home
}

// Notes calls noted as soon as a launcher has noted the end of its agent, until ctx ends.
func (f Agents) Notes(ctx context.Context, noted func(hook int64)) error {
	return launch.Watch(ctx, f.Home.Dir, mirror.Watch, noted)
}

// Ending is what the launcher of a hook's agent noted; found is false where it noted nothing.
func (f Agents) Ending(hook int64, seat string) (end task.Ending, found bool, err error) {
	return launch.Ending(f.Home.Dir, hook, seat)
}

// Stamp changes whenever one of a task's mirrors does, or the version of the task.
func (f Agents) Stamp(one *task.Task) uint64 {
	var names []string
	// where the rules cannot be read, the error is reported where the files are made equal
	if def, err := f.Home.Pinned(context.Background(), one.Workflow); err == nil {
		for _, p := range def.Projections {
			names = append(names, p.File)
		}
	}
	return f.Mirrors.Stamp(one.Version, one.Project, one.ID, names...)
}

// Stamps are the stamps of tasks that KeepStamps kept last.
func (f Agents) Stamps() map[string]uint64 { return f.Mirrors.Stamps() }

// KeepStamps keeps the stamps of tasks for a later process.
func (f Agents) KeepStamps(stamps map[string]uint64) error { return f.Mirrors.KeepStamps(stamps) }

// Known reports whether a task has a folder.
func (f Agents) Known(id string) (bool, error) { return f.Mirrors.Has(id) }
