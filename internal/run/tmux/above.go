package tmux

import (
	"errors"
	"os"
	"path"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Above reports whether one of these processes is this server. The server itself is not asked: it may be stopped, or
// its socket gone, and what runs below it is there all the same.
func (s *Server) Above(processes []task.Process) (bool, error) {
	for _, p := range processes {
		is, err := s.is(p.PID)
		if is || err != nil && !errors.Is(err, os.ErrNotExist) {
			return is, err
		}
	}
	return false, nil
}

// Orphaned reports whether a living process has lost the tmux server that started it, be it this one or another.
func (*Server) Orphaned(p task.Process) (bool, error) {
	_, name, err := proc.Parent(p.PID)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil // it has ended since
	}
	return !strings.HasPrefix(name, "tmux"), err
}

func (s *Server) is(pid int) (bool, error) {
	name, err := proc.Name(pid)
	if err != nil || !strings.HasPrefix(name, "tmux") {
		return false, err
	}
	args, err := proc.Arguments(pid)
	return err == nil && s.servedBy(args), err
}

// servedBy reports whether a tmux that was started with these arguments is on the server's socket. A server keeps
// the arguments of the call that started it, and where the system lets it, shows "tmux: server (SOCKET)" in their
// place.
func (s *Server) servedBy(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if strings.HasSuffix(args[len(args)-1], "/"+s.Socket+")") {
		return true
	}
	// the options of tmux itself that have a value; what comes behind the first other word belongs to its command
	const valued = "cfLST"
	for i := 1; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "--"; i++ {
		at := strings.IndexAny(args[i][1:], valued) + 1
		if at == 0 {
			continue
		}
		option, value := args[i][at], args[i][at+1:]
		if value == "" && i+1 < len(args) {
			i++
			value = args[i]
		}
		if option == 'L' && value == s.Socket || option == 'S' && path.Base(value) == s.Socket {
			return true
		}
	}
	return false
}
