// Package app is the joiner: it reads the environment, opens what there is to open, and hands every room what it needs.
// It decides nothing. It is the only room that may enter every other one.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"orange/harnesses"
	"orange/internal/agents"
	"orange/internal/app/simulation"
	"orange/internal/cli"
	"orange/internal/engine"
	"orange/internal/environment"
	"orange/internal/follow"
	"orange/internal/forge"
	"orange/internal/harness"
	"orange/internal/history"
	"orange/internal/home"
	"orange/internal/hook"
	"orange/internal/launch"
	"orange/internal/lease"
	"orange/internal/logfile"
	"orange/internal/mirror"
	"orange/internal/pool"
	"orange/internal/proc"
	"orange/internal/service"
	"orange/internal/sqlite"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/workflows"
)

// patience is how long a command waits for the hooks of its move.
const patience = 20 * time.Second

// Main runs the program and answers its exit status.
func Main() int {
	if len(os.Args) == 2 && os.Args[1] == jqWord {
		return serveJQ()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var opened *house
	program := &cli.Program{
		Version: version(), In: os.Stdin, Out: results(), Err: talk(), Terminal: isTerminal(os.Stdin),
		Progress: progressAt(),
		Open: func(ctx context.Context) (*cli.House, error) {
			var err error
			if opened, err = open(ctx); err != nil {
				return nil, err
			}
			warn := func(text string) { fmt.Fprintf(talk(), "orange: %s\n", text) }
			opened.engine.Warn, opened.home.Warn = warn, warn
			return opened.face(), nil
		},
		Dashboard: func(ctx context.Context, project string, all bool) error {
			var err error
			if opened, err = open(ctx); err != nil {
				return err
			}
			return opened.show(ctx, project, all)
		},
		Launch: func(ticket string) int {
			return launch.Run(ticket, talk(), func(t harness.Ticket) ([]string, error) {
				return environment.Kept(context.Background(), terminals(t.Home), t.Task)
			})
		}, Examine: examine, Schema: workflows.Schema, Shell: converse,
	}
	status := program.Run(ctx, os.Args[1:])
	if opened != nil {
		if err := opened.close(); err != nil {
			fmt.Fprintf(talk(), "orange: %v\n", err)
			return 1
		}
	}
	return status
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development build"
	}
	return info.Main.Version
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0 &&
		f.Name() != os.DevNull && !isNull(info)
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// house is everything that is open while a command runs.
type house struct {
	dir          string // $ORANGE_HOME
	self         string // the running program
	store        *sqlite.Store
	files        mirror.Files
	home         *home.Home
	server       tmux.Server
	lease        lease.Watch
	pool         *pool.Pool
	agents       *agents.Observer
	environments *environment.PerTask
	engine       *engine.Engine
	log          *logfile.Log

	named  sync.Once
	person string // what history calls whoever runs this program, once somebody has asked

	runner bool // this process performs hooks or runs a check for others

	trouble error // why there is no store; nil but while the doctor looks at a house whose record cannot be opened
}

// homeDir is $ORANGE_HOME, or orange below the user's home.
func homeDir() (string, error) {
	if dir := os.Getenv("ORANGE_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot tell where your home folder is: %w; set ORANGE_HOME", err)
	}
	return filepath.Join(user, "orange"), nil
}

func open(ctx context.Context) (*house, error) {
	dir, err := homeDir()
	if err == nil {
		err = moveIn(dir)
	}
	if err == nil {
		err = recordBeside(dir)
	}
	if err != nil {
		return nil, err
	}
	h, err := enter(ctx, filepath.Join(dir, recordName))
	if err != nil {
		return nil, err
	}
	if os.Getenv("ORANGE_SEAT") != "" {
		h.environments.LeaveAgents(ctx, os.Getenv("ORANGE_TASK_ID"))
	}
	return h, h.resume(ctx)
}

// enter opens the house and leaves everything in it as it is.
func enter(ctx context.Context, record string) (*house, error) {
	dir, err := homeDir()
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
	if err := moveIn(dir); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, record)
	if err != nil {
		return nil, err
	}
	h := &house{dir: dir, self: self, store: store, files: mirror.Files{Home: dir}, runner: os.Getenv(runnerMark) != ""}
	// what this process starts, the terminal server above all, is no runner; it fails for no such name
	_ = os.Unsetenv(runnerMark)
	if err := h.furnish(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return h, nil
}

// furnish joins the rooms.
func (h *house) furnish() error {
	level, err := logfile.Level(os.Getenv("ORANGE_LOG_LEVEL"))
	if err != nil {
		return err
	}
	if h.log, err = logfile.Open(h.logPath(), h.files.Lock); err != nil {
		return err
	}
	log := logfile.NewLogger(h.log, level)
	h.home = &home.Home{
		Dir: h.dir, Workflows: workflows.Files, Usual: workflows.Usual, Harnesses: harnesses.Files,
		Keeper: h.store, Locker: h.files,
	}
	h.server = terminals(h.dir)
	h.lease = lease.Watch{Home: h.dir, Locks: h.files}
	h.environments = &environment.PerTask{Home: h.dir, Server: h.server, Configure: h.configureTmux, Locks: h.files,
		Log: log}
	h.agents = &agents.Observer{Server: h.server, Setup: h.home, Record: h.store, Configure: h.configureTmux}
	h.pool = &pool.Pool{Home: h.dir, Setup: h.home, Record: h.store, Files: h.files, Log: log}
	h.engine = &engine.Engine{
		Store: h.store, Index: h.store, Seats: h.store, Documents: h.files, Mirror: h.files, Projections: h.files,
		Rules: h.home, Workspaces: h.pool, Merger: h.pool, Forge: h.gitHub(),
		Runner: runner{house: h}, Environments: h.environments, Terminal: h.agents,
		Witness: h.agents, Now: time.Now, Random: rand.Reader, Log: log, Patience: patience,
	}
	h.engine.Facts = h.looker(checkPatience)
	h.engine.Performer = &hook.Hands{
		Sessions: h.agents, Processes: proc.System{Grace: grace}, Workspaces: h.pool,
		Setup:   hookSetup{house: h},
		Waiting: h.store, Next: h.engine,
		Forge: forge.GH{}, System: runtime.GOOS, Home: h.dir, Self: h.self,
	}
	return nil
}

func (h *house) close() error { return errors.Join(h.store.Close(), h.log.Close()) }

// grace is how long an agent has to end by itself.
const grace = 3 * time.Second

// configureTmux writes the configuration of the terminal server before the first session needs it.
func (h *house) configureTmux() error {
	config, err := h.home.Config()
	if err != nil {
		return err
	}
	return h.server.Configure(config.TmuxConfig)
}

// Attach shows a person the window of a role of a task.
func (h *house) Attach(ctx context.Context, id, role string, run bool) ([]string, error) {
	s, err := h.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.agents.Attach(ctx, s.Task, role, run)
}

// Sessions has how the agents of tasks' statuses are.
func (h *house) Sessions(ctx context.Context, tasks []task.Task) (map[string]string, error) {
	states, _, err := h.agents.States(ctx, tasks)
	return states, err
}

func (h *house) logPath() string { return filepath.Join(h.dir, "orange.log") }

// Log prints the last lines of the log that are to be kept.
func (h *house) Log(keep func([]byte) bool, lines int, out io.Writer) error {
	return logfile.Print(out, h.logPath(), keep, lines)
}

// record is the file of the record.
func (h *house) record() follow.Source { return follow.Source{Path: filepath.Join(h.dir, recordName)} }

// Changed is the cursor after everything that has happened.
func (h *house) Changed(ctx context.Context) (int64, error) { return h.store.Changed(ctx) }

// TasksSince are the tasks that changed after a cursor, and the ids of those that are gone.
func (h *house) TasksSince(ctx context.Context, cursor int64) ([]task.Task, []string, int64, error) {
	return h.store.TasksSince(ctx, cursor)
}

// Follow calls report with what happens to all tasks after a cursor, until ctx ends or report answers an error.
func (h *house) Follow(ctx context.Context, cursor int64, report func([]history.Happening) error) error {
	return h.record().Follow(ctx, os.Stdout, h.store.EventsSince, cursor, report)
}

// Unit is the file with which the system's supervisor keeps a monitor running.
func (h *house) Unit(kind string) (string, error) {
	return service.Unit{Home: h.dir, Program: h.self, Environment: service.Environment(h.dir, os.Getenv)}.Text(kind)
}

// resume has what a killed process left undone finished by the next command, whichever it is.
func (h *house) resume(ctx context.Context) error {
	if h.runner {
		return nil // a runner settles what it was started for
	}
	return h.engine.Resume(ctx)
}

// face is the house as the command line sees it.
func (h *house) face() *cli.House {
	return &cli.House{Moves: h.engine, Steps: h.engine, Care: h, Look: h, Who: h, Projects: h, Workflows: h,
		Workspaces: h.pool, Night: h, Checks: h, Times: h, PullRequests: h.engine, Books: h, Proof: h, Changes: h,
		Simulation: simulation.Runner{}}
}
