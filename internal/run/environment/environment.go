// Package environment keeps, for each task, the environment that its agents, checks and hooks run in.
//
// It is that of the person who started the task, and it is kept in the memory of the terminal server under the
// task's id: in no file and in no argument. A process of an agent leaves its own environment before it does
// anything, so that what it starts never runs in what the agent made of it.
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

	left sync.Once // the environment of the agent that started this process

	entering sync.Mutex
	due      string   // the task whose environment this process enters before it runs its first program
	plain    []string // the environment of this process without given; nil where it is that of the process
	given    []string // what the person has set, which lies over plain now
	trouble  string   // why that could not be read when it was looked at last
}

func (k *PerTask) variables() Variables { return Variables{Home: k.Home} }

// Keep keeps the environment of this process for a task.
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
	own := k.Own()
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

// Environment is what a task's programs run in. Where none is kept, after a reboot above all, it is that of this
// process, which is a person's or the service's; a task with a workspace has it from then on. No other process
// keeps one between the look and the keeping: a person's would be lost.
func (k *PerTask) Environment(ctx context.Context, t task.Task) ([]string, error) {
	k.EnterFor(ctx, t.ID)
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
	k.entering.Lock()
	if k.due == t.ID { // it has been read now, and need not be read again
		k.due = ""
		k.enter(base, given)
	}
	k.entering.Unlock()
	if base == nil {
		base = k.Own()
		if t.Workspace != "" {
			if err := k.keep(ctx, t.ID); err != nil {
				return nil, err
			}
		}
	}
	return harness.Layer(base, given), nil
}

// Own is the environment of this process, without what the person has set for tasks and without what marks an agent.
func (k *PerTask) Own() []string {
	k.entering.Lock()
	defer k.entering.Unlock()
	if k.plain != nil {
		return envfilter.WithoutTask(k.plain)
	}
	return proc.Environment()
}

// enter gives this process an environment, or leaves it its own where there is none, and lays over it what the person
// has set.
func (k *PerTask) enter(base, given []string) {
	if base == nil {
		base = k.plain
	}
	if base != nil {
		become(base)
	}
	k.plain, k.given = os.Environ(), given
	for _, pair := range given {
		name, value, _ := strings.Cut(pair, "=")
		_ = os.Setenv(name, value) // it fails for no name that can be set for tasks
	}
}

// Enter makes the environment that is kept for a task that of this process, so that every program that it starts
// finds what the task's programs find. Where none is kept the process has its own.
func (k *PerTask) Enter(ctx context.Context, id string) {
	k.entering.Lock()
	defer k.entering.Unlock()
	k.enterKept(ctx, id)
}

func (k *PerTask) enterKept(ctx context.Context, id string) {
	kept, err := Kept(ctx, k.Server, id)
	if err != nil {
		k.Log.Warn("the environment of a task could not be looked at", "component", "app", "task",
			id, "error", err.Error())
	}
	project, err := k.projectOf(id)
	var given []string
	if err == nil {
		given, err = k.variables().For(project, id)
	}
	if err != nil {
		k.Log.Warn("the variables of a task could not be looked at", "component", "app", "task", id, "error",
			err.Error())
	}
	k.enter(kept, given)
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

// EnterHome lays over the environment of this process what the person has set for every project, as it is now: a
// monitor runs for weeks, and asks for pull requests with a key that may be set meanwhile.
func (k *PerTask) EnterHome(context.Context) {
	k.entering.Lock()
	defer k.entering.Unlock()
	given, err := k.variables().Of("")
	if err != nil {
		if k.trouble != err.Error() { // it is looked at again and again
			k.Log.Warn("the variables of every project could not be looked at", "component", "monitor", "error",
				err.Error())
		}
		k.trouble = err.Error()
		return
	}
	k.trouble = ""
	if !slices.Equal(k.given, given) {
		k.enter(nil, given)
	}
}

// EnterLater has this process enter the environment of a task before it runs its first program: most commands of
// agents run none, and reading what is kept takes a program too.
func (k *PerTask) EnterLater(id string) {
	k.entering.Lock()
	defer k.entering.Unlock()
	k.due = id
}

// EnterNow enters the environment that EnterLater put off. Every program that this process starts for a task comes
// after it.
func (k *PerTask) EnterNow(ctx context.Context) {
	k.entering.Lock()
	defer k.entering.Unlock()
	if k.due == "" {
		return
	}
	id := k.due
	k.due = ""
	k.enterKept(context.WithoutCancel(ctx), id) // the next program runs in it too
}

// EnterFor is EnterNow before something is done for a task that has no environment of its own yet and gets that of
// this process. For the very task whose environment is put off it does nothing: that one is read there.
func (k *PerTask) EnterFor(ctx context.Context, id string) {
	k.entering.Lock()
	same := k.due == id
	k.entering.Unlock()
	if !same {
		k.EnterNow(ctx)
	}
}

// LeaveAgents leaves the environment of the agent that started this process, once: for that of the agent's task,
// or, where none is kept or the terminal server cannot be reached, for the bearings alone. Even the path to the
// server is not taken from what the agent says. It has the bearings at once and enters the rest later.
func (k *PerTask) LeaveAgents(id string) {
	k.left.Do(func() {
		bearings, err := Bearings(k.Home)
		if err != nil {
			k.Log.Warn("the bearings could not be read", "component", "app", "error", err.Error())
		}
		if len(bearings) == 0 {
			return // nothing was started from this home yet, and so no agent
		}
		become(bearings)
		k.EnterLater(id)
	})
}

// EnterBearings has this process leave the environment that it was started in for the bearings of the home: what it
// does is for no one task.
func (k *PerTask) EnterBearings() error {
	bearings, err := Bearings(k.Home)
	if err == nil && len(bearings) == 0 {
		err = errors.New("no person has started a task at this home")
	}
	if err != nil {
		return fmt.Errorf("cannot run in the bearings of the home: %w", err)
	}
	become(bearings)
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "ORANGE_") && !slices.Contains([]string{"ORANGE_HOME", "ORANGE_LOG_LEVEL",
			harness.WatchVariable}, name) {
			_ = os.Unsetenv(name) // it fails for no name that the environment gave
		}
	}
	return nil
}

// OfChecks is what a check of a project's task runs in that this process performs.
func (k *PerTask) OfChecks(project, id string) ([]string, error) {
	k.EnterNow(context.Background())
	given, err := k.variables().For(project, id)
	return harness.Layer(k.Own(), given), err
}

// become gives this process another environment. What Orange set for it, and what describes its terminal, stays.
func become(env []string) {
	wanted := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !stays(name) {
			wanted[name] = value
		}
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, have := wanted[name]; !have && !stays(name) {
			_ = os.Unsetenv(name) // it fails for no name that the environment gave
		}
	}
	for name, value := range wanted { // the order does not matter
		_ = os.Setenv(name, value) // it fails for no name that an environment had
	}
}

func stays(name string) bool { return strings.HasPrefix(name, "ORANGE_") || harness.OfTerminal(name) }

// bearingNames are the variables by which programs, their settings and the terminal server are found. Their
// values are no secrets.
func bearingNames() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TMUX_TMPDIR",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
	}
}

func bearingsFile(home string) string { return filepath.Join(home, "bearings.json") }

// noteBearings notes the bearings of an environment that is kept for some task.
func (k *PerTask) noteBearings(env []string) error {
	found := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return !slices.Contains(bearingNames(), name)
	})
	text, err := json.MarshalIndent(found, "", "  ")
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
