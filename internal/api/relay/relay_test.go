package relay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	own   = "the secret of this agent's seat"
	other = "the secret of another agent's seat"
)

// agent is one confined agent with its carrier.
type agent struct {
	t       *testing.T
	folder  string
	watched chan string // paths that the system reports

	mu      sync.Mutex
	ran     []string
	refused []string
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	a := &agent{t: t, folder: t.TempDir(), watched: make(chan string, 100)}
	c := &Carrier{Folder: a.folder, Task: "abc", Secret: own, Run: a.run, Watch: a.watch, Refuse: a.refuse}
	ctx, off := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Serve(ctx) }()
	t.Cleanup(func() {
		off()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *agent) run(_ context.Context, c Call) Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ran = append(a.ran, strings.Join(c.Args, " ")+" in "+c.Dir+" with "+string(c.Stdin))
	return Reply{Code: 3, Stdout: []byte("said"), Stderr: []byte("why")}
}

func (a *agent) refuse(name string, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = append(a.refused, fmt.Sprintf("%s: %v", name, why))
}

// watch reports what is there all the time: a system may report too often.
func (a *agent) watch(ctx context.Context, _ string, touched func(string)) error {
	for {
		touched("")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}

// put makes a file among the agent's calls, in one step.
func (a *agent) put(name string, text []byte) {
	a.t.Helper()
	temporary := filepath.Join(a.folder, name+".tmp")
	if err := errors.Join(os.WriteFile(temporary, text, 0o600),
		os.Rename(temporary, filepath.Join(a.folder, name))); err != nil {
		a.t.Fatal(err)
	}
}

// until waits until so many files were refused, and answers them and what was run.
func (a *agent) until(refused int) (ran, all []string) {
	a.t.Helper()
	for late := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		a.mu.Lock()
		ran, all = append(ran[:0], a.ran...), append(all[:0], a.refused...)
		a.mu.Unlock()
		if len(all) >= refused || time.Now().After(late) {
			return ran, all
		}
	}
}

func signed(t *testing.T, secret string, c Call) []byte {
	t.Helper()
	text, err := sign("request", secret, c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAsk_answersWhatTheCommandSaidOutside(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	got, err := Client{a.folder, own}.Ask(t.Context(), Call{Task: "abc", Dir: "/work", Args: []string{"task", "update"},
		Stdin: []byte("text")})
	if err != nil || got.Code != 3 || string(got.Stdout) != "said" || string(got.Stderr) != "why" {
		t.Errorf("answered %+v, %v", got, err)
	}
	if ran, refused := a.until(0); len(ran) != 1 || ran[0] != "task update in /work with text" || len(refused) > 0 {
		t.Errorf("ran %q, refused %q", ran, refused)
	}
	if left, err := os.ReadDir(a.folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAsk_carriesNoCommandThatReadsFilesOrIsAboutTheHome(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	for _, args := range [][]string{{"project", "list"}, {"workflow", "check", "/etc/passwd"}, {"task", "attach"}, {},
		// the word behind a flag is its value: these are task create, and read a file
		{"task", "--project", "show", "create", "x y", "--context", "/etc/passwd"},
		{"--project", "task", "task", "create"}, {"task", "list", "--watch"}, {"task", "list", "--watch=true"}} {
		got, err := Client{a.folder, own}.Ask(t.Context(), Call{Task: "abc", Args: args})
		if err != nil || got.Code != 2 || !strings.Contains(string(got.Stderr), "from inside of the agent's sandbox") {
			t.Errorf("%q: answered %+v, %v", args, got, err)
		}
	}
	if ran, _ := a.until(0); len(ran) > 0 {
		t.Errorf("ran %q", ran)
	}
}

func TestServe_refusesWhatTheAgentDidNotWrite(t *testing.T) {
	t.Parallel()
	move := Call{Task: "abc", Number: "one", Args: []string{"task", "update", "--status", "reviewing"}}
	reply, err := sign("answer", own, move)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := move
	elsewhere.Task = "def"
	for name, tt := range map[string]struct {
		put func(*agent)
		why string
	}{
		"another seat": {func(a *agent) { a.put("one.request", signed(t, other, move)) }, "is not signed"},
		"no seat":      {func(a *agent) { a.put("one.request", []byte(`{"task":"abc"}`)) }, "is not signed"},
		"a reply":      {func(a *agent) { a.put("one.request", reply) }, "is not signed"},
		"nothing":      {func(a *agent) { a.put("one.request", nil) }, "is not signed"},
		"another task": {func(a *agent) { a.put("one.request", signed(t, own, elsewhere)) }, `of task "def"`},
		"another name": {func(a *agent) { a.put("two.request", signed(t, own, move)) }, `the request "one"`},
		"1 MB":         {func(a *agent) { a.put("one.request", make([]byte, 1<<20)) }, "1048576 bytes, at most 65536"},
		"a link": {func(a *agent) {
			a.put("kept", signed(t, own, move))
			if err := os.Symlink("kept", filepath.Join(a.folder, "one.request")); err != nil {
				t.Fatal(err)
			}
		}, "it is no regular file"},
		"a folder": {func(a *agent) {
			if err := os.Mkdir(filepath.Join(a.folder, "one.request"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "it is no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			tt.put(a)
			if ran, refused := a.until(1); len(ran) > 0 || len(refused) == 0 || !strings.Contains(refused[0], tt.why) {
				t.Errorf("ran %q, refused %q, want %q", ran, refused, tt.why)
			}
		})
	}
}

func TestServe_runsACallOnce(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	text := signed(t, own, Call{Task: "abc", Number: "one", Args: []string{"task", "next"}})
	a.put("one.request", text)
	for late := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(a.folder, "one.answer")); err == nil || time.Now().After(late) {
			break
		}
	}
	a.put("one.request", text) // by an agent that kept what it had read
	ran, refused := a.until(1)
	if len(ran) != 1 || len(refused) != 1 || !strings.Contains(refused[0], "was used before") {
		t.Errorf("ran %q, refused %q", ran, refused)
	}
}

func TestAsk_takesNoReplyOfAnotherAgent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ctx, off := context.WithTimeout(t.Context(), 10*time.Second)
	defer off()
	a := &agent{t: t, folder: folder}
	go func() { // it sees the call before the launcher does
		for ctx.Err() == nil {
			found, _ := filepath.Glob(filepath.Join(folder, "*.request"))
			if len(found) == 0 {
				continue
			}
			number := strings.TrimSuffix(filepath.Base(found[0]), requestEnd)
			forged, err := sign("answer", other, Reply{Number: number, Stdout: []byte("forged")})
			if err == nil {
				err = os.Remove(found[0])
			}
			if err == nil {
				a.put(number+answerEnd, forged)
				honest, err := sign("answer", own, Reply{Number: number, Stdout: []byte("honest")})
				for err == nil {
					if _, err := os.Stat(filepath.Join(folder, number+answerEnd)); err != nil {
						break // it was read, and is none
					}
				}
				a.put(number+answerEnd, honest)
			}
			return
		}
	}()
	got, err := Client{folder, own}.Ask(ctx, Call{Task: "abc", Args: []string{"task", "next"}})
	if err != nil || string(got.Stdout) != "honest" {
		t.Errorf("answered %q, %v", got.Stdout, err)
	}
}

func TestServe_endsSoonAfterItsAgentThoughACommandWaits(t *testing.T) {
	t.Parallel()
	a := &agent{t: t, folder: t.TempDir()}
	began := make(chan struct{})
	c := &Carrier{Folder: a.folder, Task: "abc", Secret: own, Watch: a.watch, Refuse: a.refuse,
		Run: func(ctx context.Context, _ Call) Reply {
			close(began)
			<-ctx.Done() // as a task wait that no one ends
			return Reply{Code: 1}
		}}
	ctx, off := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Serve(ctx) }()
	a.put("one.request", signed(t, own, Call{Task: "abc", Number: "one", Args: []string{"task", "wait"}}))
	<-began
	off()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the launcher waits for a command whose agent has ended")
	}
}
