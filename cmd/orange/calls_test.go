package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// What the life of a task costs today, in programs that Orange itself starts: it is created, planned, reviewed twice
// and merged. Lower a number when it gets cheaper. A feature that needs more of them names itself here.
const (
	// Of a merge one asks whether commits would go to origin with it, one for filters of its files. Each look at the
	// worktree needs six more than git's own status: Orange makes an index of its own, hashes objects, and lists new
	// files whatever new .gitignore files say. A release lists what git ignores, to tell the next task, and its
	// submodules: git says nothing of files in the place of one.
	// A new task asks whether there is room for its branch. The first task of a repository has Orange
	// read what all its worktrees share, before and after its own settings are made. A
	// start asks how commits are signed.
	gitOfALife  = 66
	tmuxOfALife = 27 // two for a person's waits, which tell how the agent's screen is, also at once
)

// noteCalls notes who calls a program, and with what, before it becomes that program.
const noteCalls = `#!/bin/sh
read caller </proc/$PPID/comm
echo "$caller: %[1]s $*" >>'%[3]s'
exec '%[2]s' "$@"
`

// shims puts programs first on PATH that note their calls in the file CALLS.
func shims(env *testscript.Env, names ...string) error {
	dir, noted := filepath.Join(env.WorkDir, "shims"), filepath.Join(env.WorkDir, "calls")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		text := fmt.Appendf(nil, noteCalls, name, program, noted)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			return err
		}
	}
	env.Setenv("CALLS", noted)
	env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
	return nil
}

// aLife plays the life of a task and answers Orange's own calls in order. certain is false where the first review was
// over before the worker waited: then Orange types into the worker's window, which costs more.
func aLife(t *testing.T) (calls []string, certain bool) {
	t.Helper()
	agent, err := filepath.Abs("../../demo/agent")
	if err != nil {
		t.Fatal(err)
	}
	counted := filepath.Join(t.TempDir(), "counted")
	t.Run("life", func(t *testing.T) { // it is over when the story is
		testscript.Run(t, testscript.Params{
			Files:               []string{"testdata/calls/life.txtar"},
			RequireExplicitExec: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("COUNTED", counted)
				return errors.Join(setUp(env, agent), shims(env, "git", "tmux"))
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"keep": keep, "quiet": quiet, "repo": makeRepo, "harness": makeHarness,
			},
		})
	})
	text, err := os.ReadFile(counted)
	if err != nil {
		t.Fatal(err)
	}
	history, err := os.ReadFile(counted + ".history")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if call, own := strings.CutPrefix(line, "orange: "); own {
			calls = append(calls, strings.TrimSpace(call))
		}
	}
	return calls, strings.Contains(string(history), `"how":"wait"`)
}

// Each program that is started costs milliseconds, in each life of each task. A busy machine may make one life cost
// more: Orange looks again where tmux has not heard yet how a program ended, and a process that comes late drops once
// more what was kept. So no other story runs at the same time.
func TestALifeCostsFewCalls(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("who calls a program is read from /proc")
	}
	said := ""
	for range 5 {
		calls, certain := aLife(t)
		if !certain {
			said = "the worker never waited in time"
			continue
		}
		if said = tooMany(calls, "git", gitOfALife) + tooMany(calls, "tmux", tmuxOfALife); said == "" {
			return
		}
	}
	t.Error(said)
}

// tooMany lists the calls of a program, where these are more than they may be, or none at all.
func tooMany(calls []string, program string, most int) string {
	var own []string
	for _, call := range calls {
		if strings.HasPrefix(call, program+" ") {
			own = append(own, call)
		}
	}
	if len(own) > 0 && len(own) <= most {
		return ""
	}
	return fmt.Sprintf("%s was called %d times, at most %d are expected:\n%s\n", program, len(own), most,
		strings.Join(own, "\n"))
}
