package tmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// place is where a terminal server is, and which process it is. A home has it in a file: shells that differ in
// TMUX_TMPDIR would else look for its server in different folders, and each would start one of its own. The process
// tells a server that has ended from one whose socket was removed.
type place struct {
	Socket string `json:"socket"` // its full path
	PID    int    `json:"pid,omitempty"`
	Began  string `json:"began,omitempty"`
}

func (p place) process() task.Process { return task.Process{PID: p.PID, Began: p.Began} }

// file has the place. It is next to the configuration.
func (s *Server) file() string { return filepath.Join(filepath.Dir(s.Config), "terminal.json") }

// notedPlace is the place that the home has noted. A note with another socket's name came with the copy of a home, or
// with one that was moved: it is none.
func (s *Server) notedPlace() (p place, found bool, err error) {
	text, err := proc.ReadSettings(s.file())
	if errors.Is(err, os.ErrNotExist) {
		return place{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return place{}, false, fmt.Errorf("cannot tell where the terminal server is: read %q: %w; move that file away "+
			"if no agent lives", s.file(), err)
	}
	if filepath.Base(p.Socket) != s.Socket || !filepath.IsAbs(p.Socket) {
		return place{}, false, nil
	}
	return p, true, nil
}

// where is the place that is noted. Where none is, it is where a server would be started now.
func (s *Server) where() (place, error) {
	p, found, err := s.notedPlace()
	if found || err != nil {
		return p, err
	}
	return place{Socket: s.usual(s.Getenv(folderVariable))}, nil
}

// folderVariable names the folder in which tmux makes a folder for its sockets.
const folderVariable = "TMUX_TMPDIR"

// usual is where tmux itself would make the socket: in the first of these folders that there is.
func (s *Server) usual(folder string) string {
	own := filepath.Join("tmux-"+strconv.Itoa(os.Getuid()), s.Socket)
	if folder != "" {
		if real, err := filepath.EvalSymlinks(filepath.Join("/", folder)); err == nil {
			return filepath.Join(real, own)
		}
	}
	return filepath.Join("/tmp", own)
}

// Ready is an error where no terminal server could start: tmux is not installed, or its socket would have a path that
// is too long.
func (s *Server) Ready(ctx context.Context) error {
	if _, err := proc.Find("tmux", proc.Getenv(ctx, "PATH")); err != nil {
		return err
	}
	at, err := s.where()
	if err == nil && len(at.Socket) > proc.LongestSocket {
		err = fmt.Errorf("the path of its socket is too long: %q has %d bytes, and systems take %d; let %s name a "+
			"folder with a shorter path", at.Socket, len(at.Socket), proc.LongestSocket, folderVariable)
	}
	return err
}

// checkFolder refuses the folder of a socket that is another user's or open to others, as tmux does: who made it could
// answer in the place of the server. One that is not there is as good.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the folder of the terminal server's socket: %w", err)
	}
	const others = 0o007
	if !info.IsDir() || !proc.IsOwn(info) || info.Mode()&others != 0 {
		return fmt.Errorf("cannot use %q for the socket of the terminal server: it is no folder of yours that is "+
			"closed to others; correct that, or move it away", dir)
	}
	return nil
}

// listens reports whether a server listens at a socket. One with too much to answer does.
func listens(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil || errors.Is(err, syscall.EAGAIN)
}

// lives reports whether the noted process of the server runs.
func (s *Server) lives(p place) (bool, error) {
	if p.PID == 0 {
		return false, nil
	}
	alive, err := proc.Alive(p.process())
	if err == nil && alive {
		alive, err = s.is(p.PID)
	}
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether the terminal server lives: %w", err)
	}
	return alive, nil
}

// lock takes the lock under which a server is started, and its place noted.
func (s *Server) lock(ctx context.Context) (release func(), err error) {
	release, err = proc.LockFile(ctx, s.lockPath())
	if err != nil {
		err = fmt.Errorf("wait for others that start the terminal server: %w", err)
	}
	return release, err
}

func (s *Server) lockPath() string { return filepath.Join(filepath.Dir(s.Config), "locks", "terminal") }

// settle notes where a server will be started. It stays at the noted place while someone listens there. The caller has
// the lock, and knows of no server that lives.
func (s *Server) settle(p place) (place, error) {
	p.PID, p.Began = 0, ""
	if !listens(p.Socket) {
		p.Socket = s.usual(s.Getenv(folderVariable))
	}
	dir := filepath.Dir(p.Socket)
	if err := os.Mkdir(dir, task.PrivateFolder); err != nil && !errors.Is(err, os.ErrExist) {
		return p, fmt.Errorf("make the folder of the terminal server's socket: %w", err)
	}
	return p, s.note(p)
}

// note notes the place, if that is not noted. Nothing of it outlives a start of the machine.
func (s *Server) note(p place) error {
	if have, found, err := s.notedPlace(); err == nil && found && have == p {
		return nil
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = proc.ReplaceCopy(s.file(), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note where the terminal server is: %w", err)
	}
	return nil
}

// saw notes which process answered at a place, where the home knows of none that lives. The next look does it where it
// cannot be done now, or where a server is being started.
func (s *Server) saw(at place, pid int) {
	if at.PID == pid || pid == 0 {
		return
	}
	if is, err := s.is(pid); err != nil || !is {
		return
	}
	release, free, err := proc.TryLockFile(s.lockPath())
	if err != nil || !free {
		return
	}
	defer release()
	if have, found, err := s.notedPlace(); err != nil || found && have != at {
		return
	}
	if lives, err := s.lives(at); lives || err != nil {
		return
	}
	_ = s.notePID(at, pid)
}

// notePID notes the process that is at a place.
func (s *Server) notePID(at place, pid int) error {
	p, err := proc.Lookup(pid)
	if err != nil {
		return err
	}
	return s.note(place{Socket: at.Socket, PID: p.PID, Began: p.Began})
}
