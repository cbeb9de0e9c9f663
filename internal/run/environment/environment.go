// Package environment keeps, for each task, the environment that its agents, checks and hooks run in.
//
// It is that of the person who started the task, and it is kept in the memory of the terminal server under the
// task's id: in no file and in no argument. What an agent asks for runs in it, and never in what the agent made of its
// own.
//
// Over it lie the variables that a person has set for all tasks or for those of a project, which outlive the terminal
// server in a file. They are read when a program starts, and never kept with an environment: so one that is changed or
// unset is so for the next program.
package environment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orange/internal/rules/envfilter"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

// locker has the locks that all processes of a home share.
type locker interface {
	Lock(ctx context.Context, name string) (release func(), err error)
}

// PerTask keeps an environment for each task of a home.
type PerTask struct {
	Home      string // $ORANGE_HOME
	Server    *tmux.Server
	Configure func() error // writes the configuration of the terminal server
	Locks     locker
	Log       *slog.Logger
}

func (k *PerTask) variables() Variables { return Variables{Home: k.Home} }

// Keep keeps the environment of the one who asks for a task.
func (k *PerTask) Keep(ctx context.Context, id string) error {
	release, err := k.Locks.Lock(ctx, lockOf(id))
	if err != nil {
		return err
	}
	defer release()
	return k.keep(ctx, id)
}

// lockOf is the name of the lock under which a process keeps an environment for a task, or first checks whether one
// is kept.
func lockOf(id string) string { return id + ".environment" }

func (k *PerTask) keep(ctx context.Context, id string) error {
	own := proc.EnvironOf(ctx).Own
	if err := k.Configure(); err != nil {
		return err
	}
	if err := k.noteBearings(own); err != nil {
		return err
	}
	return k.Server.Keep(ctx, id, []byte(strings.Join(own, "\x00")))
}

// Give sets variables for the programs of one task alone, each given as NAME=VALUE, or as NAME for the value that it
// has in this process.
func (k *PerTask) Give(ctx context.Context, id string, words []string) error {
	return Variables{Home: k.Home, Locks: k.Locks}.Task(id).Set(ctx, "", words)
}

// Forget forgets the variables of a task that is gone.
func (k *PerTask) Forget(ctx context.Context, id string) error {
	return Variables{Home: k.Home, Locks: k.Locks}.Drop(ctx, id)
}

// Drop forgets the environment of a task.
func (k *PerTask) Drop(ctx context.Context, id string) error { return k.Server.Drop(ctx, id) }

// Kept is the environment that a terminal server keeps for a task; nil where it keeps none. An earlier Orange may have
// kept it from inside a hook of git.
func Kept(ctx context.Context, server *tmux.Server, id string) ([]string, error) {
	text, err := server.Kept(ctx, id)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return envfilter.WithoutTask(strings.Split(string(text), "\x00")), nil
}

// Environment is what a task's programs run in. Where none is kept, after a reboot above all, it is that of the one who
// asks; a task with a workspace has it from then on. No other process keeps one between the look and the keeping: a
// person's would be lost.
func (k *PerTask) Environment(ctx context.Context, t task.Task) ([]string, error) {
	release, err := k.Locks.Lock(ctx, lockOf(t.ID))
	if err != nil {
		return nil, err
	}
	defer release()
	base, err := Kept(ctx, k.Server, t.ID)
	if err != nil {
		return nil, fmt.Errorf("look for the environment of task %s: %w", t.ID, err)
	}
	given, err := k.variables().For(t.Project, t.ID)
	if err != nil {
		return nil, err
	}
	if base == nil {
		base = proc.EnvironOf(ctx).Own
		if t.Workspace != "" {
			if err := k.keep(ctx, t.ID); err != nil {
				return nil, err
			}
		}
	}
	return harness.Layer(base, given), nil
}

// Of is the environment that is kept for a task, for what is done in its name; base where none is kept, or where the
// id is empty because an agent does not say of which task it is. It is read before the first program that gets it,
// once: most commands of agents run none, and reading it takes a program too.
func (k *PerTask) Of(ctx context.Context, id string, base []string) func() proc.Environ {
	ctx = proc.WithEnviron(context.WithoutCancel(ctx), func() proc.Environ { return proc.Environ{Own: base} })
	return sync.OnceValue(func() proc.Environ {
		var kept []string
		var err error
		if id != "" {
			kept, err = Kept(ctx, k.Server, id)
		}
		if err != nil {
			k.warn("the environment of a task could not be looked at", id, err)
		}
		project, err := k.projectOf(id)
		var given []string
		if err == nil {
			given, err = k.variables().For(project, id)
		}
		if err != nil {
			k.warn("the variables of a task could not be looked at", id, err)
		}
		if kept == nil {
			return proc.Environ{Own: base, Given: given}
		}
		return proc.Environ{Own: over(kept, base), Given: given}
	})
}

func (k *PerTask) warn(what, id string, err error) {
	k.Log.Warn(what, "component", "app", "task", id, "error", err.Error())
}

// OfHome is the environment for what is done for no one task: own, and over it what the person has set for every
// project, as it is at each program. A monitor runs for weeks, and asks for pull requests with a key that may be set
// meanwhile.
func (k *PerTask) OfHome(own []string) func() proc.Environ {
	var lock sync.Mutex
	var given []string
	trouble := ""
	return func() proc.Environ {
		lock.Lock()
		defer lock.Unlock()
		now, err := k.variables().Of("")
		switch {
		case err == nil:
			given, trouble = now, ""
		case trouble != err.Error(): // it is looked at again and again
			trouble = err.Error()
			k.Log.Warn("the variables of every project could not be looked at", "component", "monitor", "error",
				trouble)
		}
		return proc.Environ{Own: own, Given: given}
	}
}

// Asker has the environment of the one who asks. A person's is what they have. An agent's is left as soon as it is
// known that an agent asks.
type Asker struct {
	lock   sync.Mutex
	own    []string            // what they were started with; of an agent that was left the bearings
	task   string              // of an agent that was left
	inside func() proc.Environ // nil as long as own counts
}

// NewAsker is someone of whom it is not known yet who they are. Own is what they were started with.
func NewAsker(own []string) *Asker { return &Asker{own: own} }

// Environ is what programs get that are started for the one who asks.
func (a *Asker) Environ() proc.Environ {
	own, inside := a.now()
	if inside != nil {
		return inside()
	}
	return proc.Environ{Own: own}
}

func (a *Asker) now() (own []string, inside func() proc.Environ) {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.own, a.inside
}

// Getenv is a variable by which the terminal server is found, before what it keeps for a task is known.
func (a *Asker) Getenv(name string) string {
	own, _ := a.now()
	return harness.Value(own, name)
}

// ForRunner is what a runner for a task is started with. One for the agent's own task reads what is kept by itself.
func (a *Asker) ForRunner(id string) []string {
	a.lock.Lock()
	own, same := a.own, a.task == id
	a.lock.Unlock()
	if same {
		return envfilter.WithoutTask(own)
	}
	return envfilter.WithoutTask(a.Environ().Own)
}

// Leave leaves the environment of an agent, once: for that of the agent's task, or, where none is kept or the terminal
// server cannot be reached, for the bearings alone. Even the path to the server is not taken from what the agent says.
func (k *PerTask) Leave(ctx context.Context, a *Asker, id string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.inside != nil {
		return
	}
	bearings, err := Bearings(k.Home)
	if err != nil {
		k.Log.Warn("the bearings could not be read", "component", "app", "error", err.Error())
	}
	if len(bearings) > 0 { // else nothing was started from this home yet, and so no agent
		a.own, a.task = over(bearings, a.own), id
		a.inside = k.Of(ctx, id, a.own)
	}
}

// projectOf is the project of a task, as its folder tells; empty where it has none.
func (k *PerTask) projectOf(id string) (string, error) {
	if id != filepath.Base(id) || !filepath.IsLocal(id) {
		return "", nil
	}
	tasks := filepath.Join(k.Home, "tasks")
	found, err := os.ReadDir(tasks)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the folder of task %s: %w", id, err)
	}
	for _, dir := range found {
		if _, err := os.Lstat(filepath.Join(tasks, dir.Name(), id)); err == nil {
			return dir.Name(), nil
		}
	}
	return "", nil
}

// ErrNoBearings says that a home has none.
var ErrNoBearings = errors.New("no person has started a task at this home")

// OwnBearings are the bearings of a home with what says how its monitor works, of own: what it does is for no one task.
func OwnBearings(home string, own []string) ([]string, error) {
	bearings, err := Bearings(home)
	if err == nil && len(bearings) == 0 {
		err = ErrNoBearings
	}
	if err != nil {
		return nil, fmt.Errorf("cannot run in the bearings of the home: %w", err)
	}
	return over(bearings, own), nil
}

// OfChecks is what a check of a project's task runs in that this process performs.
func (k *PerTask) OfChecks(ctx context.Context, project, id string) ([]string, error) {
	given, err := k.variables().For(project, id)
	return harness.Layer(proc.EnvironOf(ctx).Own, given), err
}

// over is an environment with what Orange has set in own, and what describes the terminal there.
func over(env, own []string) []string {
	stays := func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "ORANGE_") && name != harness.MaskVariable || harness.OfTerminal(name)
	}
	out := slices.DeleteFunc(slices.Clone(env), stays)
	for _, pair := range own {
		if stays(pair) {
			out = append(out, pair)
		}
	}
	return out
}

// bearingNames are the variables by which programs, their settings and the terminal server are found. Their
// values are no secrets.
func bearingNames() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TMUX_TMPDIR",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
	}
}

// BearingsIn are the variables of an environment by which programs, their settings and the terminal server are found.
func BearingsIn(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return !slices.Contains(bearingNames(), name)
	})
}

func bearingsFile(home string) string { return filepath.Join(home, "bearings.json") }

// noteBearings notes the bearings of an environment that is kept for some task.
func (k *PerTask) noteBearings(env []string) error {
	text, err := json.MarshalIndent(BearingsIn(env), "", "  ")
	if err != nil {
		return fmt.Errorf("note how programs are found: %w", err)
	}
	text = append(text, '\n')
	if have, err := proc.ReadFile(bearingsFile(k.Home)); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := proc.ReplaceFile(bearingsFile(k.Home), text); err != nil {
		return fmt.Errorf("note how programs are found: %w", err)
	}
	return nil
}

// Bearings are the variables by which programs, their settings and the terminal server of a home are found, as they
// were when a person last started a task; nil where none did.
func Bearings(home string) ([]string, error) {
	text, err := proc.ReadFile(bearingsFile(home))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("read %q: %w", bearingsFile(home), err)
	}
	return found, nil
}
