package proc_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/envfilter"
	"orange/internal/run/proc"
)

// What git lists as belonging to one repository is known, whatever version of git is here.
func TestNothingThatGitListsAsARepositorysOwn_goesOn(t *testing.T) {
	t.Parallel()
	listed, err := proc.Run(t.Context(), proc.Command{Name: "git", Args: []string{"rev-parse", "--local-env-vars"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(listed.Text()) {
		if !envfilter.Leads(name) {
			t.Errorf("%s leads git to a repository, and goes on", name)
		}
	}
}

// Git itself says what it hands to the programs that it starts: each of them has what the person's shell has.
func TestAProgramThatGitStarted_handsOnWhatThePersonsShellHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	noted := filepath.Join(dir, "noted")
	note := filepath.Join(dir, "note")
	if err := os.WriteFile(note, []byte("#!/bin/sh\nenv -0 >'"+noted+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	person := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "LANG=C"}
	run := func(in string, args ...string) {
		t.Helper()
		// env gives git exactly this, past what Orange adds
		argv := append(append([]string{"-i"}, person...), append([]string{"git"}, args...)...)
		_, err := proc.Run(context.WithoutCancel(t.Context()), proc.Command{Name: "env", Args: argv, Dir: in})
		if err != nil {
			t.Fatal(err)
		}
	}
	run(dir, "config", "--global", "user.name", "A")
	run(dir, "config", "--global", "user.email", "a@localhost")
	run(dir, "config", "--global", "alias.note", "!"+note)
	run(dir, "init", "-q", "--bare", "origin")
	run(dir, "init", "-q", "main")
	main, linked := filepath.Join(dir, "main"), filepath.Join(dir, "linked")
	run(main, "commit", "-q", "--allow-empty", "-m", "one")
	run(main, "commit", "-q", "--allow-empty", "-m", "two")
	run(main, "worktree", "add", "-q", linked)
	const committed, pushes, receives = "main/.git/hooks/post-commit", "main/.git/hooks/pre-push",
		"origin/hooks/pre-receive"
	for _, hook := range []string{committed, pushes, receives} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, hook)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		in, hook string
		args     []string
	}{
		{main, committed, []string{"commit", "-q", "--allow-empty", "-m", "x", "--author=O <o@o>",
			"--date=2020-01-01T00:00:00"}},
		{linked, committed, []string{"-c", "core.editor=true", "commit", "-q", "--allow-empty", "-m",
			"y"}},
		{main, "", []string{"rebase", "-q", "--exec", note, "HEAD~1"}},
		{main, "", []string{"-c", "a.b=c", "note"}},
		{main, "", []string{"--no-replace-objects", "--literal-pathspecs", "--namespace=x", "note"}},
		{main, pushes, []string{"push", "-q", "../origin", "HEAD:refs/heads/a"}},
		{main, receives, []string{"push", "-q", "../origin", "HEAD:refs/heads/b"}},
	} {
		if c.hook != "" {
			if err := os.Symlink(note, filepath.Join(dir, c.hook)); err != nil {
				t.Fatal(err)
			}
		}
		run(c.in, c.args...)
		text, err := os.ReadFile(noted)
		if err != nil {
			t.Fatalf("%q started nothing: %v", c.args, err)
		}
		had := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		got := slices.DeleteFunc(envfilter.Without(had), func(pair string) bool { // the shell's own
			return strings.HasPrefix(pair, "PWD=") || strings.HasPrefix(pair, "OLDPWD=") ||
				strings.HasPrefix(pair, "SHLVL=") || strings.HasPrefix(pair, "_=")
		})
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(person)); !slices.Equal(got, want) || len(had) <= len(want) {
			t.Errorf("git %q started a program with %q\nof which %q goes on, want %q", c.args, had, got, want)
		}
		if err := os.Remove(noted); err != nil {
			t.Fatal(err)
		}
		if c.hook != "" {
			if err := os.Remove(filepath.Join(dir, c.hook)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// All ways to start a program give it the same.
func TestEachWayToStartAProgram_leavesOutWhatLeadsElsewhere(t *testing.T) {
	for _, pair := range []string{"GIT_DIR=/elsewhere", "GIT_INDEX_FILE=/elsewhere/index", "TMUX=/x,1,0",
		"ORANGE_SEAT=s", "GIT_NO_REPLACE_OBJECTS=0", "A=b"} {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	c := proc.Command{Name: "/bin/sh", Args: []string{"-c", "env >said.part; mv said.part said"}, Dir: dir}
	whole := c
	whole.Base = append(os.Environ(), "OWN=1")
	for name, start := range map[string]func(proc.Command) error{
		"Run": func(c proc.Command) error { _, err := proc.Run(t.Context(), c); return err },
		"RunLimited": func(c proc.Command) error {
			_, err := proc.RunLimited(t.Context(), c, proc.Limits{Output: 1})
			return err
		},
		"Lines": func(c proc.Command) error {
			return proc.Lines(t.Context(), c, func([]byte) error { return nil })
		},
		"Interactive": func(c proc.Command) error { return proc.Interactive(t.Context(), c) },
		"Supervise":   func(c proc.Command) error { _, err := proc.Supervise(t.Context(), c); return err },
		"Detach":      func(c proc.Command) error { _, err := proc.Detach(t.Context(), c); return err },
	} {
		for _, one := range []proc.Command{c, whole} {
			if err := start(one); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			eventually(t, name+" has started its program", func() bool { _, err := os.Stat(said); return err == nil })
			text, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			env := strings.Split(string(text), "\n")
			for _, pair := range env {
				name, _, _ := strings.Cut(pair, "=")
				if envfilter.Leads(name) && pair != "GIT_NO_REPLACE_OBJECTS=1" ||
					name == "ORANGE_SEAT" && one.Base == nil {
					t.Errorf("the program got %s", pair)
				}
			}
			for _, pair := range []string{"A=b", "GIT_NO_REPLACE_OBJECTS=1", "PWD=" + dir} {
				if !slices.Contains(env, pair) {
					t.Errorf("%s: the program did not get %s", name, pair)
				}
			}
			if err := os.Remove(said); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAProgramHasTheMaskOfItsEnvironment(t *testing.T) {
	t.Parallel()
	const says = `umask; echo "${ORANGE_UMASK-none}"`
	own, err := proc.Run(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", says}})
	must(t, err)
	for mask, want := range map[string]string{"0027": "0027\nnone", "77": "0077\nnone", "": own.Text(),
		"888": own.Text(), "7777": own.Text(), "022; id": own.Text()} {
		got, err := proc.Run(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", says},
			Env: []string{"ORANGE_UMASK=" + mask}})
		if err != nil || got.Text() != want {
			t.Errorf("%q: the program says %q, %v, expected %q", mask, got.Text(), err, want)
		}
	}
	given := proc.WithEnviron(t.Context(), func() proc.Environ {
		return proc.Environ{Own: []string{"ORANGE_UMASK=027"}}
	})
	if got := proc.Masked(given, 0o777); got != 0o750 {
		t.Errorf("under the mask 027 a file has the mode %o", got)
	}
	if got := proc.Masked(t.Context(), 0o777); got != 0o777 {
		t.Errorf("without a mask a file has the mode %o", got)
	}
}

func TestZone_isThatOfWhoCalls(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "zone")
	rules, err := os.ReadFile("/usr/share/zoneinfo/Asia/Kolkata")
	if err != nil {
		t.Skip("this machine has no zones")
	}
	must(t, os.WriteFile(file, rules, 0o600))
	at := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for zone, want := range map[string]string{"Asia/Kolkata": "17:30", ":Asia/Kolkata": "17:30", file: "17:30",
		"": "12:00", "UTC": "12:00", "none": "12:00", "../none": "12:00", file + "-none": "12:00"} {
		call := proc.Call{Env: []string{"TZ=" + zone}}
		if got := at.In(call.Zone()).Format("15:04"); got != want {
			t.Errorf("%q: it is %s, expected %s", zone, got, want)
		}
	}
}
