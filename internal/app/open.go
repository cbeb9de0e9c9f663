package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orange/harnesses"
	"orange/internal/api/caller"
	"orange/internal/engine"
	"orange/internal/engine/hook"
	"orange/internal/rules/task"
	"orange/internal/run/agents"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/home"
	"orange/internal/store/logfile"
	"orange/internal/store/mirror"
	"orange/internal/store/sqlite"
	"orange/internal/work/pool"
	"orange/internal/work/snapshots"
	"orange/workflows"
)

const (
	patience   = 20 * time.Second // how long a command waits for the hooks of its move
	grace      = 3 * time.Second  // how long an agent has to end by itself
	recordName = "orange.db"      // the file of the record below ORANGE_HOME
)

// app is everything that is open while a command runs.
type app struct {
	dir          string // $ORANGE_HOME
	self         string // the running program
	store        *sqlite.Store
	files        mirror.Files
	home         *home.Home
	server       *tmux.Server
	pool         *pool.Pool
	agents       *agents.Observer
	environments *environment.PerTask
	engine       *engine.Engine
	executor     *hook.Executor
	lookout      agents.Lookout
	log          *logfile.Log
	logger       *slog.Logger
	checkWait    time.Duration // how long the engine waits for a check that runs

	place
	zone   *time.Location // in which the one who asks reads times
	named  sync.Once
	person string // what history calls the person who asks, once that was asked

	runner bool // this process performs hooks or runs a check for others

	noRecord error // why there is no store; nil but while the doctor looks at a home whose record cannot be opened
}

// place is from where a home is asked.
type place struct {
	call   proc.Call
	asker  *environment.Asker
	busy   *atomic.Int32 // above 0 while this process is not to be cut off: it has a screen, or does others' calls
	shared *shared       // what the calls that a server does have in common; nil where no server does this
	own    *calls        // the server in this process, which performs hooks; nil where it is none
}

// shared is what the calls of a home have in common that one process does.
type shared struct {
	store     *sqlite.Store
	workflows *home.Parsed
}

// now is the time as the one who asks reads it.
func (a *app) now() time.Time { return time.Now().In(a.zone) }

// callerAt is all that can be known of the caller on the home in dir.
func (at place) callerAt(dir, as string) (task.Caller, error) {
	return caller.Of(at.call, dir, tmux.ServerOf(dir, at.asker.Getenv), as, mirror.Files{Home: dir}.Has)
}

// open opens the home, leaves the environment of an agent that started this process, and has what a killed process
// left undone finished, if it may resume that.
func (at place) open(ctx context.Context, resume bool) (*app, error) {
	dir, err := home.Locate(at.call.Getenv)
	if err == nil {
		err = home.MakeFolder(dir)
	}
	if err == nil {
		err = home.CheckRecord(dir, filepath.Join(dir, recordName))
	}
	if err != nil {
		return nil, err
	}
	a, err := at.openOnly(ctx, filepath.Join(dir, recordName))
	if err != nil {
		return nil, err
	}
	if at.call.Getenv("ORANGE_SEAT") != "" {
		a.environments.Leave(ctx, at.asker, at.call.Getenv("ORANGE_TASK_ID"))
	}
	if a.runner && a.own == nil {
		return a, caller.MarkStarter(dir) // and settles what it was started for
	}
	if a.runner || !resume {
		return a, nil
	}
	return a, a.engine.Resume(ctx)
}

// openToLook opens the home where there is one, and leaves everything in it as it is.
func (at place) openToLook(ctx context.Context) (*app, error) {
	dir, err := home.Locate(at.call.Getenv)
	if err != nil {
		return nil, err
	}
	record := filepath.Join(dir, recordName)
	if _, err := os.Stat(record); err != nil {
		return nil, err
	}
	return at.openOnly(ctx, record)
}

// openOnly opens the home and leaves everything in it as it is.
func (at place) openOnly(ctx context.Context, record string) (*app, error) {
	dir, err := home.Locate(at.call.Getenv)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(dir, "\n\r\x00") {
		return nil, task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it holds a newline", dir)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot tell where this program is: %w", err)
	}
	if err := home.MakeFolder(dir); err != nil {
		return nil, err
	}
	store, err := at.store(ctx, record)
	if err != nil {
		return nil, err
	}
	a := &app{dir: dir, self: self, store: store, files: mirror.Files{Home: dir}, place: at,
		runner: at.call.Getenv(runnerMark) != ""}
	if err := a.connect(); err != nil {
		if at.shared == nil {
			err = errors.Join(err, store.Close())
		}
		return nil, err
	}
	return a, nil
}

// store is the record, opened for this call where the process does not share it.
func (at place) store(ctx context.Context, path string) (*sqlite.Store, error) {
	if at.shared != nil {
		return at.shared.store, nil
	}
	return sqlite.Open(ctx, path)
}

// connect hands every package what it needs of the others.
func (a *app) connect() error {
	level, err := logfile.Level(a.call.Getenv("ORANGE_LOG_LEVEL"))
	if err != nil {
		return err
	}
	if a.log, err = logfile.Open(a.logPath(), a.files.Lock); err != nil {
		return err
	}
	a.logger, a.checkWait = logfile.NewLogger(a.log, level), checkPatience
	a.zone = a.call.Zone()
	a.home = &home.Home{Dir: a.dir, Workflows: workflows.Files, Usual: workflows.Usual, Harnesses: harnesses.Files,
		Keeper: a.store,
		Older: func(ctx context.Context) (older int, err error) {
			_, older, err = a.queries().Unrecorded(ctx)
			return older, err
		}}
	if a.shared != nil {
		a.home.Parsed = a.shared.workflows
	}
	a.server = tmux.ServerOf(a.dir, a.asker.Getenv)
	a.environments = &environment.PerTask{Home: a.dir, Server: a.server, Configure: a.configureTmux, Locks: a.files,
		Log: a.logger}
	a.agents = &agents.Observer{Server: a.server, Setup: a.home, Record: a.store, Configure: a.configureTmux}
	a.pool = pool.New(pool.Surroundings{Home: a.dir, Setup: a.home, Record: a.store, Files: a.files, Log: a.logger,
		Environment: a.environments.Environment, Own: a.environments.OfChecks,
		Terminal: a.server.Ready})
	a.lookout = agents.Lookout{Observer: a.agents, Screens: &agents.Screens{}, Zone: a.zone, Documents: a.files,
		Missing: a.pool.MissingOfAll, Conflicts: a.pool.Conflicts}
	a.agents.Touched, a.agents.Resume, a.agents.Messages = a.pool.Touched, a.home.Resume, messages(a.call)
	guard := snapshots.NewGuard(a.dir, a.pool)
	a.executor = &hook.Executor{
		Sessions: a.agents, Processes: proc.System{Grace: grace}, Work: pool.Opener{Pool: a.pool},
		Setup: hookSetup{a.home, a.environments, a.files}, Record: a.store,
		StartNext: func(ctx context.Context, of string) (string, error) { return a.engine.StartNext(ctx, of) },
		Now:       time.Now, Conflicts: a.pool.Conflicts,
		System: runtime.GOOS, Home: a.dir, Self: a.self, Need: a.lookout.Need,
	}
	a.engine = engine.New(engine.Ports{
		Record: a.store, Folder: a.files, Rules: a.home,
		Work: engine.GuardedWork{Work: a.pool, Guard: guard}, Agents: windows{a.agents, a.executor},
		Facts: a.facts, Peek: a.factsNow, Perform: engine.GuardHooks(guard, a.executor.Perform),
		RunHooks: a.runHooks, Environments: a.environments,
		Now: time.Now, Random: rand.Reader, Log: a.logger, Patience: patience, Needs: a.lookout.Need,
		SharedNews: a.pool.SharedNews, Ready: a.pool.Ready, HoldBack: proc.Pause,
	})
	return nil
}

// windows are the agents of tasks, as the engine sees and reaches them.
type windows struct {
	*agents.Observer
	*hook.Executor
}

// inTask is ctx with the environment that is kept for a task.
func (a *app) inTask(ctx context.Context, id string) context.Context {
	return proc.WithEnviron(ctx, a.environments.Of(ctx, id, proc.EnvironOf(ctx).Own))
}

func (a *app) close() error { // right before the process ends, or the call that it does for another one
	if a.shared == nil {
		a.store.Leave(context.Background())
	}
	return a.log.Close()
}

// configureTmux writes the configuration of the terminal server before the first session needs it.
func (a *app) configureTmux() error {
	config, err := a.home.Config()
	if err != nil {
		return err
	}
	return a.server.Configure(config.TmuxConfig)
}
