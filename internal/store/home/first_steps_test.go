package home_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"orange/internal/rules/task"
	"orange/internal/store/home"
	"orange/workflows"
)

func TestTheFirstStepsFitWhereOneIs(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	bin := t.TempDir()
	if err := os.Symlink(git, bin+"/git"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Chdir(t.TempDir())
	one := &home.Home{Dir: t.TempDir(), Workflows: workflows.Files, Usual: workflows.Usual, Harnesses: fstest.MapFS{
		"talker.yml": {Data: []byte("name: talker\nprogram: talker\nworker: {command: [talker]}\n")},
		"walker.yml": {Data: []byte("name: walker\nprogram: walker\nworker: {command: [walker]}\n")},
	}}
	says := func(want, wantNone string) {
		t.Helper()
		lines, none, err := one.FirstSteps(t.Context(), "f5")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(none, wantNone) || wantNone == "" && none != "" {
			t.Errorf("no task can be created because %q, want %q", none, wantNone)
		}
		if len(lines) != 3 || !strings.Contains(lines[0], want) {
			t.Errorf("the steps are %q, want three with %q in the first", lines, want)
		}
	}
	run := func(words ...string) {
		t.Helper()
		if out, err := exec.Command(git, words...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", words, err, out)
		}
	}
	says("is in no git repository", "orange project add PATH")
	run("init", "--quiet", "--initial-branch=main")
	says("has no commit yet", "git commit --allow-empty")
	run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=first")
	says("No agent program is on your PATH", "")
	if info, err := os.Stat(one.Dir + "/harnesses"); err != nil || !info.IsDir() {
		t.Errorf("the folder that the steps name is not there: %v", err)
	}
	if err := os.WriteFile(bin+"/walker", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	says("There are no tasks yet. Press f5 to create one", "")
	takes := func(want string) {
		t.Helper()
		if n, err := one.Fill(task.New{}, os.Getenv("PATH")); err != nil || n.Harness != want {
			t.Errorf("a task gets the harness %q, %v; want %q, whose program is there", n.Harness, err, want)
		}
	}
	takes("walker")
	own := "name: mine\nworker: {command: [walker]}\n"
	if err := os.WriteFile(one.Dir+"/harnesses/mine.yml", []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	takes("mine")

	// What is not there is refused before a task is made that would need it, and Orange says what is there.
	start := task.New{Harness: "talker", Spawn: true}
	_, err = one.Fill(start, os.Getenv("PATH"))
	for _, want := range []string{`the harness "talker"`, `"talker" is not on PATH`, "found mine", "--harness"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q in it", err, want)
		}
	}
	for name, n := range map[string]task.New{
		"not started":           {Harness: "talker"},
		"a PATH of its own":     {Harness: "talker", Spawn: true, Variables: []string{"PATH=/elsewhere"}},
		"it is there":           {Harness: "mine", Spawn: true},
		"no reviewer is needed": {Harness: "mine", ReviewHarness: "talker", Workflow: "minimal", Spawn: true},
	} {
		if _, err := one.Fill(n, os.Getenv("PATH")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	start = task.New{Harness: "mine", ReviewHarness: "talker", Spawn: true}
	_, err = one.Fill(start, os.Getenv("PATH"))
	if err == nil || !strings.Contains(err.Error(), "start the reviewer") {
		t.Errorf("of a reviewer it says %v", err)
	}
}
