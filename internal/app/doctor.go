package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/doctor"
	"orange/internal/evidence"
	"orange/internal/lease"
	"orange/internal/mirror"
	"orange/internal/pool"
	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/sqlite"
	"orange/internal/task"
)

const mendThisHome = "mend this home"

// examine examines the home, and brings back or mends what it is asked to. It starts no runner by itself:
// looking alone changes nothing.
func examine(ctx context.Context, fix, rebuild bool,
	progress func(what string, done, of int)) ([]record.Finding, error) {
	dir, err := homeDir()
	if err != nil {
		return nil, err
	}
	if fix || rebuild {
		if err := personWithoutRecord(dir, mendThisHome); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
			return nil, fmt.Errorf("cannot make ORANGE_HOME: %w", err)
		}
		release, err := mirror.Files{Home: dir}.Lock(ctx, "doctor")
		if err != nil {
			return nil, err
		}
		defer release()
	}
	var findings []record.Finding
	if rebuild {
		// A monitor has the record open that is lost, and would go on writing there.
		own := lease.Watch{Home: dir, Locks: mirror.Files{Home: dir}}
		release, free, err := own.TryLock()
		if err != nil {
			return nil, err
		}
		if !free {
			holder := own.Watcher()
			if found, advice := holder.Trouble(time.Now()); found != "" {
				return nil, fmt.Errorf("cannot rebuild the record: %s; %s", found, advice)
			}
			return nil, fmt.Errorf("cannot rebuild the record while a monitor is at work: end it first "+
				"(process %s), and start it again afterwards; an open dashboard is one too", holder.Name())
		}
		defer release()
	}
	if rebuild {
		if findings, err = setAside(ctx, filepath.Join(dir, recordName)); err != nil {
			return nil, err
		}
	}
	database := filepath.Join(dir, recordName)
	if lost := recordBeside(dir); lost != nil && !rebuild {
		// Looking must not make a record that says there are no tasks: an empty one elsewhere stands for it.
		elsewhere, err := os.MkdirTemp("", "orange-doctor")
		if err != nil {
			return nil, fmt.Errorf("look without a record: %w", err)
		}
		defer os.RemoveAll(elsewhere)
		database = filepath.Join(elsewhere, recordName)
		findings = append(findings, record.Finding{
			Check: "database", Level: record.LevelProblem, Subject: recordName, Found: lost.Error(),
			Advice: adviceRebuild,
		})
	}
	h, err := enter(ctx, database)
	closed := func() error { return nil }
	if err == nil {
		closed = h.close
	} else if h, err = withoutRecord(dir, err); err != nil {
		return nil, err
	}
	more, err := h.examine(ctx, fix, rebuild, progress)
	return doctor.Sorted(append(findings, more...)), errors.Join(err, closed())
}

// recordName is the file of the record below ORANGE_HOME.
const recordName = "orange.db"

// withoutRecord is the house as far as it can be looked at while its record cannot be opened.
func withoutRecord(dir string, why error) (*house, error) {
	h := &house{dir: dir, files: mirror.Files{Home: dir}, trouble: why}
	if _, err := os.Stat(dir); err != nil {
		return nil, errors.Join(why, err)
	}
	if err := h.furnish(); err != nil {
		return nil, errors.Join(why, err)
	}
	return h, h.log.Close()
}

func (h *house) examine(ctx context.Context, fix, rebuild bool, progress func(what string, done, of int)) (
	[]record.Finding, error) {
	d := &doctor.Doctor{
		Home: h.dir, Files: h.files, Shown: h.engine, Mender: mender{h}, Windows: h.server, Setup: wardrobe{h.pool, h},
		Remains: remains{h.programs(), h.pool}, Machine: doctor.LocalMachine{System: proc.System{Grace: grace}},
		Watcher: h.lease.Watcher, Now: time.Now, Settling: settling,
		Progress: progress,
	}
	var findings []record.Finding
	if h.trouble == nil && (fix || rebuild) { // the record tells of seats that are not shown, too
		if err := h.Person(ctx, mendThisHome); err != nil {
			return nil, err
		}
	}
	if h.trouble != nil {
		findings = append(findings, record.Finding{
			Check: "database", Level: record.LevelProblem, Subject: recordName, Found: h.trouble.Error(),
			Advice: adviceFor(h.trouble),
		})
		if rebuild {
			return findings, h.trouble
		}
	} else {
		d.Record = h.store
	}
	if rebuild {
		d.Adopter = adopter{h}
		adopted, err := d.Rebuild(ctx)
		if err != nil {
			return nil, err
		}
		findings = append(findings, adopted...)
	}
	found, err := d.Examine(ctx, fix)
	return append(findings, found...), err
}

// settling is how long a command may take from its commit to the last of its files.
const settling = 400 * time.Millisecond

func adviceFor(err error) string {
	if sqlite.IsDamaged(err) {
		return adviceRebuild + " moves it aside and makes a new one from the tasks' folders"
	}
	return "put that right and run orange doctor again"
}

const adviceRebuild = "orange doctor --rebuild"

// setAside moves a record that is damaged out of the way, with all that belongs to it. Nothing of it is deleted.
func setAside(ctx context.Context, path string) ([]record.Finding, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	wrong, err := wrongWith(ctx, path)
	if err != nil || wrong == "" {
		return nil, err
	}
	aside := path + ".broken-" + time.Now().UTC().Format("20060102T150405.000")
	for _, end := range []string{"-shm", "-wal", ""} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("move the damaged record aside: %w", err)
		}
	}
	return []record.Finding{{
		Check: "database", Level: record.LevelWarning, Subject: recordName, Found: "it was damaged: " + wrong,
		Mended: fmt.Sprintf("moved to %q, and made anew", aside),
	}}, nil
}

func wrongWith(ctx context.Context, path string) (string, error) {
	store, err := sqlite.Open(ctx, path)
	if sqlite.IsDamaged(err) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	wrong, err := store.Check(ctx)
	return strings.Join(wrong, "; "), errors.Join(err, store.Close())
}

// adopter brings tasks back that the record does not have.
type adopter struct{ house *house }

func (a adopter) Tell(ctx context.Context, project, id string, history []byte) (record.Adoption, error) {
	return a.house.engine.Tell(ctx, project, id, history)
}

func (a adopter) Adopt(ctx context.Context, told record.Adoption) (record.Adoption, error) {
	return a.house.engine.Adopt(ctx, a.house.store, a.house.agents, told)
}

// mender lends the engine's repairs to the doctor.
type mender struct{ house *house }

func (m mender) Sync(ctx context.Context, id string) error { return m.house.engine.Sync(ctx, id) }

func (m mender) Forget(ctx context.Context, id string) error { return m.house.engine.Forget(ctx, id) }

// Free has given back what a task holds that is over, and waits until that is done.
func (m mender) Free(ctx context.Context, id string) error {
	if err := m.house.engine.Free(ctx, id); err != nil {
		return err
	}
	return m.Retry(ctx, id)
}

func (m mender) Retry(ctx context.Context, id string) error {
	_, err := m.house.engine.Retry(ctx, id, task.Actor{Role: task.RoleHuman})
	return err
}

// wardrobe tells the doctor what the person has set up.
type wardrobe struct {
	*pool.Pool
	house *house
}

func (w wardrobe) Projects() ([]task.Project, error) { return w.house.home.Projects() }

func (w wardrobe) Files() ([]doctor.File, error) {
	var out []doctor.File
	config := doctor.File{Kind: "config", Name: "config", Source: filepath.Join(w.house.dir, "config.yml")}
	_, config.Problem = w.house.home.Config()
	out = append(out, config)
	harnesses, err := w.house.home.ListHarnesses()
	if err != nil {
		return nil, err
	}
	for _, l := range harnesses {
		f := doctor.File{Kind: "harness", Name: l.Name, Source: l.Source}
		if one, err := w.house.home.Harness(l.Name); err != nil {
			f.Problem = err
		} else {
			f.Program = one.Program
		}
		out = append(out, f)
	}
	workflows, err := w.house.home.ListWorkflows()
	if err != nil {
		return nil, err
	}
	for _, l := range workflows {
		f := doctor.File{Kind: "workflow", Name: l.Name, Source: l.Source}
		_, f.Problem = w.house.home.ParseWorkflow(l.Source, l.Text)
		out = append(out, f)
	}
	return out, nil
}

// remains are what checks and judgements leave in repositories.
type remains struct {
	evidence.LocalPrograms
	*pool.Pool
}
