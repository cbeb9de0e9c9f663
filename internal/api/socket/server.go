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
	mostCalls = 200                    // at once
	flushTime = 500 * time.Millisecond // that what a command prints is held back
	slowest   = 30 * time.Second       // that a client may take to read what is written to it
	headTime  = 10 * time.Second       // that a client may take to send its call
)

// Do does a command line for a client, and answers its exit status, or what it needs of the client. It calls reads
// where the command line changes nothing: such a call is cut off where the server ends. What was refused or cut off the
// client does itself.
type Do func(ctx context.Context, call proc.Call, sent Sent, reads func()) (exit int, need *Lack, refused error)

// Server answers the calls of a home's clients. It is made by Listen.
type Server struct {
	build string
	log   *slog.Logger
	do    Do
	home  string
	since time.Time
	http  http.Server
	end   context.CancelFunc

	socket os.FileInfo // the file that it listens at

	lock    sync.Mutex
	leaving bool
	last    uint64
	calls   map[uint64]*underWay
}

// underWay is a call that is not answered yet.
type underWay struct {
	off   context.CancelFunc
	reads bool
	cut   bool // it was ended because the server ends
}

// ErrUnserved says that this system does not say enough about who is at the other end of a socket.
var ErrUnserved = errors.New("calls are not served on this system")

// Listen begins to answer at the socket of a home. The caller is the only process that may: what is in the place of the
// socket was left by one that has ended.
func Listen(ctx context.Context, home, build string, log *slog.Logger, do Do) (*Server, error) {
	if !Serves() {
		return nil, ErrUnserved
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{build: build, log: log, do: do, home: home, since: time.Now(), end: end, calls: map[uint64]*underWay{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+path, s.call)
	mux.HandleFunc("GET "+statePath, s.health)
	mux.HandleFunc("DELETE "+path+"/{number}", s.giveUp)
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: headTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	if err := s.Renew(); err != nil {
		end()
		return nil, err
	}
	return s, nil
}

// Renew makes the socket of the server where it is missing, or another file is in its place.
func (s *Server) Renew() error {
	at := place(s.home)
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
	listener, err := net.Listen("unix", at)
	if err != nil {
		return fmt.Errorf("listen at the socket of the home: %w", err)
	}
	if err = os.Chmod(at, task.PrivateFile); err == nil {
		s.socket, err = os.Lstat(at)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen at the socket of the home: %w", err), listener.Close())
	}
	go func() { _ = s.http.Serve(listener) }() // it ends with Close
	return nil
}

type connKey struct{}

// Close takes no more calls, cuts off those that only read, and returns when the others have ended, or ctx has.
func (s *Server) Close(ctx context.Context) error {
	s.leave()
	err := s.http.Shutdown(ctx)
	s.end()
	err = errors.Join(err, s.http.Close())
	if dir := filepath.Dir(place(s.home)); dir != s.home {
		_ = os.Remove(dir) // it has the socket alone; where another server has made it again it stays
	}
	return err
}

func (s *Server) leave() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.leaving = true
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
	to := &answer{w: w, control: http.NewResponseController(w)}
	defer to.flush()
	ctx, off := context.WithCancel(r.Context())
	defer off()
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	peer, err := peerOf(conn)
	if err == nil {
		defer peer.close()
	}
	var c request
	if err == nil {
		c, err = s.read(w, r)
	}
	var number uint64
	if err == nil {
		number, err = s.begin(off)
	}
	if err != nil {
		to.add(part{Refused: err.Error()})
		return
	}
	to.add(part{Taken: number})
	to.flush()
	tick := time.AfterFunc(flushTime, to.stream)
	defer tick.Stop()
	call, sent := c.call(stream{to, false}, stream{to, true})
	call.PID, call.There = peer.pid, peer.there
	exit, need, broke, refused := s.perform(ctx, call, sent, func() { s.reads(number) })
	switch cut := s.forget(number); {
	case cut:
		to.drop()
		to.add(part{Refused: "the server ends"})
	case refused != nil:
		to.add(part{Refused: refused.Error()})
	case broke != "":
		failed := 1
		to.add(part{Err: text(broke)})
		to.add(part{Exit: &failed})
	case need != nil:
		to.drop()
		to.add(part{Need: need})
	default:
		to.add(part{Exit: &exit})
	}
}

// read reads a call, and refuses one that is not to be done here.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (c request, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostOfCall)) // to its end: what comes after is the hang-up
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read the call: %w", err)
	}
	if c.Build != s.build {
		return c, errors.New("the server is another build of the program")
	}
	return c, nil
}

// perform does a call. A fault in it is the end of this call alone.
func (s *Server) perform(ctx context.Context, call proc.Call, sent Sent, reads func()) (exit int, need *Lack,
	broke string, refused error) {
	defer func() {
		if why := recover(); why != nil {
			s.log.Error("a call broke", "component", "server", "why", fmt.Sprint(why), "trace", string(debug.Stack()))
			broke = fmt.Sprintf("orange: the server broke at this call: %v; its log has the trace\n", why)
		}
	}()
	exit, need, refused = s.do(ctx, call, sent, reads)
	return exit, need, "", refused
}

// begin gives a call its number.
func (s *Server) begin(off context.CancelFunc) (uint64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.leaving || len(s.calls) >= mostCalls {
		return 0, fmt.Errorf("the server ends, or does %d calls already", mostCalls)
	}
	s.last++
	s.calls[s.last] = &underWay{off: off}
	return s.last, nil
}

// reads notes that a call changes nothing.
func (s *Server) reads(number uint64) {
	s.lock.Lock()
	defer s.lock.Unlock()
	one := s.calls[number]
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
	return cut
}

// giveUp ends a call as an interrupt ends a command.
func (s *Server) giveUp(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseUint(r.PathValue("number"), 10, 64)
	s.lock.Lock()
	one := s.calls[number]
	s.lock.Unlock()
	if err != nil || one == nil {
		http.NotFound(w, r)
		return
	}
	one.off()
}

// answer writes the parts of an answer. What a command prints is held back for a moment: a command that needs something
// of the client is done again, and prints it again.
type answer struct {
	w       http.ResponseWriter
	control *http.ResponseController

	lock    sync.Mutex
	held    []part
	streams bool
	broken  error // why no more can be written
}

// stream is one of the two streams of an answer.
type stream struct {
	to    *answer
	toErr bool
}

func (s stream) Write(bytes []byte) (int, error) {
	if s.toErr {
		s.to.add(part{Err: text(bytes)})
	} else {
		s.to.add(part{Out: text(bytes)})
	}
	return len(bytes), s.to.failed()
}

// add adds a part. What cannot be written is met by the next write of the command, and by no one after that: a client
// that has gone hears nothing.
func (a *answer) add(p part) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.held = append(a.held, p)
	if a.streams {
		a.send()
	}
}

func (a *answer) failed() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.broken
}

// stream has what was held back written, and from now on everything at once.
func (a *answer) stream() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.streams = true
	a.send()
}

func (a *answer) flush() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.send()
}

func (a *answer) drop() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.held = nil
}

func (a *answer) send() {
	if len(a.held) == 0 || a.broken != nil {
		return
	}
	err := a.control.SetWriteDeadline(time.Now().Add(slowest))
	to := json.NewEncoder(a.w)
	for _, p := range a.held {
		if err == nil {
			err = to.Encode(p)
		}
	}
	a.held = nil
	if err == nil {
		err = a.control.Flush()
	}
	if err != nil {
		a.broken = fmt.Errorf("answer a client: %w", err)
	}
}
