package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"orange/internal/run/proc"
)

// call is one call of tmux.
type call struct {
	words  []string
	stdin  []byte
	limit  time.Duration // how long it may take; 0 is for as long as a program may
	starts bool          // it may start the server
	asks   bool          // it changes nothing: it may be made twice
}

// How long tmux may take to answer a question, and to change something: the configuration of a person, which a server
// reads when it starts, may run programs. A question is asked once more, for longer, where the server was not stopped:
// on a busy machine it, or the program that asked, may have had no turn.
const (
	answerTime = 2 * time.Second
	busyTime   = 8 * time.Second
	workTime   = 20 * time.Second
)

// answer is what tmux said, and the place where it was asked.
type answer struct {
	proc.Result
	at place
}

// run makes one call of tmux that changes something, and starts no server.
func (s *Server) run(ctx context.Context, stdin []byte, words ...string) (answer, error) {
	return s.speak(ctx, call{words: words, stdin: stdin, limit: workTime})
}

// start makes one call of tmux that may start the server where none lives, and notes its place and its process. Where
// several processes start it at once, one does, and the others find it.
func (s *Server) start(ctx context.Context, stdin []byte, words ...string) (answer, error) {
	if err := s.check(); err != nil {
		return answer{}, err
	}
	c := call{words: append(words, ";", "display-message", "-p", "#{pid}"), stdin: stdin, limit: workTime}
	at, lives, err := s.knownPlace()
	if err == nil && !lives {
		release, wait := s.lock(ctx)
		if wait != nil {
			return answer{}, wait
		}
		defer release()
		if at, lives, err = s.knownPlace(); err == nil && !lives {
			at, err = s.settle(at)
			c.starts = true
		}
	}
	if err != nil {
		return answer{}, err
	}
	res, err := s.speakAt(ctx, at, c)
	if err != nil {
		return res, err
	}
	said := bytes.TrimSuffix(res.Stdout, []byte("\n"))
	line := bytes.LastIndexByte(said, '\n') + 1
	if pid, unread := strconv.Atoi(string(said[line:])); unread == nil && c.starts {
		_ = s.notePID(at, pid) // the next look notes it
	}
	res.Stdout = res.Stdout[:line]
	return res, nil
}

// knownPlace is the place of the server, and reports whether the process that is noted with it lives.
func (s *Server) knownPlace() (at place, lives bool, err error) {
	if at, err = s.where(); err == nil {
		lives, err = s.lives(at)
	}
	return at, lives, err
}

// check refuses to speak to a server that is not described as it must be.
func (s *Server) check() error {
	if s.Socket == "" || !filepath.IsAbs(s.Config) {
		return fmt.Errorf("cannot speak to tmux: socket %q and configuration %q must be a name "+
			"and an absolute path", s.Socket, s.Config)
	}
	return nil
}

// speak makes one call at the place of the server.
func (s *Server) speak(ctx context.Context, c call) (answer, error) {
	if err := s.check(); err != nil {
		return answer{}, err
	}
	at, err := s.where()
	if err != nil {
		return answer{}, err
	}
	return s.speakAt(ctx, at, c)
}

func (s *Server) speakAt(ctx context.Context, at place, c call) (answer, error) {
	if err := s.silent.now(); err != nil {
		return answer{}, err
	}
	if c.limit > answerTime && isStopped(at) {
		c.limit = answerTime // it is not at work
	}
	if err := checkFolder(filepath.Dir(at.Socket)); err != nil {
		return answer{}, err
	}
	waited := time.Duration(0)
	for try := 1; ; try++ {
		res, err := s.callAt(ctx, at, c)
		if c.limit > 0 && errors.Is(err, proc.ErrLate) {
			if waited += c.limit; c.asks && waited == answerTime && !isStopped(at) {
				c.limit = busyTime
				continue
			}
			return answer{}, s.silent.keep(unreachedAt(at, waited))
		}
		if c.starts || !isClosed(err) {
			return answer{res, at}, err
		}
		again, trouble := s.wake(ctx, at)
		switch {
		case trouble != nil:
			return answer{}, trouble
		case !again:
			return answer{res, at}, err
		case try == wakeTries:
			return answer{}, unreachedAt(at, 0)
		}
	}
}

// callAt starts tmux.
func (s *Server) callAt(ctx context.Context, at place, c call) (proc.Result, error) {
	args := s.args(at)
	if !c.starts {
		args = append(args, "-N") // a server that lives, and whose socket is gone, would get a second one at its side
	}
	command := proc.Command{
		Name: s.program(), Args: append(args, c.words...),
		// The server keeps the folder of the call that started it forever: that must not be someone's worktree.
		Dir:   "/",
		Limit: c.limit,
	}
	if c.stdin != nil {
		command.Stdin = bytes.NewReader(c.stdin)
	}
	return proc.Run(ctx, command)
}

// args puts the server in front of a command.
// -u: otherwise tmux replaces what is not ASCII where the caller's locale does not say UTF-8.
func (s *Server) args(at place) []string { return []string{"-u", "-S", at.Socket, "-f", s.Config} }

// askTries bounds how often a server that leaves in the middle of a call is asked again, each time after a longer
// pause than before: one that was killed takes a moment to be gone where the machine is busy.
const (
	askTries = 6
	askPause = 10 * time.Millisecond
)

// ask asks a question.
func (s *Server) ask(ctx context.Context, words ...string) (answer, error) {
	return s.repeat(ctx, call{words: words, limit: answerTime, asks: true})
}

// act is run for commands that may be repeated.
func (s *Server) act(ctx context.Context, words ...string) (answer, error) {
	return s.repeat(ctx, call{words: words, limit: workTime})
}

// repeat makes a call that may be repeated. A server that leaves with its last session drops the calls that wait; the
// next one says for certain whether there is a server.
func (s *Server) repeat(ctx context.Context, c call) (answer, error) {
	for try := 1; ; try++ {
		res, err := s.speak(ctx, c)
		if try == askTries || !isLost(err) {
			return res, err
		}
		if proc.Pause(ctx, time.Duration(try)*askPause); ctx.Err() != nil {
			return res, err
		}
	}
}

func isLost(err error) bool {
	text := complaintOf(err)
	return text == "lost server" || text == "server exited unexpectedly"
}
