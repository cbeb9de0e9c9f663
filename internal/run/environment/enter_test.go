package environment

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/mirror"
)

// keepsOne is a tmux that keeps an environment for the task abc and for no other. It notes each look.
const keepsOne = `#!/bin/sh
for word in "$@"; do
	case $word in
	orange-abc) echo look >>'%[1]s/calls'; printf 'KEPT=yes\0PATH=%%s' "$PATH"; exit 0 ;;
	orange-*) echo look >>'%[1]s/calls'; echo "no buffer $word" >&2; exit 1 ;;
	esac
done
`

// agents has the environments of a process that an agent of the task abc has started, and how many looks it took.
func agents(t *testing.T) (k *PerTask, looks func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "tmux")
	if err := os.WriteFile(program, fmt.Appendf(nil, keepsOne, dir), 0o755); err != nil {
		t.Fatal(err)
	}
	k = &PerTask{
		Home: dir, Locks: mirror.Files{Home: dir}, Log: slog.New(slog.DiscardHandler),
		Configure: func() error { return nil },
		Server: &tmux.Server{Getenv: os.Getenv, Program: program, Socket: "none",
			Config: filepath.Join(dir, "tmux.conf")},
	}
	if err := k.noteBearings(os.Environ()); err != nil {
		t.Fatal(err)
	}
	return k, func() int {
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(calls), "look")
	}
}

// agent is one who asks from inside of a window of the task, who has made something of their own environment.
func agent(t *testing.T, k *PerTask, id string) context.Context {
	t.Helper()
	a := NewAsker(append(os.Environ(), "AGENTS_OWN=x", "KEPT=no"))
	k.Leave(t.Context(), a, id)
	k.Leave(t.Context(), a, "other") // it counts once
	return proc.WithEnviron(t.Context(), a.Environ)
}

func wantNow(t *testing.T, ctx context.Context, looks func() int, took int, kept string) {
	t.Helper()
	if own, there := proc.LookupEnv(ctx, "AGENTS_OWN"); there {
		t.Errorf("the agent's own variable is there: %q", own)
	}
	if got := proc.Getenv(ctx, "KEPT"); got != kept || looks() != took {
		t.Errorf("KEPT is %q after %d looks, want %q after %d", got, looks(), kept, took)
	}
}

func TestAPersonHasTheirOwnEnvironment(t *testing.T) {
	t.Parallel()
	ctx := proc.WithEnviron(t.Context(), NewAsker([]string{"A=b", "ORANGE_TASK_ID=abc"}).Environ)
	if got := proc.Environment(ctx); !slices.Equal(got, []string{"A=b"}) {
		t.Errorf("found %q", got)
	}
}

// Most commands of an agent run no program: they leave its environment, and do not read another one.
func TestAnAgentHasItsTasksEnvironmentFromItsFirstProgramOn(t *testing.T) {
	t.Parallel()
	k, looks := agents(t)
	ctx := agent(t, k, "abc")
	if looks() != 0 {
		t.Error("it was read before a program needed it")
	}
	wantNow(t, ctx, looks, 1, "yes")
	wantNow(t, ctx, looks, 1, "yes")
}

func TestAnotherTask_getsWhatTheAgentsTaskHas(t *testing.T) {
	t.Parallel()
	k, looks := agents(t)
	env, err := k.Environment(agent(t, k, "abc"), task.Task{ID: "other"})
	if err != nil || harness.Value(env, "KEPT") != "yes" || looks() != 2 {
		t.Errorf("found %q after %d looks, %v", env, looks(), err)
	}
}

// What a person has set lies over the environment of a task, and is no part of what is kept of it.
func TestOf_hasWhatThePersonHasSetOverIt(t *testing.T) {
	t.Parallel()
	k, _ := agents(t)
	v := Variables{Home: k.Home, Locks: k.Locks}
	if err := os.MkdirAll(filepath.Join(k.Home, "tasks", "coffee", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	set(t, v, "", "GIVEN=every", "KEPT=given")
	set(t, v, "coffee", "GIVEN=coffee")
	ctx := proc.WithEnviron(t.Context(), k.Of(t.Context(), "abc", []string{"BASE=yes"}))
	if given, kept := proc.Getenv(ctx, "GIVEN"), proc.Getenv(ctx, "KEPT"); given != "coffee" || kept != "given" {
		t.Errorf("found GIVEN=%q, KEPT=%q", given, kept)
	}
	if own := proc.EnvironOf(ctx).Own; harness.Value(own, "GIVEN") != "" || harness.Value(own, "KEPT") != "yes" {
		t.Errorf("its own has GIVEN=%q, KEPT=%q", harness.Value(own, "GIVEN"), harness.Value(own, "KEPT"))
	}
	env, err := k.Environment(ctx, task.Task{ID: "abc", Project: "tea"})
	if err != nil || harness.Value(env, "GIVEN") != "every" || harness.Value(env, "KEPT") != "given" {
		t.Errorf("for another project: found %q, %v", env, err)
	}
	checks, err := k.OfChecks(ctx, "coffee", "abc")
	if err != nil || harness.Value(checks, "GIVEN") != "coffee" {
		t.Errorf("for checks: found %q, %v", checks, err)
	}
	none := proc.WithEnviron(t.Context(), k.Of(t.Context(), "xyz", []string{"BASE=yes"}))
	if proc.Getenv(none, "BASE") != "yes" {
		t.Errorf("where none is kept: %q", proc.Environment(none))
	}
}

// An agent that does not say of which task it is has the bearings, and the log has no word about it.
func TestAnAgentOfNoTask_hasTheBearingsAlone(t *testing.T) {
	t.Parallel()
	k, looks := agents(t)
	var said bytes.Buffer
	k.Log = slog.New(slog.NewTextHandler(&said, nil))
	wantNow(t, agent(t, k, ""), looks, 0, "")
	if said.Len() > 0 {
		t.Errorf("the log says %s", &said)
	}
}

// A monitor that runs for weeks has what is set now.
func TestOfHome_hasWhatIsSetForEveryProjectNow(t *testing.T) {
	t.Parallel()
	k, _ := agents(t)
	ctx := proc.WithEnviron(t.Context(), k.OfHome([]string{"GIVEN=of the shell"}))
	v := Variables{Home: k.Home, Locks: k.Locks}
	for _, want := range []string{"of the shell", "one", "two", "of the shell"} {
		var err error
		switch want {
		case "one", "two":
			err = v.Set(t.Context(), "", []string{"GIVEN=" + want})
		default:
			if all, _ := v.List(); len(all) > 0 {
				err = v.Unset(t.Context(), "", []string{"GIVEN"})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := proc.Getenv(ctx, "GIVEN"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

func TestEnvironment_failsWhereThePersonsVariablesAreUnreadable(t *testing.T) {
	k, _ := agents(t)
	if err := os.WriteFile(filepath.Join(k.Home, "env.json"), []byte("[\n7]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Environment(t.Context(), task.Task{ID: "abc"}); err == nil ||
		!strings.Contains(err.Error(), "env.json:2: ") {
		t.Errorf("found %v", err)
	}
	if _, err := k.OfChecks(t.Context(), "", ""); err == nil {
		t.Error("a check would run without them")
	}
}

// Where the terminal server is, an agent does not say: neither its PATH nor its TMUX_TMPDIR counts.
func TestTheTerminalServerIsFoundByTheBearings(t *testing.T) {
	t.Parallel()
	k, looks := agents(t)
	a := NewAsker([]string{"PATH=/agents", "TMUX_TMPDIR=/agents", "ORANGE_HOME=/h"})
	if a.Getenv("PATH") != "/agents" {
		t.Error("a person's own PATH does not count")
	}
	k.Leave(t.Context(), a, "abc")
	if a.Getenv("PATH") != os.Getenv("PATH") || a.Getenv("TMUX_TMPDIR") == "/agents" ||
		a.Getenv("ORANGE_HOME") != "/h" {
		t.Errorf("found PATH=%q, TMUX_TMPDIR=%q", a.Getenv("PATH"), a.Getenv("TMUX_TMPDIR"))
	}
	if env := a.ForRunner("abc"); harness.Value(env, "KEPT") != "" || looks() != 0 {
		t.Errorf("a runner of its own task is started with %q, after %d looks", env, looks())
	}
	if env := a.ForRunner("other"); harness.Value(env, "KEPT") != "yes" {
		t.Errorf("a runner of another task is started with %q", env)
	}
}
