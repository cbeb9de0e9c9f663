package environment

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
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
		Server:    &tmux.Server{Program: program, Socket: "none", Config: filepath.Join(dir, "tmux.conf")},
	}
	for _, pair := range os.Environ() { // they come back when the test is over
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	if err := k.noteBearings(os.Environ()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENTS_OWN", "x")
	t.Setenv("KEPT", "")
	return k, func() int {
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(calls), "look")
	}
}

func wantNow(t *testing.T, looks func() int, took int, kept string) {
	t.Helper()
	if own, there := os.LookupEnv("AGENTS_OWN"); there {
		t.Errorf("the agent's own variable is there: %q", own)
	}
	if got := os.Getenv("KEPT"); got != kept || looks() != took {
		t.Errorf("KEPT is %q after %d looks, want %q after %d", got, looks(), kept, took)
	}
}

// Most commands of an agent run no program: they leave its environment, and do not read another one.
func TestACommandOfAnAgent_entersItsTasksEnvironmentBeforeItsFirstProgram(t *testing.T) {
	k, looks := agents(t)
	k.LeaveAgents("abc")
	wantNow(t, looks, 0, "")
	k.EnterNow(t.Context())
	wantNow(t, looks, 1, "yes")
	k.EnterNow(t.Context())
	wantNow(t, looks, 1, "yes")
}

func TestARunner_readsTheEnvironmentOfItsTaskOnce(t *testing.T) {
	k, looks := agents(t)
	k.LeaveAgents("abc")
	if _, err := k.Environment(t.Context(), task.Task{ID: "abc"}); err != nil {
		t.Fatal(err)
	}
	k.EnterNow(t.Context())
	wantNow(t, looks, 1, "yes")
}

func TestAnotherTask_getsWhatTheAgentsTaskHas(t *testing.T) {
	k, looks := agents(t)
	k.LeaveAgents("abc")
	if _, err := k.Environment(t.Context(), task.Task{ID: "other"}); err != nil {
		t.Fatal(err)
	}
	wantNow(t, looks, 2, "yes")
}

// A runner of another task keeps for it what it was started with, where nothing is kept yet.
func TestARunnerOfAnotherTask_startsFromTheEnvironmentOfTheAgentsTask(t *testing.T) {
	k, looks := agents(t)
	k.LeaveAgents("abc")
	k.EnterFor(t.Context(), "abc")
	wantNow(t, looks, 0, "")
	k.EnterFor(t.Context(), "other")
	wantNow(t, looks, 1, "yes")
}

// What a person has set lies over the environment that a process enters, and is no part of what is kept of it.
func TestEnter_laysWhatThePersonHasSetOverIt(t *testing.T) {
	k, _ := agents(t)
	v := Variables{Home: k.Home, Locks: k.Locks}
	if err := os.MkdirAll(filepath.Join(k.Home, "tasks", "coffee", "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	set(t, v, "", "GIVEN=every", "KEPT=given")
	set(t, v, "coffee", "GIVEN=coffee")
	k.Enter(t.Context(), "abc")
	if os.Getenv("GIVEN") != "coffee" || os.Getenv("KEPT") != "given" {
		t.Errorf("found GIVEN=%q, KEPT=%q", os.Getenv("GIVEN"), os.Getenv("KEPT"))
	}
	if own := k.Own(); harness.Value(own, "GIVEN") != "" || harness.Value(own, "KEPT") != "yes" {
		t.Errorf("its own has GIVEN=%q, KEPT=%q", harness.Value(own, "GIVEN"), harness.Value(own, "KEPT"))
	}
	env, err := k.Environment(t.Context(), task.Task{ID: "abc", Project: "tea"})
	if err != nil || harness.Value(env, "GIVEN") != "every" || harness.Value(env, "KEPT") != "given" {
		t.Errorf("for another project: found %q, %v", env, err)
	}
	checks, err := k.OfChecks("coffee", "abc")
	if err != nil || harness.Value(checks, "GIVEN") != "coffee" {
		t.Errorf("for checks: found %q, %v", checks, err)
	}
	set(t, v, "coffee", "GIVEN=later")
	if err := v.Unset(t.Context(), "", []string{"KEPT"}); err != nil {
		t.Fatal(err)
	}
	k.Enter(t.Context(), "abc")
	if os.Getenv("GIVEN") != "later" || os.Getenv("KEPT") != "yes" {
		t.Errorf("afterwards it found GIVEN=%q, KEPT=%q", os.Getenv("GIVEN"), os.Getenv("KEPT"))
	}
}

// A monitor that runs for weeks has what is set now.
func TestEnterHome_hasWhatIsSetForEveryProjectNow(t *testing.T) {
	k, _ := agents(t)
	t.Setenv("GIVEN", "of the shell")
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
		k.EnterHome(t.Context())
		if got := os.Getenv("GIVEN"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

func TestEnvironment_isAnErrorWhereWhatThePersonHasSetCannotBeRead(t *testing.T) {
	k, _ := agents(t)
	if err := os.WriteFile(filepath.Join(k.Home, "env.json"), []byte("[\n7]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Environment(t.Context(), task.Task{ID: "abc"}); err == nil ||
		!strings.Contains(err.Error(), "env.json:2: ") {
		t.Errorf("found %v", err)
	}
	if _, err := k.OfChecks("", ""); err == nil {
		t.Error("a check would run without them")
	}
}
