package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/agents"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/home"
	"orange/internal/ui/dashboard"
	"orange/internal/work/git"
	"orange/internal/work/pool"
)

// saveMemory limits the memory to what so many tasks need: the lists that are read at its start would else be kept
// until the collector comes.
func saveMemory(tasks int) {
	const least, each = 32 << 20, 3 << 10 // with less for each of many tasks the collector would never rest
	debug.SetMemoryLimit(max(least, int64(tasks)*each))
}

const watchOverAgents = "watch over the agents"

// showDashboard opens the dashboard. The server of the home watches over the agents.
func (a *app) showDashboard(ctx context.Context, project string, all bool) error {
	project, word, err := a.scope(ctx, project, all)
	if err != nil {
		return err
	}
	ctx, off := untilEnded(ctx)
	defer off()
	actions := a.actions()
	look := a.lookout
	look.Screens = &agents.Screens{}
	view := dashboardView{a.pool, a.home, a, look}
	d := &dashboard.Dashboard{
		Backend: dashboard.Backend{Store: view, Inspector: view, Reader: view, Reviews: a.queries(),
			Comments: a.files, Runner: actions, Chooser: actions, Terminal: actions, Now: time.Now}, In: a.call.In,
		Out: a.call.Out, Environ: a.call.Env, Project: project, Message: word, Settings: a.home.ConfigText,
	}
	d.Open(ctx)
	a.engine.OnWarn(d.Say)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		d.AwaitTasks(ctx) // a server that begins reads them too: the first rows would come later
		a.showWatcher(ctx, d)
	})
	err = d.Run(ctx)
	if broken, ok := errors.AsType[*dashboard.Fault](err); ok {
		a.logger.Error("the dashboard broke", "component", "dashboard", "where", broken.Where, "why",
			fmt.Sprint(broken.Why), "trace", string(broken.Trace))
		err = fmt.Errorf("%w\n  at %s; the whole trace is in %q", broken, broken.Location(), a.logPath())
	}
	off()
	watcher.Wait()
	return errors.Join(err, launcher.EnsureServer(context.WithoutCancel(ctx), a.call, a.dir, a.self, nil))
}

// showWatcher shows who watches over the agents, and starts a server where none is there and the one who has opened the
// screen may, until ctx ends. It reports once what goes wrong.
func (a *app) showWatcher(ctx context.Context, d *dashboard.Dashboard) {
	path, told := filepath.Join(a.dir, recordName), ""
	record, err := os.Stat(path)
	for ; ctx.Err() == nil; proc.Pause(ctx, lookEvery) {
		var h socket.Health
		if err == nil && replaced(path, record) {
			err = errors.New("the record is another file now; close the dashboard, and open it again")
		}
		if err == nil {
			h, err = a.serverForScreen(ctx)
		}
		switch found, advice := h.Trouble(time.Now()); {
		case ctx.Err() != nil:
			return
		case errors.Is(err, socket.ErrNoServer), err == nil && h.Heard.IsZero():
			err = nil
			d.SetWatcher("no process watches")
		case err != nil:
			d.SetWatcher("no process watches")
		case found != "":
			d.SetWatcher("no process watches")
			err = errors.New(found + "; " + advice)
		default:
			d.SetWatcher(fmt.Sprintf("watched by process %d", h.PID))
		}
		if err == nil {
			told = ""
		} else if told != err.Error() {
			told = err.Error()
			d.Fail(watchOverAgents, err)
		}
		err = nil
	}
}

// serverForScreen is how the server of the home is.
func (a *app) serverForScreen(ctx context.Context) (socket.Health, error) {
	h, err := socket.Look(ctx, a.dir)
	if !errors.Is(err, socket.ErrNoServer) || !a.startsServer(a.dir) {
		return h, err
	}
	if err := launcher.EnsureServer(ctx, a.call, a.dir, a.self, environment.BearingsIn(a.call.Env)); err != nil {
		return h, err
	}
	return socket.Look(ctx, a.dir)
}

// untilEnded lasts until off is called or the program gets a signal to end. An interrupt does not end it: at the screen
// Ctrl-C is a key, and in the person's editor it is meant for that. A hangup ends it too: the terminal may
// outlive it, and must be left as it was.
func untilEnded(ctx context.Context) (of context.Context, off func()) {
	of, off = signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	if ctx.Err() != nil {
		off() // the signal came before
	}
	return of, off
}

// scope is the project whose tasks are shown, empty for all: the one that is named, or that of the folder the
// person is in. A repository there that is not known yet becomes a project, and message says so.
func (a *app) scope(ctx context.Context, project string, all bool) (name, word string, err error) {
	if project != "" {
		p, err := a.home.Project(project)
		return p.Name, "", err
	}
	if _, name, err = a.Here(ctx); err != nil || name != "" || all {
		if all {
			name = ""
		}
		return name, "", err
	}
	repo, err := git.Inspect(ctx, a.call.Dir)
	if errors.Is(err, git.ErrNoRepository) {
		return "", "", nil // that is no fault
	}
	var p task.Project
	if err == nil {
		err = a.Person(ctx, "make this repository a project")
	}
	if err == nil {
		p, err = a.home.AddRepository(ctx, repo.Path, task.Project{})
	}
	if err != nil {
		return "", err.Error(), nil
	}
	return p.Name, fmt.Sprintf("%s is a project now: %s", p.Path, p.Name), nil
}

// dashboardView reads what the dashboard shows.
type dashboardView struct {
	*pool.Pool
	*home.Home
	app  *app
	look agents.Lookout
}

func (v dashboardView) First(ctx context.Context, project string, most int) ([]task.Task, error) {
	return v.app.store.List(ctx, record.Filter{Project: project, Live: true, Most: most})
}

func (v dashboardView) All(ctx context.Context) ([]task.Task, int64, error) {
	cursor, err := v.app.store.Changed(ctx) // before the tasks: what changes while they are read is reported again
	if err != nil {
		return nil, 0, err
	}
	tasks, err := v.app.store.List(ctx, record.Filter{})
	saveMemory(len(tasks))
	return tasks, cursor, err
}

func (v dashboardView) Since(ctx context.Context, cursor int64) ([]task.Task, []string, int64, error) {
	return v.app.store.TasksSince(ctx, cursor)
}

func (v dashboardView) Rules(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	return v.app.home.Pinned(ctx, ref)
}

func (v dashboardView) Watch(ctx context.Context, changed func()) error {
	last := int64(-1)
	return v.app.store.Poll(ctx, func(context.Context) error {
		now, err := v.app.store.Changed(ctx)
		if err != nil || now == last {
			return err
		}
		last = now
		changed()
		return nil
	})
}

func (v dashboardView) Agents(ctx context.Context, tasks []task.Task) (map[string]dashboard.Agent, error) {
	found, err := v.look.Look(ctx, tasks)
	out := map[string]dashboard.Agent{}
	for id, one := range found {
		out[id] = dashboard.Agent{State: one.State, Active: one.Active, Limit: one.Limit, Need: one.Need}
	}
	return out, err
}

func (v dashboardView) Work(ctx context.Context, t task.Task) (dashboard.Work, error) {
	work, err := v.app.pool.Work(ctx, t)
	if err != nil {
		return dashboard.Work{}, err
	}
	def, err := v.Rules(ctx, t.Workflow)
	if err != nil {
		return dashboard.Work{}, err
	}
	return dashboard.Work{Commits: work.Commits, Added: work.Added, Removed: work.Removed,
		Judged: v.app.looker(0).Compare(ctx, def, t)}, nil
}

func (v dashboardView) History(ctx context.Context, id string, after int) ([]history.Event, error) {
	return v.app.store.Events(ctx, id, after)
}

func (v dashboardView) Why(ctx context.Context, id string) (decide.Explanation, error) {
	e, err := v.app.queries().Why(ctx, id)
	if err == nil {
		e.Passed, err = v.app.home.PassedBy(ctx, e.Task.Workflow)
	}
	return e, err
}

func (v dashboardView) Document(ctx context.Context, t task.Task) (string, error) {
	return v.app.engine.Document(ctx, t)
}

func (v dashboardView) Panes(ctx context.Context, t task.Task) ([]dashboard.Pane, error) {
	own, err := v.app.agents.Of(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var out []dashboard.Pane
	for _, p := range own {
		text, err := v.app.server.Screen(ctx, p.ID)
		if errors.Is(err, tmux.ErrEnded) {
			continue // it has gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, dashboard.Pane{Role: p.Role, Title: p.Window, Dead: p.Dead,
			Lines: strings.Split(strings.TrimRight(text, "\n"), "\n")})
	}
	return out, nil
}

// logLines is how much of the log is shown of one task.
const logLines = 500

func (v dashboardView) Log(_ context.Context, t task.Task) ([]string, error) {
	var out bytes.Buffer
	mine := []byte(`"` + t.ID + `"`)
	if err := v.app.Log(func(line []byte) bool { return bytes.Contains(line, mine) }, logLines, &out); err != nil {
		return nil, err
	}
	if out.Len() == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n"), nil
}
