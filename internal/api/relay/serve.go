package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/run/proc"
)

// Carrier runs the requests of one agent. Every field is required.
type Carrier struct {
	Folder string
	Task   string
	Secret string // of the agent's seat
	// Run runs a command of orange as the agent would outside of its sandbox.
	Run func(ctx context.Context, r Call) Reply
	// Watch calls touched with the files of a folder that are written, until ctx ends.
	Watch func(ctx context.Context, folder string, touched func(path string)) error
	// Refuse hears of files that are no requests of this agent.
	Refuse func(name string, why error)

	taken map[string]bool // the numbers of requests that were run
}

// farewell is how long a command may go on whose agent has ended: a move is made by then, and a wait is for no one.
const farewell = 2 * time.Second

// Serve runs requests until ctx ends, and a little longer those that run then. The folder has to be there.
func (s *Carrier) Serve(ctx context.Context) error {
	folder, err := proc.BelowOf(s.Folder).Open() // and no other one that is put in its place
	if err != nil {
		return fmt.Errorf("look for requests of the agent: %w", err)
	}
	defer folder.Close()
	s.taken = map[string]bool{}
	var running sync.WaitGroup
	work, off := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		late := time.AfterFunc(farewell, off)
		running.Wait()
		late.Stop()
		off()
	}()
	return s.Watch(ctx, s.Folder, func(path string) {
		names := []string{filepath.Base(path)}
		if path == "" { // there may be more than was reported
			if names, err = list(folder); err != nil {
				s.Refuse("", err)
			}
		}
		for _, name := range names {
			r, err := s.take(folder, name)
			switch {
			case errors.Is(err, errNone):
			case err != nil:
				s.Refuse(name, err)
			default:
				running.Go(func() {
					if err := s.answer(folder, s.run(work, r)); err != nil {
						s.Refuse(name, err)
					}
				})
			}
		}
	})
}

func list(folder *os.Root) ([]string, error) {
	dir, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// errNone says that a file is no request, or is gone.
var errNone = errors.New("no request")

func (s *Carrier) take(folder *os.Root, name string) (r Call, err error) {
	if !strings.HasSuffix(name, requestEnd) {
		return r, errNone
	}
	text, err := readOnce(folder, name, longestRequest)
	if errors.Is(err, os.ErrNotExist) {
		return r, errNone // it was reported twice
	}
	if err == nil {
		err = check("request", s.Secret, text, &r)
	}
	if err == nil {
		err = s.accept(name, r)
	}
	return r, err
}

func (s *Carrier) run(ctx context.Context, r Call) Reply {
	if !Carried(r.Args) {
		return Reply{Number: r.Number, Code: 2, Stderr: []byte("orange: cannot run this from inside of the agent's " +
			"sandbox; the commands that move a task or show it can be run there\n")}
	}
	a := s.Run(ctx, r)
	a.Number = r.Number
	return a
}

// longestCommand is how long a command may take: an agent may wait for days.
const longestCommand = 30 * 24 * time.Hour

// Commands runs calls as commands of a program, with an environment that is the agent's.
func Commands(program string, env []string) func(ctx context.Context, r Call) Reply {
	return func(ctx context.Context, r Call) Reply {
		c := proc.Command{Name: program, Args: r.Args, Dir: r.Dir, Base: env, Stdin: bytes.NewReader(r.Stdin),
			Most: longestAnswer / 4, Limit: longestCommand}
		if r.Conversation != "" { // the agent's command has read it; this one has not the variable that it was in
			c.Env = []string{harness.ConversationVariable + "=" + r.Conversation}
			c.Unset = []string{harness.ConversationInVariable}
		}
		result, err := proc.Run(ctx, c)
		if ended := (*proc.Error)(nil); err != nil && !errors.As(err, &ended) {
			return Reply{Code: 1, Stderr: []byte("orange: " + err.Error() + "\n")}
		}
		return Reply{Code: result.Code, Stdout: result.Stdout, Stderr: result.Stderr}
	}
}

// accept refuses what the agent's own commands do not write.
func (s *Carrier) accept(name string, r Call) error {
	if r.Task != s.Task || r.Number+requestEnd != name {
		return fmt.Errorf("it is the request %q of task %q", r.Number, r.Task)
	}
	if s.taken[r.Number] {
		return errors.New("it was used before")
	}
	s.taken[r.Number] = true
	return nil
}

func (s *Carrier) answer(folder *os.Root, a Reply) error {
	text, err := sign("answer", s.Secret, a)
	if err == nil {
		err = write(folder, a.Number+answerEnd, text)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
