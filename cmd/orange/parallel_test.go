package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// world is a home, a repository and a harness for tests that need more than one command at once.
type world struct {
	t    testing.TB
	dir  string
	repo string
	env  []string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	sockets, err := os.MkdirTemp("/tmp", "ot") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() { endServers(sockets, filepath.Join(dir, "orange")) })
	w := &world{t: t, dir: dir, repo: filepath.Join(dir, "coffee")}
	config := filepath.Join(dir, "gitconfig")
	w.write("gitconfig", "[user]\n\tname = Person\n\temail = person@localhost\n[init]\n\tdefaultBranch = main\n")
	w.env = append(os.Environ(), "HOME="+dir, "ORANGE_HOME="+filepath.Join(dir, "orange"), "TMUX_TMPDIR="+sockets,
		"TMUX=",
		"GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_SYSTEM="+os.DevNull, "ORANGE_SEAT=",
		"PATH="+built.dir+":"+os.Getenv("PATH"))
	w.write("coffee/README.md", "# A repository\n")
	w.write("orange/harnesses/idle.yml", "name: idle\nworker: {command: [tail, -f, "+
		"\"{prompt_file}\"]}\nreviewer: {command: [tail, -f, \"{prompt_file}\"]}\n")
	for _, words := range []string{"init -q", "add .", "commit -q -m Begin"} {
		w.must("git", strings.Fields(words)...)
	}
	w.must("orange", "project", "add", ".")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run(name string, args ...string) (string, error) {
	if name == "orange" {
		name = filepath.Join(built.dir, "orange")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	out, err := cmd.Output()
	return string(out), err
}

func (w *world) must(name string, args ...string) string {
	w.t.Helper()
	out, err := w.run(name, args...)
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func (w *world) create(branch string, more ...string) string {
	w.t.Helper()
	var answer struct{ Task struct{ ID string } }
	out := w.must("orange", append([]string{"task", "create", branch, "A thing", "--harness", "idle", "--json"},
		more...)...)
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		w.t.Fatal(err)
	}
	return answer.Task.ID
}

func (w *world) document(id string) string {
	return filepath.Join(w.dir, "orange", "tasks", "coffee", id, "TASK.md")
}

// atOnce runs the same command n times at once and counts those that succeeded.
func (w *world) atOnce(n int, args ...string) int {
	var group sync.WaitGroup
	var lock sync.Mutex
	succeeded := 0
	for range n {
		group.Go(func() {
			if out, err := w.run("orange", args...); err != nil {
				var exit *exec.ExitError
				errors.As(err, &exit)
				w.t.Logf("%v: %s%s", err, out, exit.Stderr)
			} else {
				lock.Lock()
				defer lock.Unlock()
				succeeded++
			}
		})
	}
	group.Wait()
	return succeeded
}

func TestEightCreatesOfOneBranchMakeOneTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if n := w.atOnce(8, "task", "create", "feat/a", "A thing", "--harness", "idle"); n != 1 {
		t.Errorf("%d of 8 succeeded, want 1", n)
	}
	var list struct{ Tasks []any }
	if err := json.Unmarshal([]byte(w.must("orange", "task", "list", "--json")), &list); err != nil ||
		len(list.Tasks) != 1 {
		t.Errorf("there are %d tasks (%v), want 1", len(list.Tasks), err)
	}
}

func TestEightRequestsAtOnceMoveATaskAndRunHooksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("feat/a", "--no-spawn")
	if n := w.atOnce(8, "task", "spawn", id); n != 8 {
		t.Errorf("%d of 8 succeeded; who comes late finds the task there already, and that is no failure", n)
	}
	history := w.must("orange", "task", "history", id)
	if n := strings.Count(history, "pending -> planning"); n != 1 {
		t.Errorf("%d transitions, want 1:\n%s", n, history)
	}
	log := w.must("orange", "log", "--component", "hook", "--grep", "hook ends")
	for _, action := range []string{"acquire_workspace", "spawn_agent"} {
		if n := strings.Count(log, `"action":"`+action+`"`); n != 1 {
			t.Errorf("%s was performed %d times, want once", action, n)
		}
	}
}

func TestTwoHundredStatusChangesLoseNoLineThatAnAgentAppends(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	w := newWorld(t)
	id := w.create("feat/a")
	w.must("sh", "-c", fmt.Sprintf(`printf '\n## Plan\n\nAPPROACH: x\n\n## Notes\n\n' >>'%s'`, w.document(id)))
	// The agent is a process of its own: it appends until the end is there, and says how often.
	stop := filepath.Join(w.dir, "stop")
	// In the long test it takes no breath: the document grows to many megabytes.
	breath := "sleep 0.002; "
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		breath = ""
	}
	agent := exec.Command("sh", "-c", `n=0; while [ ! -e "$2" ]; do n=$((n+1)); echo "line $n" >>"$1"; `+breath+
		`done; echo $n`, "agent", w.document(id), stop)
	var said strings.Builder
	agent.Stdout = &said
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill() }) // a test that fails early leaves no process behind
	for range 50 {
		for _, status := range []string{"clarification", "working", "clarification", "planning"} {
			w.must("orange", "task", "update", id, "--status", status)
		}
	}
	w.write("stop", "")
	if err := agent.Wait(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(w.document(id))
	if err != nil {
		t.Fatal(err)
	}
	var appended int
	if _, err := fmt.Sscan(said.String(), &appended); err != nil || appended < 200 {
		t.Fatalf("the agent appended %d lines (%v), too few to tell", appended, err)
	}
	lines := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		lines[line] = true
	}
	for n := 1; n <= appended; n++ {
		if !lines[fmt.Sprintf("line %d", n)] {
			t.Errorf("line %d of %d is lost", n, appended)
		}
	}
	history := w.must("orange", "task", "history", id)
	if n := strings.Count(history, " -> "); n != 201 {
		t.Errorf("%d status changes, want 201", n)
	}
	if !strings.Contains(string(text), "\nstatus: planning\n") {
		t.Errorf("the header does not say planning:\n%.600s", text)
	}
}

func TestEightMergesAtOnceLeaveThePersonsCheckoutClean(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	w := newWorld(t)
	w.must("orange", "project", "update", "--pool-size", "8")
	var ids []string
	for n := range 8 {
		id := w.create(fmt.Sprint("feat/", n), "--status", "reviewing")
		slot := filepath.Join(w.dir, "orange", "workspaces", fmt.Sprint("coffee--", n+1))
		w.must("sh", "-c", fmt.Sprintf("cd '%s' && echo %d >note-%d && git add . && git commit -q -m Note", slot, n, n))
		ids = append(ids, id)
	}
	var group sync.WaitGroup
	for _, id := range ids {
		group.Go(func() {
			if _, err := w.run("orange", "task", "merge", "--local", "--override", "nobody reviews notes",
				id); err != nil {
				var exit *exec.ExitError
				errors.As(err, &exit)
				t.Errorf("%v: %s", err, exit.Stderr)
			}
		})
	}
	group.Wait()
	if status := w.must("git", "status", "--porcelain"); status != "" {
		t.Errorf("the person's checkout is not clean:\n%s", status)
	}
}
