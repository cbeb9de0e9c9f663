package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/doctor"
	"orange/internal/engine/evidence"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
	"orange/internal/store/sqlite"
	"orange/internal/work/pool"
)

const mendThisHome = "mend this home"

// examine examines the home, and brings back or mends what it is asked to. It starts no runner by itself:
// looking alone changes nothing.
func (at place) examine(ctx context.Context, asked record.Examination, progress func(what string, done, of int)) (
	[]record.Finding, error) {
	fix, rebuild := asked.Fix, asked.Rebuild
	dir, err := home.Locate(at.call.Getenv)
	if err != nil {
		return nil, err
	}
	if fix || rebuild {
		if err := at.personWithoutRecord(dir, mendThisHome); err != nil {
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
		release, err := endUsers(ctx, dir)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if rebuild {
		if findings, err = setAside(ctx, filepath.Join(dir, recordName)); err != nil {
			return nil, err
		}
	}
	database := filepath.Join(dir, recordName)
	if lost := home.CheckRecord(dir, filepath.Join(dir, recordName)); lost != nil && !rebuild {
		// Looking must not make a record that says there are no tasks: an empty one elsewhere takes its place.
		elsewhere, err := os.MkdirTemp(proc.TempDir(ctx), "orange-doctor")
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
	a, err := at.openOnly(ctx, database)
	closed := func() error { return nil }
	if err == nil {
		closed = a.close
	} else if a, err = at.withoutRecord(dir, err); err != nil {
		return nil, err
	}
	more, err := a.examine(ctx, asked, progress)
	return doctor.Sorted(append(findings, more...)), errors.Join(err, closed())
}

// withoutRecord is the home as far as it can be looked at while its record cannot be opened.
func (at place) withoutRecord(dir string, why error) (*app, error) {
	a := &app{dir: dir, files: mirror.Files{Home: dir}, noRecord: why, place: at}
	if _, err := os.Stat(dir); err != nil {
		return nil, errors.Join(why, err)
	}
	if err := a.connect(); err != nil {
		return nil, errors.Join(why, err)
	}
	return a, a.log.Close()
}

// health is how the server of the home is.
func (a *app) health(ctx context.Context) (socket.Health, error) { return socket.Look(ctx, a.dir) }

func (a *app) examine(ctx context.Context, asked record.Examination, progress func(what string, done, of int)) (
	[]record.Finding, error) {
	d := &doctor.Doctor{
		Home: a.dir, Files: a.files, Engine: a.engine, Windows: a.server,
		Setup:   doctorSetup{a.pool, a.programs(), a},
		Machine: doctor.LocalMachine{System: proc.System{Grace: grace}}, Server: a.health,
		Now: time.Now, Settling: settling, Progress: progress,
		Variables: environment.Variables{Home: a.dir, Locks: a.files}, Environ: a.call.Env, Root: os.Geteuid() == 0,
	}
	var findings []record.Finding
	if a.noRecord == nil && (asked.Fix || asked.Rebuild) { // the record tells of seats that are not shown, too
		if err := a.Person(ctx, mendThisHome); err != nil {
			return nil, err
		}
	}
	if a.noRecord != nil {
		findings = append(findings, record.Finding{
			Check: "database", Level: record.LevelProblem, Subject: recordName, Found: a.noRecord.Error(),
			Advice: adviceFor(a.noRecord),
		})
		if asked.Rebuild || asked.Older {
			return findings, a.noRecord
		}
	} else {
		d.Record = a.store
	}
	found, err := d.Do(ctx, asked)
	return append(findings, found...), err
}

// settling is how long a command may take from its commit to the last of its files.
const settling = 400 * time.Millisecond

func adviceFor(err error) string {
	if sqlite.IsDamaged(err) || sqlite.IsOther(err) {
		return adviceRebuild + " moves it aside and makes a new one from the tasks' folders"
	}
	return "correct that and run orange doctor again"
}

const adviceRebuild = "orange doctor --rebuild"

// setAside moves a record that is damaged, or another program's, out of the way.
func setAside(ctx context.Context, path string) ([]record.Finding, error) {
	wrong, aside, err := sqlite.SetAside(ctx, path, time.Now())
	if err != nil || wrong == "" {
		return nil, err
	}
	return []record.Finding{{
		Check: "database", Level: record.LevelWarning, Subject: recordName, Found: "it could not be used: " + wrong,
		Mended: fmt.Sprintf("moved to %q, and made again", aside),
	}}, nil
}

// doctorSetup is what the doctor reads of what the person has set up.
type doctorSetup struct {
	*pool.Pool
	evidence.LocalPrograms // what checks leave in repositories
	app                    *app
}

func (s doctorSetup) Projects() ([]task.Project, error) { return s.app.home.Projects() }

func (s doctorSetup) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	return s.app.home.Pinned(ctx, ref)
}

func (s doctorSetup) Files() ([]doctor.File, error) {
	var out []doctor.File
	config := doctor.File{Kind: "config", Name: "config", Source: filepath.Join(s.app.dir, "config.yml")}
	_, config.Problem = s.app.home.Config()
	out = append(out, config)
	harnesses, err := s.app.home.ListHarnesses(s.app.call.Getenv("PATH"))
	if err != nil {
		return nil, err
	}
	for _, l := range harnesses {
		f := doctor.File{Kind: "harness", Name: l.Name, Source: l.Source}
		f.Harness, f.Problem = s.app.home.Harness(l.Name)
		out = append(out, f)
	}
	workflows, err := s.app.home.ListWorkflows()
	if err != nil {
		return nil, err
	}
	for _, l := range workflows {
		f := doctor.File{Kind: "workflow", Name: l.Name, Source: l.Source}
		_, f.Problem = s.app.home.ParseWorkflow(l.Source, l.Text)
		out = append(out, f)
	}
	return out, nil
}

// endUsers ends the server of a home, and refuses where a person has it in the foreground: it has the record open that
// is lost. No other one begins until it is released.
func endUsers(ctx context.Context, dir string) (release func(), err error) {
	h, err := socket.Look(ctx, dir)
	if err != nil && !errors.Is(err, socket.ErrNoServer) {
		return nil, fmt.Errorf("cannot rebuild the record: %w", err)
	}
	if h.Stays {
		return nil, fmt.Errorf("cannot rebuild the record while a monitor is at work: end it first (process %d), and "+
			"start it again afterwards", h.PID)
	}
	return endServer(ctx, dir)
}
