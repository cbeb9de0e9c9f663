package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

func TestRun_answersWhatTheProgramLeftBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := proc.Run(t.Context(), proc.Command{
		Name: "sh", Args: []string{"-c", `cat; pwd; echo "$GIVEN"; echo oops >&2`}, Dir: dir, Env: []string{
			"GIVEN=a b"}, Stdin: strings.NewReader("in\n"),
	})
	must(t, err)
	real, err := filepath.EvalSymlinks(dir)
	must(t, err)
	if want := "in\n" + real + "\na b\n"; string(out.Stdout) != want || out.Code != 0 {
		t.Errorf("got %q, %d; want %q", out.Stdout, out.Code, want)
	}
}

func TestRun_ofAProgramThatFailsIsAnErrorWithItsWords(t *testing.T) {
	t.Parallel()
	out, err := proc.Run(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", "echo out; echo why >&2; exit 3"}})
	var failed *proc.Error
	if !errors.As(err, &failed) || failed.Code != 3 || !strings.Contains(err.Error(), "status 3: why") ||
		string(out.Stdout) != "out\n" || out.Code != 3 {
		t.Errorf("got %+v, %v", out, err)
	}
	_, err = proc.Run(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", "exit 1"}})
	if err == nil || !strings.Contains(err.Error(), "it said nothing") {
		t.Errorf("a silent failure: %v", err)
	}
}

func TestRun_ofWhatCannotBeStartedIsAnotherError(t *testing.T) {
	t.Parallel()
	for _, c := range []proc.Command{{Name: "no-such-program-anywhere"}, {Name: t.TempDir()},
		{Name: "sh", Dir: "/no/such/folder"}} {
		_, err := proc.Run(t.Context(), c)
		var failed *proc.Error
		if err == nil || errors.As(err, &failed) {
			t.Errorf("%q: %v", c.Name, err)
		}
	}
}

func TestRun_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := proc.Run(ctx, proc.Command{Name: "sleep", Args: []string{"60"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// What a program has handed on may keep its pipes open for longer than its limit.
func TestRun_endsAProgramAtItsLimitAndWaitsForNoPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	_, err := proc.Run(t.Context(), proc.Command{Name: "sh", Limit: 200 * time.Millisecond,
		Args: []string{"-c", `setsid sleep 1000 & printf %s $! >"$0"; wait`, path}})
	left := announced(t, path)
	if there := proc.Signal(left, syscall.Signal(0)); there != nil {
		t.Errorf("it waited for what the program had handed on: %v", there)
	}
	must(t, proc.End(t.Context(), []task.Process{left}, time.Millisecond))
	if !errors.Is(err, proc.ErrLate) {
		t.Fatalf("the error is %v", err)
	}
}

func TestSignal_reachesThisVeryProcessAlone(t *testing.T) {
	t.Parallel()
	p := start(t, "wait")
	later := task.Process{PID: p.PID, Began: "long ago"}
	if err := proc.Signal(later, syscall.SIGKILL); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a later process of that number: %v", err)
	}
	must(t, proc.Signal(p, syscall.SIGKILL))
	wantGone(t, p)
}

func TestFind_looksOnTheGivenPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool, text := filepath.Join(dir, "tool"), filepath.Join(dir, "text")
	must(t, os.WriteFile(tool, nil, 0o755))
	must(t, os.WriteFile(text, nil, 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	tests := map[string]struct{ name, path, want string }{
		"on PATH":           {"tool", "/nowhere:" + dir, tool},
		"with a slash":      {tool, "", tool},
		"not on PATH":       {"tool", "/nowhere", ""},
		"no PATH":           {"tool", "", ""},
		"an empty part":     {"tool", "::", ""},
		"not executable":    {"text", dir, ""},
		"a folder":          {"folder", dir, ""},
		"a folder by path":  {dir, "", ""},
		"missing by path":   {dir + "/none", "", ""},
		"text file by path": {text, "", ""},
	}
	for name, tt := range tests {
		got, err := proc.Find(tt.name, tt.path)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: found %q, %v; want %q", name, got, err, tt.want)
		}
	}
}

func TestEndGroup_killsWhatIgnoresTERM(t *testing.T) {
	t.Parallel()
	p := start(t, "stubborn")
	must(t, proc.EndGroup(t.Context(), p.PID, 50*time.Millisecond))
	wantGone(t, p)
	must(t, proc.EndGroup(t.Context(), p.PID, 50*time.Millisecond)) // gone already
}

func TestEndGroup_endsGrandchildrenWhoseLeaderIsGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	leader, err := proc.Detach(t.Context(), proc.Command{Name: os.Args[0],
		Env: []string{partVariable + "=parent " + path}})
	must(t, err)
	grandchild := announced(t, path)
	wantGone(t, task.Process{PID: leader})
	must(t, proc.EndGroup(t.Context(), leader, 50*time.Millisecond))
	wantGone(t, grandchild)
}

func TestEndGroup_refusesGroupsThatNoAgentLeads(t *testing.T) {
	t.Parallel()
	for _, leader := range []int{1, 0, -1} {
		if err := proc.EndGroup(t.Context(), leader, time.Millisecond); err == nil {
			t.Errorf("it ended the group %d", leader)
		}
	}
}

func TestEnd_endsEachOfTheProcesses(t *testing.T) {
	t.Parallel()
	calm, stubborn := start(t, "wait"), start(t, "stubborn")
	must(t, proc.End(t.Context(), []task.Process{calm, stubborn, {PID: 1 << 30}}, 50*time.Millisecond))
	wantGone(t, calm)
	wantGone(t, stubborn)
	must(t, proc.End(t.Context(), nil, time.Minute))
}

func TestEnd_sparesAProcessThatGotTheNumberLater(t *testing.T) {
	t.Parallel()
	p := start(t, "wait")
	other := task.Process{PID: p.PID, Began: "long ago"}
	must(t, proc.End(t.Context(), []task.Process{other}, 50*time.Millisecond))
	if alive, err := proc.Alive(p); err != nil || !alive {
		t.Errorf("the process is alive: %v, %v", alive, err)
	}
	must(t, proc.End(t.Context(), []task.Process{p}, time.Minute))
}

func TestAlive_tellsProcessesOfOneNumberApart(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	must(t, err)
	tests := map[string]struct {
		p    task.Process
		want bool
	}{
		"this one":             {self, true},
		"of unknown beginning": {task.Process{PID: self.PID}, true},
		"of another beginning": {task.Process{PID: self.PID, Began: self.Began + "1"}, false},
		"a number never used":  {task.Process{PID: 1 << 30}, false},
		"none":                 {task.Process{}, false},
		"init":                 {task.Process{PID: 1}, false},
		"a group":              {task.Process{PID: -self.PID}, false},
	}
	for name, tt := range tests {
		if got, err := proc.Alive(tt.p); err != nil || got != tt.want {
			t.Errorf("%s: alive is %v, %v", name, got, err)
		}
	}
	if _, err := proc.Lookup(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking up a number never used: %v", err)
	}
}

func TestAlive_holdsAZombieForDead(t *testing.T) {
	t.Parallel()
	// The child ends, and sh, replaced by a program that knows nothing of it, never reaps it.
	path := filepath.Join(t.TempDir(), "pid")
	holder, err := proc.Detach(t.Context(), proc.Command{
		Name: "sh", Args: []string{"-c", `sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"' "$0" & exec sleep 60`,
			path}, Env: os.Environ(),
	})
	must(t, err)
	t.Cleanup(func() { _ = proc.EndGroup(context.Background(), holder, time.Second) })
	var pid int
	eventually(t, "the child said its number", func() bool {
		text, err := os.ReadFile(path)
		_, scanned := fmt.Sscan(string(text), &pid)
		return err == nil && scanned == nil
	})
	wantGone(t, task.Process{PID: pid})
	if err := syscall.Kill(pid, 0); err != nil {
		t.Logf("somebody reaped the zombie: %v", err)
	}
}

func TestAncestors_beginWithTheParent(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	must(t, err)
	above, err := proc.Ancestors(os.Getpid())
	must(t, err)
	said := run(t.Context(), t, "ancestors")
	want := fmt.Sprint(append([]task.Process{self}, above...), error(nil))
	if said != want {
		t.Errorf("a child sees %s above it, want %s", said, want)
	}
}

// A caller with nothing above it counts as a person: who forgets to say whose ancestors are meant gets none.
func TestAncestors_ofNoProcessAreAnError(t *testing.T) {
	t.Parallel()
	if above, err := proc.Ancestors(0); err == nil {
		t.Errorf("found %v", above)
	}
}

func TestWithEnvironment_findsAStrayInASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	mark := "PROC_TEST_MARK=" + t.TempDir()
	p := start(t, "wait", mark, "PROC_TEST_OTHER=1")
	for _, pairs := range [][]string{{mark}, {mark, "PROC_TEST_OTHER=1"}} {
		found, err := proc.WithEnvironment(pairs...)
		must(t, err)
		if !slices.Equal(found, []task.Process{p}) {
			t.Errorf("%v: found %v, want %v", pairs, found, p)
		}
	}
	for _, pairs := range [][]string{{mark + "x"}, {mark[:len(mark)-1]}, {mark, "PROC_TEST_OTHER=2"}} {
		if found, err := proc.WithEnvironment(pairs...); err != nil || len(found) != 0 {
			t.Errorf("%v: found %v, %v", pairs, found, err)
		}
	}
	must(t, proc.End(t.Context(), []task.Process{p}, time.Second))
}

func TestDetach_survivesTheEndOfWhoeverCalledIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pid")
	run(t.Context(), t, "launcher "+path)
	p := announced(t, path)
	if alive, err := proc.Alive(p); err != nil || !alive {
		t.Errorf("alive is %v, %v", alive, err)
	}
	group, err := syscall.Getpgid(p.PID)
	if err != nil || group != p.PID {
		t.Errorf("it is of the group %d, %v; want its own, %d", group, err, p.PID)
	}
	must(t, proc.End(t.Context(), []task.Process{p}, time.Second))
	wantGone(t, p)
	if _, err := proc.Detach(t.Context(), proc.Command{Name: "/no/such/program"}); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestSupervise_tellsHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	tests := map[string]string{"true": "0 0 <nil>", "false": "1 0 <nil>",
		"/no/such/program": `0 0 start "/no/such/program": fork/exec /no/such/program: no such file or directory`}
	for program, want := range tests {
		if got := run(t.Context(), t, "supervise "+program); got != want {
			t.Errorf("%s: it says %q, want %q", program, got, want)
		}
	}
}

// A signal that ends the supervisor reaches the program first; an interrupt is the program's own affair.
func TestSupervise_passesOnWhatEndsIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"TERM": "143 15 <nil>", "HUP": "129 1 <nil>"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pid")
			said := make(chan string, 1)
			go func() {
				out, err := proc.Run(t.Context(), proc.Command{
					Name: os.Args[0], Env: []string{partVariable + "=supervise " + os.Args[0],
						"NEXT_PART=wait " + path},
				})
				said <- fmt.Sprint(out.Text(), err)
			}()
			program := announced(t, path)
			signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
			supervisor := parentOf(t, program)
			must(t, syscall.Kill(supervisor, syscall.SIGINT)) // the supervisor itself does not mind
			must(t, syscall.Kill(supervisor, signals[name]))
			if got := <-said; got != want+"<nil>" {
				t.Errorf("it says %q, want %q", got, want)
			}
			wantGone(t, program)
		})
	}
}

// parentOf asks ps, as the package itself answers only for its own process.
func parentOf(t *testing.T, p task.Process) int {
	t.Helper()
	out, err := proc.Run(t.Context(), proc.Command{Name: "ps", Args: []string{"-o", "ppid=", "-p", fmt.Sprint(p.PID)}})
	must(t, err)
	var pid int
	_, err = fmt.Sscan(out.Text(), &pid)
	must(t, err)
	return pid
}

func TestRun_keepsTheBeginningOfAnOutputThatIsTooLong(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]struct {
		kept string
		more int
	}{0: {"0123456789", 0}, 4: {"0123", 6}, 10: {"0123456789", 0}, 11: {"0123456789", 0}} {
		out, err := proc.Run(t.Context(), proc.Command{Name: "printf", Args: []string{"0123456789"}, Most: most})
		if err != nil || string(out.Stdout) != want.kept || out.More != want.more {
			t.Errorf("most %d: got %q and %d more (%v)", most, out.Stdout, out.More, err)
		}
	}
}

func TestRun_leavesOutWhatIsUnset(t *testing.T) {
	t.Setenv("ORANGE_TEST_OUT", "out")
	t.Setenv("ORANGE_TEST_ANEW", "of the caller")
	out, err := proc.Run(t.Context(), proc.Command{
		Name: "sh", Args: []string{"-c", `echo "${ORANGE_TEST_OUT-unset} $ORANGE_TEST_ANEW"`},
		Env: []string{"ORANGE_TEST_ANEW=given"}, Unset: []string{"ORANGE_TEST_OUT", "ORANGE_TEST_ANEW"},
	})
	must(t, err)
	if out.Text() != "unset given" {
		t.Errorf("got %q", out.Text())
	}
}

// A program waits forever where someone has put a pipe in the place of a file, or a device.
func TestRun_endsAWatchedProgramAtAPipeOrADevice(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, "/dev/zero"} {
		_, err := proc.Run(t.Context(), proc.Command{Name: "cat", Args: []string{file}, Most: 1, Watched: "cat"})
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(file)) {
			t.Errorf("cat %s: %v", file, err)
		}
	}
	open, err := os.OpenFile(pipe, os.O_RDWR, 0) // who has it open and writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	_, err = proc.Run(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", "cat " + pipe + "; true"},
		Watched: "cat"})
	if err == nil || !strings.Contains(err.Error(), pipe) {
		t.Errorf("a child of the program: %v", err)
	}
	// What is not watched may wait: a program of a person's that waits for a pipe has its reasons.
	ctx, end := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer end()
	_, err = proc.Run(ctx, proc.Command{Name: "cat", Args: []string{pipe}, Watched: "git"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("another program: %v", err)
	}
}

// Some programs keep a device open that gives random bytes.
func TestRun_letsAProgramKeepADeviceOpen(t *testing.T) {
	t.Parallel()
	res, err := proc.Run(t.Context(), proc.Command{Name: "sh", Watched: "sh",
		Args: []string{"-c", "exec 3</dev/urandom; sleep 1; echo done"}})
	if err != nil || res.Text() != "done" {
		t.Errorf("it said %q, %v", res.Text(), err)
	}
}

func TestDetachAndHear_answersTheFirstLineAlone(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"echo ready; exec cat /dev/null": "ready", "exit 1": "", "printf half": "half",
	} {
		line, err := proc.DetachAndHear(t.Context(), proc.Command{Name: "sh", Args: []string{"-c", words}})
		if err != nil || line != want {
			t.Errorf("%q: found %q, %v", words, line, err)
		}
	}
	ctx, off := context.WithCancel(t.Context())
	off()
	if line, err := proc.DetachAndHear(ctx, proc.Command{Name: "sh", Args: []string{"-c", "sleep 0.2"}}); err == nil {
		t.Errorf("one that is given up says %q", line)
	}
	if _, err := proc.DetachAndHear(t.Context(), proc.Command{Name: "none-of-that-name"}); err == nil {
		t.Error("a program that is not there begins")
	}
}
