package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// stop stops the process of a server, and lets it go on at the end of the test.
func stop(t *testing.T, p place) (goOn func()) {
	t.Helper()
	must(t, proc.Signal(p.process(), syscall.SIGSTOP))
	within(t, "the server is stopped", func() bool {
		is, err := proc.Stopped(p.process())
		return is && err == nil
	})
	goOn = func() { must(t, proc.Signal(p.process(), syscall.SIGCONT)) }
	t.Cleanup(goOn)
	return goOn
}

// doors are calls that look, change something, and start something.
func doors(s *Server, task string, p Pane) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"panes": func(ctx context.Context) error {
			_, err := s.Panes(ctx)
			return err
		},
		"panes of a task": func(ctx context.Context) error {
			_, err := s.PanesOf(ctx, task)
			return err
		},
		"start": func(ctx context.Context) error {
			_, err := s.Start(ctx, Start{Task: task, Session: task, Window: "more", Dir: "/", Argv: []string{"cat"},
				Seen: []Pane{p}})
			return err
		},
		"keep": func(ctx context.Context) error { return s.Keep(ctx, "abc", []byte("x")) },
		"kept": func(ctx context.Context) error {
			_, err := s.Kept(ctx, "abc")
			return err
		},
		"capture": func(ctx context.Context) error {
			_, err := s.Capture(ctx, p.ID, 0)
			return err
		},
		"kill a window": func(ctx context.Context) error { return s.KillWindow(ctx, "@77") },
		"whether it runs": func(ctx context.Context) error {
			_, _, err := s.Began(ctx)
			return err
		},
	}
}

func TestASocketThatIsGone_comesBackAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	socket := mustNoted(t, s).Socket
	for name, door := range doors(s, "one", p) {
		must(t, os.Remove(socket))
		if err := door(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again, there := pane(t, s, p.ID)
		if !there || again.Server != p.Server || again.PID != p.PID {
			t.Errorf("%s: the window is %+v, and was %+v", name, again, p)
		}
	}
}

func TestASocketWhoseFolderIsGone_comesBack(t *testing.T) {
	dir := elsewhere(t)
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	must(t, os.RemoveAll(filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()))))
	if again, there := pane(t, s, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

func TestASocketThatDoesNotComeBack_meansNoEndedServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	noted := mustNoted(t, s)
	must(t, os.Remove(noted.Socket))
	goOn := stop(t, noted)
	want := "the process is stopped, let it go on: kill -CONT " + strconv.Itoa(p.Server)
	for _, name := range []string{"panes", "start", "keep"} {
		if err := doors(s, "one", p)[name](t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	goOn()
	if again, there := pane(t, s, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

func TestASocketWhoseFolderCannotBeMade_meansNoEndedServer(t *testing.T) {
	dir := elsewhere(t)
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	own := filepath.Dir(mustNoted(t, s).Socket)
	must(t, os.RemoveAll(dir))
	write(t, dir, "in the way")
	for _, name := range []string{"panes", "start"} {
		if err := doors(s, "one", p)[name](t.Context()); err == nil || !strings.Contains(err.Error(), own) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	must(t, os.Remove(dir))
	must(t, os.MkdirAll(own, 0o700))
	if again, there := pane(t, s, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

// counted has a server's calls of tmux counted.
func counted(t *testing.T, s *Server) (runs func() int) {
	t.Helper()
	s.Program = program(t, fmt.Sprintf("echo >>\"$0.runs\"\nexec '%s' \"$@\"\n", s.program()))
	return func() int {
		text, err := os.ReadFile(s.Program + ".runs")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		return len(text)
	}
}

func TestAServerThatDoesNotAnswer_holdsNoCallUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	goOn := stop(t, mustNoted(t, s))
	want := fmt.Sprintf("the terminal server (tmux, process %d) has not answered for 2 s, so its agents are unknown; "+
		"the process is stopped, let it go on: kill -CONT %[1]d", p.Server)
	var all sync.WaitGroup
	for name := range doors(s, "one", p) {
		all.Go(func() {
			alone := other(s)
			asked := counted(t, alone)
			err := doors(alone, "one", p)[name](t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v", name, err)
			}
			first := asked()
			for again, door := range doors(alone, "one", p) {
				if err := door(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s after %s: the error is %v", again, name, err)
				}
			}
			if more := asked() - first; first == 0 || more > 0 {
				t.Errorf("%s: tmux was asked %d times, and %d times more once it was known not to answer", name, first,
					more)
			}
		})
	}
	all.Wait()
	goOn()
	if again, there := pane(t, s, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

// Defect: on a busy machine a server that had no turn for two seconds was taken for one that does not answer.
func TestAServerThatHadNoTurn_isAskedOnceMore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	busy := other(s)
	const text = "if mkdir \"$0.once\" 2>/dev/null; then exec sleep 20; fi\nexec '%s' \"$@\"\n"
	busy.Program = program(t, fmt.Sprintf(text, s.program()))
	if again, there := pane(t, busy, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

func TestAServerThatAnswersAgain_isAskedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	silent := errors.New("it was silent")
	_ = s.silent.keep(silent)
	if _, err := s.Panes(t.Context()); !errors.Is(err, silent) {
		t.Errorf("the error is %v", err)
	}
	s.silent.until = time.Now()
	if again, there := pane(t, s, p.ID); !there || again.Server != p.Server {
		t.Errorf("the window is %+v, and was %+v", again, p)
	}
}

// One that was started before places were noted has no process that is known.
func TestAnUnrecordedSilentServer_isNamedByItsSocket(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "one", Session: "one"})
	noted := mustNoted(t, s)
	must(t, os.Remove(s.file()))
	stop(t, noted)
	_, err := other(s).Panes(t.Context())
	if err == nil || !strings.Contains(err.Error(), "(tmux -S \""+noted.Socket+"\")") {
		t.Errorf("the error is %v", err)
	}
	must(t, s.note(noted))
}

func TestAServerThatWasKilled_isGoneWithItsSocketAndWithout(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, clean := range []bool{false, true} {
		mustStart(t, s, Start{Task: "one", Session: "one"})
		noted := mustNoted(t, s)
		must(t, proc.Signal(noted.process(), syscall.SIGKILL))
		if clean {
			must(t, os.Remove(noted.Socket))
		}
		if panes := mustPanes(t, s); panes != nil {
			t.Errorf("the windows are %+v", panes)
		}
	}
}
