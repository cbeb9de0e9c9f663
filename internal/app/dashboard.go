package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"orange/internal/agents"
	"orange/internal/dashboard"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/internal/workflow"
	"orange/internal/worktree"
)

// dashboardGC makes the collector come twice as often as usual: the dashboard is open all day, and allocates
// little once it has read the tasks.
const dashboardGC = 50

const watchOverAgents = "watch over the agents"

// show opens the dashboard, and watches over the agents meanwhile where nobody else does.
// After a fault of the screen the watch goes on, until the person ends it.
func (h *house) show(ctx context.Context, project string, all bool) error {
	project, word, err := h.scope(ctx, project, all)
	if err != nil {
		return err
	}
	ctx, off := sitting(ctx)
	defer off()
	debug.SetGCPercent(dashboardGC)
	eyes := screen{h, &agents.LimitCache{}}
	d := &dashboard.Dashboard{
		Backend: dashboard.Backend{Store: eyes, Inspector: eyes, Reader: eyes, Runner: wishes{h}, Chooser: wishes{h},
			Terminal: wishes{h}, Now: time.Now},
		In: os.Stdin, Out: os.Stdout, Environ: os.Environ(), Project: project, Message: word,
	}
	d.Open(ctx)
	h.engine.Warn = d.Say
	var beside sync.WaitGroup
	var watching atomic.Bool
	beside.Go(func() {
		err := h.Person(ctx, watchOverAgents)
		if refused := (*decide.Rejection)(nil); errors.As(err, &refused) {
			d.SetWatcher("not watching: an agent opened it")
			return
		}
		if err != nil {
			d.SetWatcher("nobody watches")
			d.Fail(watchOverAgents, err)
			return
		}
		err = watchBeside(ctx, watch{
			waits: func(holder task.Watcher) {
				if found, advice := holder.Trouble(time.Now()); found != "" {
					d.SetWatcher("nobody watches")
					d.Fail(watchOverAgents, errors.New(found+"; "+advice))
					return
				}
				d.SetWatcher("watched by process " + holder.Name())
			},
			begins: func() { watching.Store(true); d.SetWatcher("watching") },
			tells:  d.Say,
		})
		watching.Store(false)
		if err != nil {
			d.SetWatcher("nobody watches")
			d.Fail(watchOverAgents, err)
		}
	})
	err = d.Run(ctx)
	var broken *dashboard.Fault
	if errors.As(err, &broken) {
		h.engine.Log.Error("the dashboard broke", "component", "dashboard", "where", broken.Where, "why",
			fmt.Sprint(broken.Why), "trace", string(broken.Trace))
		err = h.afterFault(ctx, broken, watching.Load(), talk())
	}
	off()
	beside.Wait()
	return err
}

// sitting lasts until off is called or the program is told to end. An interrupt does not end it: at the screen
// Ctrl-C is a key, and in the person's editor it is meant for that. A hangup ends it too: the terminal may
// outlive it, and must be left as it was.
func sitting(ctx context.Context) (of context.Context, off func()) {
	of, off = signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	if ctx.Err() != nil {
		off() // it was told before
	}
	return of, off
}

// scope is the project whose tasks are shown, empty for all: the one that is named, or that of the folder the
// person stands in. A repository there that is not known yet becomes a project, with a word about it.
func (h *house) scope(ctx context.Context, project string, all bool) (name, word string, err error) {
	if project != "" {
		p, err := h.home.Project(project)
		return p.Name, "", err
	}
	if _, name, err = h.Here(ctx); err != nil || name != "" || all {
		if all {
			name = ""
		}
		return name, "", err
	}
	repo, err := worktree.Inspect(ctx, ".")
	if errors.Is(err, worktree.ErrNoRepository) {
		return "", "", nil // that is no fault
	}
	var p task.Project
	if err == nil {
		err = h.Person(ctx, "make this repository a project")
	}
	if err == nil {
		p, err = h.AddProject(ctx, repo.Path, task.Project{})
	}
	if err != nil {
		return "", fmt.Sprintf("this repository is no project yet: %v", err), nil
	}
	return p.Name, fmt.Sprintf("%s is a project now: %s", p.Path, p.Name), nil
}

// afterFault is the error to end with. Where this process watches over the agents it tells at once what happened,
// and lets the watch go on until the person ends it.
func (h *house) afterFault(ctx context.Context, broken *dashboard.Fault, watching bool, out io.Writer) error {
	told := fmt.Errorf("%w\n  at %s; the whole trace is in %q", broken, broken.Location(), h.logPath())
	if !watching {
		return told
	}
	fmt.Fprintf(out, "orange: %v\n  your agents are still watched over; Ctrl-C ends that, and orange opens "+
		"the dashboard again\n", told)
	stopped, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-stopped.Done()
	return errors.New("the watch over the agents has ended too; orange opens the dashboard again")
}

// watchBeside watches from a house of its own, as another process would: it shares nothing with the screen.
func watchBeside(ctx context.Context, w watch) error {
	dir, err := homeDir()
	if err != nil {
		return err
	}
	h, err := enter(ctx, filepath.Join(dir, recordName))
	if err != nil {
		return err
	}
	return errors.Join(h.watchOver(ctx, w), h.close())
}

// screen shows the dashboard what there is.
type screen struct {
	house  *house
	limits *agents.LimitCache
}

func (s screen) First(ctx context.Context, project string, most int) ([]task.Task, error) {
	return s.house.store.List(ctx, record.Filter{Project: project, Live: true, Most: most})
}

func (s screen) All(ctx context.Context) ([]task.Task, int64, error) {
	cursor, err := s.house.store.Changed(ctx) // before the tasks: what changes while they are read is told again
	if err != nil {
		return nil, 0, err
	}
	tasks, err := s.house.store.List(ctx, record.Filter{})
	return tasks, cursor, err
}

func (s screen) Since(ctx context.Context, cursor int64) (changed []task.Task, gone []string, next int64, err error) {
	return s.house.store.TasksSince(ctx, cursor)
}

func (s screen) Rules(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	return s.house.home.Pinned(ctx, ref)
}

func (s screen) Timeouts(project string) (task.Timeouts, error) {
	return s.house.home.Timeouts(project)
}

func (s screen) Workspaces(ctx context.Context, project string) ([]record.Holding, error) {
	return s.house.pool.Workspaces(ctx, project)
}

func (s screen) Watch(ctx context.Context, changed func()) error {
	last := int64(-1)
	return s.house.record().Poll(ctx, func(context.Context) error {
		now, err := s.house.store.Changed(ctx)
		if err != nil || now == last {
			return err
		}
		last = now
		changed()
		return nil
	})
}

func (s screen) Agents(ctx context.Context, tasks []task.Task) (map[string]dashboard.Agent, error) {
	states, panes, err := s.house.agents.States(ctx, tasks)
	if err != nil {
		return nil, err
	}
	out := make(map[string]dashboard.Agent, len(states))
	for id, state := range states {
		out[id] = dashboard.Agent{State: state}
	}
	byID := make(map[string]task.Task, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	var living []tmux.Pane
	for _, p := range panes {
		one, asked := out[p.Task]
		if !asked || p.Role == "" {
			continue
		}
		if p.Activity.After(one.Active) {
			one.Active = p.Activity
			out[p.Task] = one
		}
		if !p.Dead && one.State == record.AgentAlive && s.atWork(ctx, byID[p.Task], p.Role) {
			living = append(living, p)
		}
	}
	limits, err := s.limits.Limits(ctx, s.house.agents, living, byID, time.Now())
	for _, p := range living {
		if one := out[p.Task]; limits[p.ID] != "" {
			one.Limit = limits[p.ID]
			out[p.Task] = one
		}
	}
	return out, err
}

// atWork says whether a role is the one that works in a task's status.
func (s screen) atWork(ctx context.Context, t task.Task, role string) bool {
	def, err := s.Rules(ctx, t.Workflow)
	if err != nil {
		return false // it is told where the rules are read
	}
	state, _ := def.State(t.Status)
	return state.Role == role
}

func (s screen) Work(ctx context.Context, t task.Task) (dashboard.Work, error) {
	work, err := s.house.pool.Work(ctx, t)
	if err != nil {
		return dashboard.Work{}, err
	}
	def, err := s.Rules(ctx, t.Workflow)
	if err != nil {
		return dashboard.Work{}, err
	}
	return dashboard.Work{Commits: work.Commits, Added: work.Added, Removed: work.Removed,
		Judged: s.house.looker(0).Compare(ctx, def, t)}, nil
}

func (s screen) Diff(ctx context.Context, t task.Task) (string, error) {
	return s.house.pool.Diff(ctx, t)
}

func (s screen) History(ctx context.Context, id string) ([]history.Event, error) {
	return s.house.store.Events(ctx, id, 0)
}

func (s screen) Why(ctx context.Context, id string) (decide.Explanation, error) {
	return s.house.Why(ctx, id)
}

func (s screen) Document(_ context.Context, t task.Task) (string, error) {
	text, err := s.house.files.Read(t.Project, t.ID, true)
	return string(text), err
}

func (s screen) Panes(ctx context.Context, t task.Task) ([]dashboard.Pane, error) {
	own, err := s.house.agents.Of(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var out []dashboard.Pane
	for _, p := range own {
		text, err := s.house.server.Screen(ctx, p.ID)
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

func (s screen) Log(_ context.Context, t task.Task) ([]string, error) {
	var out bytes.Buffer
	id := []byte(`"` + t.ID + `"`)
	if err := s.house.Log(func(line []byte) bool { return bytes.Contains(line, id) }, logLines, &out); err != nil {
		return nil, err
	}
	if out.Len() == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n"), nil
}
