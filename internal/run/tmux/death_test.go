package tmux

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// awaited waits for a hint in the background.
func awaited(ctx context.Context, s *Server) <-chan error {
	hint := make(chan error, 1)
	go func() { hint <- s.AwaitDeath(ctx) }()
	return hint
}

// waiting sees the child of a wait at its place in the server.
func waiting(t *testing.T, s *Server) {
	t.Helper()
	within(t, "somebody waits", func() bool { return len(clients(t, s)) > 0 })
}

// clients finds the waiting children of this server by their command line, which names its socket.
func clients(t *testing.T, s *Server) []int {
	t.Helper()
	processes, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("no /proc to see the child in")
	}
	var out []int
	for _, entry := range processes {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err != nil {
			continue // gone meanwhile
		}
		words := strings.Split(string(line), "\x00")
		if strings.Contains(string(line), s.Config) && strings.Contains(string(line), "wait-for "+deathChannel) &&
			words[0] == "tmux" {
			out = append(out, pid)
		}
	}
	return out
}

// mustHint takes the hint, and has tmux see what it has missed: as Panes does, which is asked again and again.
func mustHint(t *testing.T, s *Server, hint <-chan error) {
	t.Helper()
	within(t, "a hint comes", func() bool {
		select {
		case err := <-hint:
			// A wait that comes to a server a moment after its end is reported so.
			if err != nil && !errors.Is(err, ErrNoServer) {
				t.Fatal(err)
			}
			return true
		default:
			_, _ = s.Panes(t.Context()) // a server that leaves may not answer
			return false
		}
	})
}

func wantNoHint(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.AwaitDeath(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing has died: %v", err)
	}
}

func TestAwaitDeath_isWokenByWhatEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *Server, Pane) error{
		"a program": func(_ *testing.T, _ *Server, p Pane) error {
			return syscall.Kill(p.PID, syscall.SIGTERM)
		},
		"a program, killed": func(_ *testing.T, _ *Server, p Pane) error {
			return syscall.Kill(p.PID, syscall.SIGKILL)
		},
		"a window": func(t *testing.T, s *Server, p Pane) error {
			return s.KillWindow(t.Context(), p.WindowID)
		},
		"a session": func(t *testing.T, s *Server, p Pane) error {
			return s.KillSession(t.Context(), p.SessionID)
		},
		"the server": func(t *testing.T, s *Server, _ Pane) error { return s.KillServer(t.Context()) },
		"the server, killed": func(_ *testing.T, _ *Server, p Pane) error {
			return errors.Join(syscall.Kill(p.Server, syscall.SIGKILL), syscall.Kill(p.PID, syscall.SIGKILL))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			other := mustStart(t, s, Start{Task: "t0", Session: "other"})
			p := mustStart(t, s, Start{Task: "t1", Session: "s"})
			wantNoHint(t, s)
			hint := awaited(t.Context(), s)
			waiting(t, s)
			if err := end(t, s, p); err != nil {
				t.Fatal(err)
			}
			mustHint(t, s, hint)
			if name == "the server, killed" {
				_ = syscall.Kill(other.PID, syscall.SIGKILL) // its terminal is gone, so it may be gone too
			}
		})
	}
}

// No one waits between two hints, and that is when several may end.
func TestAwaitDeath_isToldOfWhatEndedBefore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "t", Session: "s"})
	// A wait that is called off leaves its place in the queue.
	wantNoHint(t, s)
	for _, many := range []int{1, 2, 3, 4} {
		var windows []Pane
		for range many {
			windows = append(windows, mustStart(t, s, Start{Task: "t", Session: "s"}))
		}
		for _, p := range windows {
			if err := s.KillWindow(t.Context(), p.WindowID); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.AwaitDeath(t.Context()); err != nil {
			t.Fatalf("%d have ended: %v", many, err)
		}
	}
}

func TestAwaitDeath_calledOffLeavesNoProcess(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "t", Session: "s"})
	ctx, cancel := context.WithCancel(t.Context())
	hint := awaited(ctx, s)
	waiting(t, s)
	cancel()
	if err := <-hint; !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	if left := clients(t, s); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestAwaitDeath_noServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if err := s.AwaitDeath(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("before the first start: %v", err)
	}
	mustStart(t, s, Start{Task: "t", Session: "s"})
	if err := s.KillServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, "there is no server", func() bool { return errors.Is(s.AwaitDeath(t.Context()), ErrNoServer) })
	for _, name := range []string{"denied", "killed", "missing"} {
		s := &Server{Socket: "x", Config: "/nowhere", Program: shared.script(name), Getenv: os.Getenv}
		err := s.AwaitDeath(t.Context())
		if err == nil || errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAwaitDeath_ofAnOlderConfigurationGetsNoHint(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	write(t, s.Config, strings.ReplaceAll(Configuration(""), "set-hook", "# set-hook"))
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"true"}})
	within(t, "it is dead", func() bool { now, _ := pane(t, s, p.ID); return now.Dead && now.Ending.Known })
	wantNoHint(t, s)
}

func TestConfiguration_keepsAPersonsHooks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	theirs := s.Config + ".theirs"
	write(t, theirs, "set-hook -g pane-died 'set-option -g @theirs seen'\n")
	write(t, s.Config, Configuration(theirs))
	mustStart(t, s, Start{Task: "t", Session: "s"})
	mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"true"}})
	mustHint(t, s, awaited(t.Context(), s))
	res, err := s.run(t.Context(), nil, "show-options", "-gv", "@theirs")
	if err != nil || res.Text() != "seen" {
		t.Errorf("their hook has said %q, %v", res.Text(), err)
	}
}
