package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// bench is where the tests' sockets and scripts are: outside of any test, because a script that is written
// while another test forks cannot be run ("text file busy").
type bench struct {
	dir    string
	number atomic.Int64
}

var shared = &bench{}

// The scripts stands in for tmux. The first is tmux itself.
func scripts() map[string]string {
	return map[string]string{
		"tmux":    "exec tmux \"$@\"\n",
		"lost":    "echo 'lost server' >&2; exit 1\n",
		"denied":  "echo 'error connecting to /tmp/tmux-0/x (Permission denied)' >&2; exit 1\n",
		"killed":  "echo 'no server running on /tmp/tmux-0/x' >&2; exit 2\n",
		"silent":  "exit 0\n",
		"babbler": "echo hello\n",
	}
}

func TestMain(m *testing.M) { os.Exit(shared.run(m)) }

func (b *bench) run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ot")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	if err := os.Setenv("TMUX_TMPDIR", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, body := range scripts() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// program writes a script that can be run at once: while it is open for writing no other test starts a process, which
// would have it open too.
func program(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "program")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700)) //nolint:gosec // a program
	return path
}

func (b *bench) script(name string) string { return filepath.Join(b.dir, name) }

// newServer gives a test a server of its own, which is seen to be gone afterwards.
func newServer(t *testing.T) *Server {
	t.Helper()
	s := &Server{
		Getenv:  os.Getenv,
		Socket:  "s" + strconv.FormatInt(shared.number.Add(1), 10),
		Config:  filepath.Join(t.TempDir(), "tmux.conf"),
		Program: shared.script("tmux"),
	}
	write(t, s.Config, Configuration(""))
	t.Cleanup(func() {
		if err := s.KillServer(context.Background()); err != nil {
			t.Error(err)
		}
		if p, found, _ := s.notedPlace(); found { // a test that fails may have left one that cannot be reached
			_ = proc.Signal(p.process(), syscall.SIGKILL)
		}
		within(t, "the server is gone", func() bool {
			panes, err := s.Panes(context.Background())
			return err == nil && panes == nil
		})
	})
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// within waits for a fact.
func within(t *testing.T, fact string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(15 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", fact)
		case <-tick.C:
		}
	}
}

func mustStart(t *testing.T, s *Server, start Start) Pane {
	t.Helper()
	if start.Dir == "" {
		start.Dir = t.TempDir()
	}
	if start.Argv == nil {
		start.Argv = []string{"sleep", "600"}
	}
	if start.Window == "" {
		start.Window = "worker"
	}
	p, err := s.Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustPanes(t *testing.T, s *Server) []Pane {
	t.Helper()
	panes, err := s.Panes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return panes
}

// pane finds one by its id; ok is false when it is not there.
func pane(t *testing.T, s *Server, id string) (p Pane, ok bool) {
	t.Helper()
	for _, p := range mustPanes(t, s) {
		if p.ID == id {
			return p, true
		}
	}
	return Pane{}, false
}

func TestKill_neverHitsANeighbour(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	one := mustStart(t, s, Start{Task: "t1", Session: "feat-1", Window: "review-1"})
	ten := mustStart(t, s, Start{Task: "t10", Session: "feat-10", Window: "review-1"})
	other := mustStart(t, s, Start{Task: "t10", Session: "feat-10", Window: "review-10"})
	if ten.SessionID != other.SessionID || one.SessionID == ten.SessionID {
		t.Fatalf("sessions %q, %q, %q", one.SessionID, ten.SessionID, other.SessionID)
	}
	for range 2 {
		if err := s.KillSession(t.Context(), one.SessionID); err != nil {
			t.Fatal(err)
		}
		if err := s.KillWindow(t.Context(), ten.WindowID); err != nil {
			t.Fatal(err)
		}
	}
	panes := mustPanes(t, s)
	if len(panes) == 1 {
		panes[0].Activity = other.Activity // it has come to the front since
	}
	if len(panes) != 1 || panes[0] != other {
		t.Fatalf("left are %+v, want %+v", panes, other)
	}
	for _, name := range []string{"feat-1", "=feat-10", "", "$", "$1x", "@1"} {
		if err := s.KillSession(t.Context(), name); err == nil {
			t.Errorf("a session was killed by %q", name)
		}
	}
	// The last window takes its session and the server along.
	for range 2 {
		if err := s.KillWindow(t.Context(), other.WindowID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KillSession(t.Context(), other.SessionID); err != nil {
		t.Fatal(err)
	}
	if err := s.KillServer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestPanes_noServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if panes, err := s.Panes(t.Context()); panes != nil || err != nil {
		t.Fatalf("before the first start: %v, %v", panes, err)
	}
	mustStart(t, s, Start{Task: "t", Session: "one"})
	if err := s.KillServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Its socket is still there, and no one listens.
	within(t, "there is no server", func() bool {
		panes, err := s.Panes(t.Context())
		return panes == nil && err == nil
	})
}

func TestPanes_couldNotLook(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lost", "denied", "killed", "silent", "babbler", "missing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Server{Socket: "x", Config: "/nowhere", Program: shared.script(name), Getenv: os.Getenv}
			if panes, err := s.Panes(t.Context()); err == nil {
				t.Errorf("panes %v and no error", panes)
			}
			if name == "silent" || name == "babbler" {
				return // to a kill, status 0 is the answer
			}
			if err := s.KillSession(t.Context(), "$1"); err == nil {
				t.Error("the session was said to be killed")
			}
			if err := s.KillServer(t.Context()); err == nil {
				t.Error("the server was said to be killed")
			}
		})
	}
	if _, err := (&Server{Config: "/x", Getenv: os.Getenv}).Panes(t.Context()); err == nil {
		t.Error("a server without a socket was asked")
	}
	if _, err := (&Server{Socket: "x", Config: "x", Getenv: os.Getenv}).Panes(t.Context()); err == nil {
		t.Error("a server with a relative configuration was asked")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newServer(t).Panes(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}

func TestPanes_areAllThatThereAre(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const many = 12
	for i := range many {
		mustStart(t, s, Start{Task: fmt.Sprint("t", i/3), Session: fmt.Sprint("s", i/3),
			Window: fmt.Sprint("w", i), Role: "worker", Hook: "h"})
	}
	panes := mustPanes(t, s)
	if len(panes) != many {
		t.Fatalf("%d panes, want %d", len(panes), many)
	}
	server, err := s.run(t.Context(), nil, "display-message", "-p", "#{pid}")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range panes {
		if strconv.Itoa(p.Server) != server.Text() || p.Activity.IsZero() || p.Activity.After(time.Now()) {
			t.Errorf("the server is %s, not as in %+v", server.Text(), p)
		}
		if p.PID <= 1 || p.Role != "worker" || p.Hook != "h" || p.Dead || p.Attached || p.InMode {
			t.Errorf("odd pane %+v", p)
		}
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{
		"sh", "-c", `i=1; while [ $i -le 200 ]; do echo "line $i"; i=$((i+1)); done; printf '\033[31mrød\033[0m\n\n\n'; exec sleep 600`}})
	var screen string
	within(t, "the last line is on the screen", func() bool {
		var err error
		if screen, err = s.Capture(t.Context(), p.ID, 0); err != nil {
			t.Fatal(err)
		}
		return strings.HasSuffix(screen, "line 200\nrød\n")
	})
	if strings.Contains(screen, "line 1\n") {
		t.Error("the history was shown unasked")
	}
	long, err := s.Capture(t.Context(), p.ID, 1000)
	if err != nil || !strings.HasPrefix(long, "line 1\nline 2\n") {
		t.Errorf("with history: %q, %v", clip(long), err)
	}
	if _, err := s.Capture(t.Context(), "%77", 0); !errors.Is(err, ErrEnded) {
		t.Errorf("a pane that is not there: %v", err)
	}
	if _, err := s.Capture(t.Context(), "s", 0); err == nil {
		t.Error("a name was taken for an id")
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	theirs := filepath.Join(t.TempDir(), `a 'b' "c" $HOME *[x]? \d #e;`, "my.conf")
	if err := os.MkdirAll(filepath.Dir(theirs), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, theirs, "set -g @seen yes\nset -g remain-on-exit off\nset -g prefix C-a\nset -g status-left "+
		"mine\nset -g automatic-rename on\nbind -n F12 kill-server\n")
	write(t, s.Config, Configuration(theirs))
	mustStart(t, s, Start{Task: "t", Session: "s"})
	want := map[string]string{
		"@seen": "yes", "remain-on-exit": "on", "prefix": "None", "status-left": "mine",
		"automatic-rename": "off", "history-limit": "50000", "update-environment": "",
	}
	for option, value := range want {
		res, err := s.run(t.Context(), nil, "show-options", "-gvA", option)
		if err != nil || res.Text() != value {
			t.Errorf("%s is %q, want %q (%v)", option, res.Text(), value, err)
		}
	}
	res, err := s.run(t.Context(), nil, "list-keys", "-T", "root", KeyBack)
	if err != nil || !strings.Contains(res.Text(), "detach-client") {
		t.Errorf("%s does %q (%v)", KeyBack, res.Text(), err)
	}
	write(t, s.Config, Configuration("/not/there"))
	if _, err := s.run(t.Context(), nil, "source-file", s.Config); err != nil {
		t.Errorf("a user's file that is missing: %v", err)
	}
}

func TestSocketName(t *testing.T) {
	t.Parallel()
	one, two := SocketName("/home/a/.orange"), SocketName("/home/b/.orange")
	if one == two || one != SocketName("/home/a/./.orange/") || len(one) != len("orange-0123456789") {
		t.Errorf("%q and %q", one, two)
	}
}

func TestSaid_onlyStatus1(t *testing.T) {
	t.Parallel()
	if !noServer(&proc.Error{Code: 1, Stderr: "error connecting to /x/y (Connection refused)\n"}) {
		t.Error("a refused connection is no server")
	}
	if noServer(errors.New("no server running on /x")) ||
		noTarget(&proc.Error{Code: 2, Stderr: "can't find window: @1"}) {
		t.Error("words of others were believed")
	}
}
