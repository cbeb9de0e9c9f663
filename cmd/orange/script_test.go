package main_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"orange/internal/api/socket"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/logfile"
)

// program is the real binary, built once for all stories.
type program struct{ dir string }

func TestMain(m *testing.M) { os.Exit(run(m)) }

var built program

// folders are those that the folders of stories are in. testscript leaves one where some of a folder's stories were not
// asked for.
var folders sync.Map

func removeFolders() {
	for folder := range folders.Range {
		_ = os.Remove(folder.(string)) // one that is not empty is of a story that failed
	}
}

func run(m *testing.M) int {
	if len(os.Args) == 3 && os.Args[1] == mortalWord {
		return mortal(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == gatherWord {
		return gather(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == filterWord {
		return filter(os.Args[2])
	}
	dir, err := os.MkdirTemp("", "orange-test")
	if err == nil {
		err = os.Setenv(harness.WatchVariable, harness.OnlyCalls) // a test starts the monitors that it needs
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer removeFolders()
	built = program{dir: dir}
	out, err := exec.Command("go", "build", "-o", dir, ".", "../orange-mcp").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build orange: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// The stories: one file each, with the real binary, real git and a real tmux on a socket of its own.
func TestStories(t *testing.T) {
	t.Parallel()
	tellStories(t, "testdata/script")
}

// coreStories are the stories of a short run: a task's whole life, what is refused, and what is never lost.
func coreStories() []string {
	return []string{
		"testdata/script/task_created-to-merged.txtar", "testdata/script/classic_created-to-merged.txtar",
		"testdata/script/task_refusals.txtar", "testdata/script/work_is-never-lost.txtar",
		"testdata/script/agent_dies-and-is-respawned.txtar", "testdata/script/merge_of-what-was-reviewed.txtar",
	}
}

// The ways back, the escalations and the crashes of every workflow that ships, in full.
func TestLongStories(t *testing.T) {
	t.Parallel()
	if !isLong() {
		t.Skip("takes long; ORANGE_TEST_LONG=1 runs it")
	}
	tellStories(t, "testdata/long")
}

func tellStories(t *testing.T, dir string) {
	t.Helper()
	agent, err := filepath.Abs("../../demo/agent")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	if testing.Short() {
		dir, files = "", coreStories()
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(env *testscript.Env) error { return setUp(env, agent) },
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "keep": keep, "await": await, "quiet": quiet, "snapshot": snapshot,
			"unchanged": unchanged, "repo": makeRepo, "harness": makeHarness,
			"screen": screen, "page": copyPage, "tamper": tamper, "harmless": harmless,
		},
	})
}

// condition knows "confines": bubblewrap is here, and may make a sandbox.
func condition(name string) (bool, error) {
	if name != "confines" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return exec.Command("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true").Run() == nil, nil
}

// setUp gives a story a home of its own, and ends its tmux server afterwards, whatever happened.
func setUp(env *testscript.Env, agent string) error {
	sockets, err := os.MkdirTemp("/tmp", "ot") // a socket's path must be short
	if err != nil {
		return err
	}
	folders.Store(filepath.Dir(env.WorkDir), nil)
	home := filepath.Join(env.WorkDir, "orange")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": env.WorkDir, "ORANGE_HOME": home, "TMUX_TMPDIR": sockets, "TMUX": "", "AGENT": agent,
		"FILTER":            self + " " + filterWord + " " + filepath.Join(env.WorkDir, "fat"),
		"PATH":              built.dir + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL": filepath.Join(env.WorkDir, "gitconfig"), "GIT_CONFIG_SYSTEM": os.DevNull,
		"LANG": "C.UTF-8", "TZ": "Pacific/Kiritimati", harness.WatchVariable: harness.OnlyCalls,
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() { endServers(sockets, home) })
	env.Defer(func() { tellFailures(env.T(), home) })
	config := "[user]\n\tname = Person\n\temail = person@localhost\n[init]\n\tdefaultBranch = " +
		"main\n[advice]\n\tdetachedHead = false\n"
	return os.WriteFile(filepath.Join(env.WorkDir, "gitconfig"), []byte(config), 0o644)
}

// tellFailures adds to the output of a story that failed what its home's log says of errors: what a screen or a message
// has cut off is whole there.
func tellFailures(t testscript.T, home string) {
	if story, is := t.(interface{ Failed() bool }); !is || !story.Failed() {
		return
	}
	text, _ := os.ReadFile(logfile.Of(home)) // a story that failed early has no log
	for line := range strings.Lines(string(text)) {
		var entry struct{ Level, Error string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level != "info" || entry.Error != "" {
			t.Log("log: " + strings.TrimSpace(line))
		}
	}
}

// endServers ends the tmux servers of one home, and waits until the last process that works for it is gone:
// a runner of hooks may outlive the command that started it by a moment.
func endServers(sockets, home string) {
	defer os.RemoveAll(sockets) // at the end: a runner without its folder of sockets would use the shared one
	endNoted(home)
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	// Twice in a row: a process that begins while another one ends may be missed by one look at all processes.
	for clean := 0; clean < 2 && time.Now().Before(deadline); <-tick.C {
		found, _ := filepath.Glob(filepath.Join(sockets, "tmux-*", "*"))
		others, _ := filepath.Glob(filepath.Join(sockets, "*", "tmux-*", "*"))
		found = append(found, others...)
		ended := false
		for _, socket := range found { // again and again: a runner that is still at work may start the next one
			// most have left already; one that was there may have been started by the last runner, and not be the last
			ended = exec.Command("tmux", "-S", socket, "kill-server").Run() == nil || ended
		}
		left, err := proc.WithEnvironment("ORANGE_HOME=" + home)
		for _, p := range left {
			if hasWord(p.PID, "serve") {
				_ = proc.Signal(p, syscall.SIGTERM) // it may have ended
			}
		}
		if clean++; ended || err == nil && len(left) > 0 {
			clean = 0
		}
	}
}

// endNoted ends the terminal server that a home has noted: a story may have stopped it, or removed its socket.
func endNoted(home string) {
	var noted struct {
		PID   int
		Began string
	}
	text, err := os.ReadFile(filepath.Join(home, "terminal.json"))
	if err == nil && json.Unmarshal(text, &noted) == nil {
		_ = proc.Signal(task.Process{PID: noted.PID, Began: noted.Began}, syscall.SIGKILL) // it may have ended
	}
}

// quiet waits until no runner of hooks is at work, and no server does anything: one that ends may still put the record
// in order.
func quiet(ts *testscript.TestScript, _ bool, _ []string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for {
		served, err := socket.Look(context.Background(), ts.Getenv("ORANGE_HOME"))
		if err != nil && !errors.Is(err, socket.ErrNoServer) {
			ts.Check(err)
		}
		all, err := proc.WithEnvironment("ORANGE_HOME="+ts.Getenv("ORANGE_HOME"), "ORANGE_RUNNER=1")
		ts.Check(err)
		var left []int // the terminal that a runner started has its environment too
		for _, p := range all {
			if hasWord(p.PID, "settle") {
				left = append(left, p.PID)
			}
		}
		if len(left) == 0 && served.Calls == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("runners are still at work: %v, and what a server does: %d", left, served.Calls)
		}
	}
}

// hasWord reports whether a process was started with a word.
func hasWord(pid int, word string) bool {
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(words, []byte("\x00"+word+"\x00"))
}

func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	if args[0] == "orange" {
		cmd.Path = filepath.Join(built.dir, "orange")
		cmd.Err = nil
	}
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment(ts)
	return cmd
}

func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"HOME", "ORANGE_HOME", "TMUX_TMPDIR", "TMUX", "PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "LANG",
		"TZ", "ORANGE_SEAT", "TMPDIR", harness.WatchVariable,
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tamper SQL writes into the record as other hands do.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	source := url.URL{Scheme: "file", Path: filepath.Join(ts.Getenv("ORANGE_HOME"), "orange.db"),
		RawQuery: "_pragma=busy_timeout(20000)"}
	db, err := sql.Open("sqlite", source.String())
	ts.Check(err)
	defer db.Close()
	done, err := db.Exec(strings.Join(args, " "))
	ts.Check(err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("nothing was changed: %v", err)
	}
}

// exits N COMMAND... runs a command and checks its very exit status; its output is there for stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%q exited with %d, want %d\n%s%s", args[1:], got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// keep VARIABLE REGEXP keeps what the pattern's group found in the output of the last command.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("nothing matches %q in %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}

// await REGEXP COMMAND... runs a command again and again until its output matches: it waits for a fact, not for a time.
func await(ts *testscript.TestScript, _ bool, args []string) { awaitFor(ts, 30*time.Second, args) }

func awaitFor(ts *testscript.TestScript, patience time.Duration, args []string) {
	pattern := regexp.MustCompile("(?m)" + args[0])
	if pattern.MatchString("\x00") { // it matches the complaint that there is no such file, too
		ts.Fatalf("%q matches whatever is said: wait for a fact", args[0])
	}
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		out, _ := command(ts, args[1:]).CombinedOutput()
		if pattern.Match(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q never said %q; at last it said:\n%s", args[1:], args[0], out)
		}
		<-tick.C
	}
}

// page NAME copies a page of the documentation into the story's folder.
func copyPage(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o644))
}

// snapshot NAME notes every file of every task and what the record says of all tasks; unchanged NAME compares.
func snapshot(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".snapshot"), state(ts), 0o644))
}

func unchanged(ts *testscript.TestScript, _ bool, args []string) {
	before, now := ts.ReadFile(args[0]+".snapshot"), state(ts)
	if before != string(now) {
		ts.Fatalf("something changed; before:\n%s\nnow:\n%s", before, now)
	}
}

func state(ts *testscript.TestScript) []byte {
	var b bytes.Buffer
	tasks := filepath.Join(ts.Getenv("ORANGE_HOME"), "tasks")
	ts.Check(filepath.WalkDir(tasks, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s\n%s\n", path, text)
		return err
	}))
	out, err := command(ts, []string{"orange", "task", "list", "--all", "--json"}).Output()
	ts.Check(err)
	var list struct{ Tasks []map[string]any }
	ts.Check(json.Unmarshal(out, &list))
	for _, t := range list.Tasks {
		history, err := command(ts, []string{"orange", "task", "history", t["id"].(string), "--json"}).Output()
		ts.Check(err)
		delete(t, "needs_you") // what the agent's screen says, once it is still, is on no record
		delete(t, "conflicts") // nor is what was found by comparing branches
		fmt.Fprintf(&b, "%v\n%s\n", t, history)
	}
	return b.Bytes()
}

// harmless FILE... checks whether a text, stdout and stderr among them, holds nothing that a terminal would obey
// or that is invisible.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	raw := regexp.MustCompile(
		`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{61c}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]`)
	if neg || len(args) == 0 {
		ts.Fatalf("usage: harmless FILE...")
	}
	for _, name := range args {
		text := ts.ReadFile(name)
		if found := raw.FindString(text); found != "" || !utf8.ValidString(text) {
			ts.Fatalf("%s has %q, or is no UTF-8:\n%q", name, found, text)
		}
	}
}

// repo PATH makes a repository with one commit.
func makeRepo(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(path, 0o755))
	ts.Check(os.WriteFile(filepath.Join(path, "README.md"), []byte("# A repository\n"), 0o644))
	for _, words := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "Begin"}} {
		cmd := command(ts, append([]string{"git"}, words...))
		cmd.Dir = path
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("git %v: %v\n%s", words, err, out)
		}
	}
}

// harness NAME COMMAND... describes an agent program that is called with its prompt's file.
func makeHarness(ts *testscript.TestScript, _ bool, args []string) {
	words := make([]string, 0, len(args))
	for _, word := range append(args[1:], "{prompt_file}") {
		words = append(words, strconv.Quote(word))
	}
	line := "{command: [" + strings.Join(words, ", ") + "]}"
	dir := filepath.Join(ts.Getenv("ORANGE_HOME"), "harnesses")
	ts.Check(os.MkdirAll(dir, 0o755))
	text := fmt.Sprintf("name: %s\nworker:   %s\nreviewer: %s\n", args[0], line, line)
	ts.Check(os.WriteFile(filepath.Join(dir, args[0]+".yml"), []byte(text), 0o644))
}
