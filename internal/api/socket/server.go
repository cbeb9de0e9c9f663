package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

const (
	mostCalls = 200              // at once
	sendTime  = 10 * time.Second // that a client may take to send its call
	keepEvery = 2 * time.Second  // how often the server looks whether its socket is still there
)

// Handler does a command line for a client, and answers its exit status, or what it needs of the client besides sent.
// It calls reads where the command line changes nothing: such a call is cut off where the server ends, and its standard
// output comes at once in the end. What was refused or cut off the client does itself.
type Handler func(ctx context.Context, call proc.Call, sent []Input, reads func()) (exit int, need *Need, refused error)

// Server answers the calls of a home's clients. It is made by Listen.
type Server struct {
	build  string
	log    *slog.Logger
	handle Handler
	home   string
	since  time.Time
	http   http.Server
	end    context.CancelFunc

	stopKeeping context.CancelFunc // a server that ends makes its socket no more
	listener    *net.UnixListener
	socket      os.FileInfo // the file that it listens at

	lock    sync.Mutex
	leaving bool
	left    chan struct{} // closed where the server ends
	last    uint64
	waiting int       // processes that wait for its end
	stays   bool      // a person has it in the foreground
	heard   time.Time // when its watch over the agents let others hear of it last
	own     int       // pieces of work of the server's own that are under way
	quiet   time.Time // when the last call began or ended, or it was asked how it is
	calls   map[uint64]*underWay
}

// underWay is a call that is not answered yet.
type underWay struct {
	pid   int // of the process that asks
	off   context.CancelFunc
	to    *answer
	reads bool
	cut   bool // it was ended because the server ends
}

// ErrUnsupported says that this system does not say enough about who is at the other end of a socket.
var ErrUnsupported = errors.New("calls are not served on this system")

// errOtherRights says that the process at the other end may do other things than this one.
var errOtherRights = errors.New("it has other rights than this process, or another view of the machine")

// Listen begins to answer at the socket of a home, and makes the socket again where it is taken away. The caller is the
// only process that may: what is in the place of the socket was left by one that has ended.
func Listen(ctx context.Context, home, build string, log *slog.Logger, handle Handler) (*Server, error) {
	if !Supported() {
		return nil, ErrUnsupported
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	now := time.Now()
	s := &Server{build: build, log: log, handle: handle, home: home, since: now, quiet: now, end: end,
		calls: map[uint64]*underWay{}, left: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+callsPath, s.call)
	mux.HandleFunc("DELETE "+callsPath+"/{number}", s.giveUp)
	mux.HandleFunc("GET "+healthPath, s.health)
	mux.HandleFunc("GET "+endPath, s.awaited)
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: sendTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	if err := s.listen(); err != nil {
		end()
		return nil, err
	}
	keeping, stop := context.WithCancel(ctx)
	s.stopKeeping = stop
	go s.keep(keeping)
	return s, nil
}

type connKey struct{}

// keep makes the socket again where it is missing, until ctx ends.
func (s *Server) keep(ctx context.Context) {
	for proc.Pause(ctx, keepEvery); ctx.Err() == nil; proc.Pause(ctx, keepEvery) {
		if _, err := os.Stat(s.home); err != nil {
			continue // no home is made here
		}
		if err := s.listen(); err != nil {
			s.log.Warn("the socket cannot be made again", "component", "server", "error", err.Error())
		}
	}
}

// listen makes the socket where it is missing, or another file is in its place. One goroutine calls it at a time.
func (s *Server) listen() error {
	at := pathOf(s.home)
	if now, err := os.Lstat(at); err == nil && s.socket != nil && os.SameFile(now, s.socket) {
		return nil
	}
	if dir := filepath.Dir(at); dir != s.home {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the socket of a server that has ended: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen at the socket of the home: %w", err)
	}
	if err = os.Chmod(at, task.PrivateFile); err == nil {
		s.socket, err = os.Lstat(at)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen at the socket of the home: %w", err), listener.Close())
	}
	if s.listener != nil {
		s.listener.SetUnlinkOnClose(false) // its file has gone, and the new one has its name
		_ = s.listener.Close()             // no one can reach it any more
	}
	s.listener = listener
	go func() { _ = s.http.Serve(listener) }() // it ends with Close
	return nil
}

// Stay notes that a person has the server in the foreground.
func (s *Server) Stay() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.stays = true
}

// Heard notes that the watch over the agents goes on.
func (s *Server) Heard() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.heard = time.Now()
}

// Begin notes that work of the server's own begins, which counts as a call until end is called. Close does not wait for
// it.
func (s *Server) Begin() (end func()) {
	s.count(1)
	return func() { s.count(-1) }
}

func (s *Server) count(more int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.own, s.quiet = s.own+more, time.Now()
}

// Idle is for how long there has been no call; 0 while one is under way.
func (s *Server) Idle() time.Duration {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.calls)+s.own > 0 {
		return 0
	}
	return time.Since(s.quiet)
}

// Close takes no more calls, cuts off those that only read, and returns when the others have ended, or ctx has: the
// error says so. It is called once. The socket is gone then, with its folder where that is not the home.
func (s *Server) Close(ctx context.Context) error {
	s.leave()
	err := s.http.Shutdown(ctx)
	s.end()
	err = errors.Join(err, s.http.Close())
	if dir := filepath.Dir(pathOf(s.home)); dir != s.home {
		_ = os.Remove(dir) // it stays where another server has a socket there already
	}
	return err
}

func (s *Server) leave() {
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.leaving {
		close(s.left)
	}
	s.leaving = true
	s.stopKeeping()
	for _, one := range s.calls {
		one.cutIfItReads()
	}
}

func (u *underWay) cutIfItReads() {
	if u.reads {
		u.cut = true
		u.off()
	}
}

// call does one call.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	to := newAnswer(w)
	defer to.flush()
	peer, err := peerOf(connOf(r))
	if err != nil {
		s.refuse(to, peer, err)
		return
	}
	defer peer.close()
	ctx, off := context.WithCancel(r.Context())
	defer off()
	c, err := s.read(w, r)
	var number uint64
	if err == nil {
		number, err = s.begin(&underWay{pid: peer.pid, off: off, to: to})
	}
	if err != nil {
		s.refuse(to, peer, err)
		return
	}
	to.add(part{Taken: number})
	to.flush()
	if to.failed() != nil { // it has given up already, and may do this itself by now
		s.forget(number)
		return
	}
	tick := time.AfterFunc(holdTime, to.release)
	defer tick.Stop()
	call, sent := c.call(output{to, false}, output{to, true})
	call.PID, call.Ended = peer.pid, peer.ended
	exit, need, broke, refused := s.perform(ctx, call, sent, func() { s.reads(number) })
	switch cut := s.forget(number); {
	case cut:
		to.drop()
		to.add(part{Refused: "the server ends"})
	case refused != nil:
		s.refuse(to, peer, refused)
	case broke != "":
		failed := 1
		to.add(part{Err: text(broke)})
		to.add(part{Exit: &failed})
	case need != nil:
		to.drop()
		to.add(part{Need: &item{File: text(need.File), Question: text(need.Question)}})
	default:
		to.add(part{Exit: &exit})
	}
}

// refuse answers that nothing was done. Who wonders why commands work by themselves finds it in the log.
func (s *Server) refuse(to *answer, who peer, why error) {
	if errors.Is(why, ErrOlder) { // it comes again, or has a newer server begin
		to.add(part{Refused: why.Error(), Older: true})
		return
	}
	s.log.Info("a call is left to its process", "component", "server", "process", who.pid, "why", why.Error())
	to.add(part{Refused: why.Error()})
}

func connOf(r *http.Request) net.Conn {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	return conn
}

// read reads a call, and refuses one that is not to be done here.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (c request, err error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(sendTime)); err != nil {
		return c, fmt.Errorf("read the call: %w", err)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostOfCall)) // all: only then a hang-up is noticed
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err == nil {
		err = control.SetReadDeadline(time.Time{})
	}
	if err != nil {
		return c, fmt.Errorf("read the call: %w", err)
	}
	if c.Build > s.build && !c.Older {
		return c, ErrOlder
	}
	return c, nil
}

// perform does a call. A fault in it is the end of this call alone.
func (s *Server) perform(ctx context.Context, call proc.Call, sent []Input, reads func()) (exit int, need *Need,
	broke string, refused error) {
	defer func() {
		if why := recover(); why != nil {
			s.log.Error("a call broke", "component", "server", "why", fmt.Sprint(why), "trace", string(debug.Stack()))
			broke = fmt.Sprintf("orange: the server broke at this call: %v; its log has the trace\n", why)
		}
	}()
	exit, need, refused = s.handle(ctx, call, sent, reads)
	return exit, need, "", refused
}

// begin gives a call its number.
func (s *Server) begin(one *underWay) (uint64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.leaving {
		return 0, errors.New("the server ends")
	}
	if len(s.calls) >= mostCalls {
		return 0, fmt.Errorf("the server does %d calls already", mostCalls)
	}
	s.last++
	s.calls[s.last], s.quiet = one, time.Now()
	return s.last, nil
}

// reads notes that a call changes nothing.
func (s *Server) reads(number uint64) {
	s.lock.Lock()
	defer s.lock.Unlock()
	one := s.calls[number]
	one.to.holdOutput()
	if one.reads = true; s.leaving {
		one.cutIfItReads()
	}
}

// forget ends a call, and reports whether it was cut off.
func (s *Server) forget(number uint64) (cut bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	cut = s.calls[number].cut
	delete(s.calls, number)
	s.quiet = time.Now()
	return cut
}

// giveUp ends a call of the process that asks, as an interrupt ends a command.
func (s *Server) giveUp(w http.ResponseWriter, r *http.Request) {
	who, err := peerOf(connOf(r))
	if err == nil {
		defer who.close()
	}
	number, unread := strconv.ParseUint(r.PathValue("number"), 10, 64)
	s.lock.Lock()
	one := s.calls[number]
	s.lock.Unlock()
	if err != nil || unread != nil || one == nil || one.pid != who.pid {
		http.NotFound(w, r)
		return
	}
	one.off()
}
