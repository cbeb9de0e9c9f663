package tmux

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/run/proc"
)

func mustNoted(t *testing.T, s *Server) place {
	t.Helper()
	p, found, err := s.notedPlace()
	if err != nil || !found {
		t.Fatalf("no place is noted: %v", err)
	}
	return p
}

// other is the same server for a process that differs in its variables.
func other(s *Server) *Server {
	return &Server{Socket: s.Socket, Config: s.Config, Program: s.Program, Getenv: os.Getenv}
}

// elsewhere has this process look in another folder than the one in which a server is.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(shared.dir, "o") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", dir)
	return dir
}

func TestPlace_isTheSameForEveryShellWhileTheServerLives(t *testing.T) {
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "one", Session: "one"})
	noted := mustNoted(t, s)
	if began, err := proc.Lookup(p.Server); err != nil || noted.process() != began {
		t.Errorf("noted is %+v, and the server is %+v, %v", noted, began, err)
	}
	dir := elsewhere(t)
	again := mustStart(t, other(s), Start{Task: "one", Session: "one", Window: "review-1"})
	must(t, other(s).Keep(t.Context(), "abc", []byte("x")))
	command, err := other(s).Attach("one", "")
	if err != nil || again.Server != p.Server || !strings.Contains(strings.Join(command.Args, " "), noted.Socket) {
		t.Errorf("the servers are %d and %d, and attached is with %q, %v", p.Server, again.Server, command.Args, err)
	}
	must(t, s.KillServer(t.Context()))
	wantNoServer(t, s)
	mustStart(t, s, Start{Task: "one", Session: "one"})
	if now := mustNoted(t, s); !strings.HasPrefix(now.Socket, dir) || now.PID == noted.PID {
		t.Errorf("after the end of the server it is %+v, and TMUX_TMPDIR is %q", now, dir)
	}
}

// A copy would else end the agents of the first home as strangers.
func TestPlace_ofACopiedHomeIsNotTheFirstOnes(t *testing.T) {
	t.Parallel()
	s, copied := newServer(t), newServer(t)
	mustStart(t, s, Start{Task: "one", Session: "one"})
	text, err := os.ReadFile(s.file())
	must(t, err)
	write(t, copied.file(), string(text))
	if panes := mustPanes(t, copied); len(panes) != 0 {
		t.Errorf("the copy has the windows %+v", panes)
	}
}

func TestPlace_thatCannotBeReadIsNoServerThatIsGone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	write(t, s.file(), "{")
	if _, err := s.Panes(t.Context()); err == nil || !strings.Contains(err.Error(), s.file()) {
		t.Errorf("the error is %v", err)
	}
	must(t, os.Remove(s.file()))
}

// Another user who made such a folder could answer in the place of the server.
func TestPlace_inAFolderThatIsOpenToOthersIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dir := filepath.Join(shared.dir, "open"+s.Socket)
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, 0o777))
	text, err := json.Marshal(place{Socket: filepath.Join(dir, s.Socket)})
	must(t, err)
	write(t, s.file(), string(text))
	if _, err := s.Panes(t.Context()); err == nil || !strings.Contains(err.Error(), "closed to others") {
		t.Errorf("the error is %v", err)
	}
	must(t, os.Remove(s.file()))
}
