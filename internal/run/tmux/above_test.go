package tmux

import (
	"os"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

func TestServedBy_knowsTheServerByTheSocketThatItsArgumentsName(t *testing.T) {
	t.Parallel()
	s := &Server{Socket: "orange-0123456789", Getenv: os.Getenv}
	for line, want := range map[string]bool{
		"tmux -u -L orange-0123456789 -f /home/a/orange/tmux.conf new-session -d": true,
		"tmux -Lorange-0123456789 new-session":                                    true,
		"tmux -uL orange-0123456789 start-server":                                 true,
		"tmux -S /tmp/tmux-0/orange-0123456789 new-session":                       true,
		"tmux: server (/tmp/tmux-0/orange-0123456789)":                            true,
		"tmux -L orange-9876543210 new-session":                                   false,
		"tmux new-session tmux -L orange-0123456789 attach":                       false, // a person's own server
		"tmux -f -L orange-0123456789":                                            false, // the value of another option
		"tmux -c":                                                                 false,
		"tmux":                                                                    false,
		"":                                                                        false,
	} {
		if got := s.servedBy(strings.Fields(line)); got != want {
			t.Errorf("%q: found %v, want %v", line, got, want)
		}
	}
}

func TestAbove_findsARealServerAboveAWindow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, err := s.Start(t.Context(), Start{Task: "abc", Role: "worker", Hook: "1", Session: "one", Window: "worker",
		Dir: "/", Argv: []string{"/bin/cat"}})
	if err != nil {
		t.Fatal(err)
	}
	above, _, err := proc.Parent(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	for what, one := range map[string]struct {
		server *Server
		above  []task.Process
		want   bool
	}{
		"the server": {s, []task.Process{{PID: os.Getpid()}, above}, true},
		"another server": {&Server{Socket: s.Socket + "0", Config: s.Config, Getenv: os.Getenv},
			[]task.Process{above}, false},
		"no server":          {s, []task.Process{{PID: os.Getpid()}}, false},
		"one that has ended": {s, []task.Process{{PID: 1 << 30}, above}, true},
	} {
		if got, err := one.server.Above(one.above); got != one.want || err != nil {
			t.Errorf("%s: found %v and %v, want %v", what, got, err, one.want)
		}
	}
}
