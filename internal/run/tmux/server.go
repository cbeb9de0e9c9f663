// Package tmux runs agents in the windows of a private tmux server, and looks at them there.
//
// It owns how tmux is spoken to: targets that cannot hit a neighbour, tags, quoting, limits, and typing that arrives.
// It does not own which agents there should be, what their end means for a task, nor when a person is reported.
// "Could not look" is always an error here and never "nothing there".
package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/run/proc"
)

// Server is Orange's private tmux server. The zero value is of no use: Socket and Config are required.
// Several processes may use one server at once.
type Server struct {
	Socket string // the name of its socket
	// Config is the absolute path of the file with the text of Configuration. Next to it is the file with the place.
	Config  string
	Program string // "tmux" when empty
	// Getenv has the variables of the one who asks: where a server would be started, and which terminal they have.
	Getenv func(name string) string

	silent silence
}

// SocketName gives every home folder a server of its own: the same name for the same absolute path.
func SocketName(home string) string {
	if abs, err := filepath.Abs(home); err == nil {
		home = abs
	}
	sum := sha256.Sum256([]byte(home))
	const digits = 10
	return "orange-" + hex.EncodeToString(sum[:])[:digits]
}

// ServerOf is the server whose windows the agents of a home run in.
func ServerOf(home string, getenv func(name string) string) *Server {
	return &Server{Socket: SocketName(home), Config: filepath.Join(home, "tmux.conf"), Getenv: getenv}
}

// KillWindow ends a window ("@2") and what runs in it gets SIGHUP. A window that is gone already is no error.
func (s *Server) KillWindow(ctx context.Context, id string) error {
	return s.kill(ctx, "kill-window", '@', id)
}

// KillSession ends a session ("$1") with all its windows. A session that is gone already is no error.
func (s *Server) KillSession(ctx context.Context, id string) error {
	return s.kill(ctx, "kill-session", '$', id)
}

// KillServer ends the server with all its sessions. No server running is no error.
func (s *Server) KillServer(ctx context.Context) error {
	_, err := s.act(ctx, "kill-server")
	if err != nil && !noServer(err) {
		return fmt.Errorf("kill tmux server %q: %w", s.Socket, err)
	}
	return nil
}

func (s *Server) kill(ctx context.Context, verb string, kind byte, id string) error {
	if err := checkID(kind, id); err != nil {
		return err
	}
	_, err := s.act(ctx, verb, "-t", id)
	if err != nil && !noServer(err) && !noTarget(err) {
		return fmt.Errorf("%s %q: %w", verb, id, err)
	}
	return nil
}

// Capture gives the visible screen of a pane ("%3") after so many lines of history, without escape codes.
// Blank lines at the end are dropped; every other line ends with a newline.
func (s *Server) Capture(ctx context.Context, pane string, lines int) (string, error) {
	return s.capture(ctx, pane, lines)
}

// Screen gives the visible screen of a pane with its colours as escape codes.
func (s *Server) Screen(ctx context.Context, pane string) (string, error) {
	return s.capture(ctx, pane, 0, "-e")
}

func (s *Server) capture(ctx context.Context, pane string, lines int, flags ...string) (string, error) {
	if err := checkID('%', pane); err != nil {
		return "", err
	}
	res, err := s.ask(ctx, append([]string{"capture-pane", "-p", "-t", pane, "-S", strconv.Itoa(-max(lines, 0))},
		flags...)...)
	if err != nil {
		return "", fmt.Errorf("capture pane %q: %w", pane, asEnded(err))
	}
	return trimScreen(string(res.Stdout)), nil
}

func trimScreen(text string) string {
	text = strings.TrimRight(text, " \n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// Attach is the command with which a person looks at a window of a session (a name or an id; the window may be empty).
// It is made for Open, which may name another type of terminal.
func (s *Server) Attach(session, windowID string) (proc.Command, error) {
	at, err := s.where()
	args := append(s.args(at), "attach-session", "-t", exactly(session)+windowID)
	return proc.Command{Name: s.program(), Args: args, Env: []string{"TERM=" + s.Getenv("TERM")}}, err
}

// exactly names a session as a target that also may be followed by a window.
// Without the "=" tmux falls back to the beginning of a name and takes the neighbour.
func exactly(session string) string { return "=" + session + ":" }

func (s *Server) program() string {
	if s.Program == "" {
		return "tmux"
	}
	return s.Program
}

// literal keeps a value from losing a ";" at its end, which tmux would read as the end of the command.
func literal(value string) string {
	if before, found := strings.CutSuffix(value, ";"); found {
		return before + `\;`
	}
	return value
}

// checkID refuses what is not an id: tmux would look for a name that begins like it.
func checkID(kind byte, id string) error {
	if len(id) > 1 && id[0] == kind && strings.Trim(id[1:], "0123456789") == "" {
		return nil
	}
	return fmt.Errorf("cannot use %q as a tmux target: an id like %q is needed", id, string(kind)+"1")
}

// complaintOf gives what tmux complained about when it ended with status 1, as it does for every refusal of its own.
// tmux never asks for translated messages, so these words are the same in every locale.
func complaintOf(err error) string {
	exit, ended := errors.AsType[*proc.Error](err)
	if !ended || exit.Code != 1 {
		return ""
	}
	return strings.TrimSpace(exit.Stderr)
}

// noServer knows the ways in which tmux says that no one listens, or that a server which is about to leave
// has no session any more ("no current target"). Anything else, such as a socket that we may not open, is not
// knowledge.
func noServer(err error) bool {
	return isClosed(err) || complaintOf(err) == "no current target"
}

// isClosed reports that no one listens.
func isClosed(err error) bool {
	text := complaintOf(err)
	return strings.HasPrefix(text, "no server running on ") || strings.HasPrefix(text, "error connecting to ") &&
		(strings.HasSuffix(text, "(No such file or directory)") || strings.HasSuffix(text, "(Connection refused)"))
}

func noTarget(err error) bool {
	text := complaintOf(err)
	for _, kind := range []string{"session", "window", "pane"} {
		if strings.HasPrefix(text, "can't find "+kind+": ") {
			return true
		}
	}
	return false
}

// ErrEnded says that the program in a pane has ended, or that the pane is gone with it.
var ErrEnded = errors.New("the program in the pane has ended")

func asEnded(err error) error {
	if noServer(err) || noTarget(err) || complaintOf(err) == "target pane has exited" {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return err
}

// Began is when the server was started, in whole seconds; runs is false where there is none.
func (s *Server) Began(ctx context.Context) (began time.Time, runs bool, err error) {
	res, err := s.ask(ctx, "display-message", "-p", "#{start_time}")
	if noServer(err) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(res.Stdout)), 10, 64)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read when tmux was started: %w", err)
	}
	return time.Unix(seconds, 0), true, nil
}
