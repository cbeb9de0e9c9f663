package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/api/caller"
	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/store/sqlite"
)

// lastCalls is how long a process that ends waits for the calls that it has begun, and lastHooks the same for hooks and
// checks of its own.
const (
	lastCalls = 10 * time.Minute
	lastHooks = 5 * time.Second
)

// calls are the command lines of other processes, done in this one.
type calls struct {
	app       *app          // of the process that does them
	store     *sqlite.Store // for all that write; the watch of the process has another one, so that neither waits
	reads     *sqlite.Store // for those that only read: a commit that waits for the disk holds them up no more
	path      string        // of the record
	workflows home.Parsed   // which calls have read
	record    os.FileInfo   // what was there when store opened it
	server    *socket.Server
	release   func() // the lock of the server

	watching sync.Mutex // of the watch over the agents
	lock     sync.Mutex
	above    map[*proc.Programs][]task.Process // what is above each call, by the programs that were started for it
	numbers  map[string]chan struct{}          // of calls under way, closed at the end of each
	persons  *proc.Programs                    // programs that a person has named in the configuration of the home
	leaving  bool                              // nothing of its own begins any more
	own      sync.WaitGroup                    // hooks and checks that perform has begun
	whole    context.Context                   // of these
	cut      context.CancelFunc                // ends whole
}

// errOtherServes says that another process does the calls of the home.
var errOtherServes = errors.New("another process serves the home")

// errFirst says that this is the first process of its machine: what has lost its parent has this one in the place, so
// that no one could tell any more what it has started itself.
var errFirst = errors.New("the first process of a container serves no home: start it below another one, as an init")

// listen takes the lock of the home's server, and does the command lines of its clients until end is called. Where no
// socket can be made, server is nil: this process has the lock, and each client does its command line itself.
func (a *app) listen(ctx context.Context) (c *calls, err error) {
	if os.Getpid() == 1 {
		return nil, errFirst
	}
	release, free, err := a.files.TryLock(launcher.ServerLock)
	if err == nil && !free {
		err = errOtherServes
	}
	if err != nil {
		return nil, err
	}
	return a.listenLocked(ctx, release)
}

// listenLocked is listen for who has the lock.
func (a *app) listenLocked(ctx context.Context, release func()) (c *calls, err error) {
	c = &calls{app: a, path: filepath.Join(a.dir, recordName), release: release,
		persons: &proc.Programs{}, numbers: map[string]chan struct{}{}}
	c.above = map[*proc.Programs][]task.Process{c.persons: {}} // a person has nothing above them that counts
	c.whole, c.cut = context.WithCancel(context.WithoutCancel(ctx))
	if c.store, err = a.store.Again(ctx); err == nil {
		c.reads, err = a.store.Again(ctx)
	}
	if err == nil {
		c.record, err = os.Stat(c.path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("open the record for calls: %w", err), c.closeStores())
		release()
		return nil, err
	}
	if err := c.serve(ctx); err != nil {
		a.logger.Warn("each command does its work by itself", "component", "server", "error", err.Error())
	}
	a.logger.Info("serving begins", "component", "server", "process", os.Getpid())
	return c, nil
}

// serve makes this process the one that starts the programs of the home, and has it do the calls of others.
func (c *calls) serve(ctx context.Context) error {
	build, err := buildOf(c.app.self)
	if err == nil {
		err = caller.MarkStarter(c.app.dir)
	}
	if err != nil {
		return err
	}
	proc.SetUsualMask()
	c.app.own = c
	c.server, err = socket.Listen(ctx, c.app.dir, build, c.app.logger, c.do)
	return err
}

func (c *calls) closeStores() (err error) {
	for _, store := range []*sqlite.Store{c.store, c.reads} {
		if store != nil {
			err = errors.Join(err, store.Close())
		}
	}
	return err
}

// replaced reports whether the record is gone, or another file is in its place.
func (c *calls) replaced() bool { return replaced(c.path, c.record) }

func replaced(path string, then os.FileInfo) bool {
	now, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(now, then)
}

// end takes no more calls, and returns when those that it has begun are over, with the hooks and checks of its own: of
// these it cuts off what takes long, and a process of its own begins that again. It calls then before it gives up the
// lock.
func (c *calls) end(ctx context.Context, then func()) {
	ctx, off := context.WithTimeout(context.WithoutCancel(ctx), lastCalls)
	defer off()
	var err error
	if c.server != nil {
		err = c.server.Close(ctx)
	}
	then()
	c.leave()
	late := time.AfterFunc(lastHooks, c.cut)
	c.own.Wait()
	late.Stop()
	c.cut()
	err = errors.Join(err, c.closeStores())
	c.release()
	if _, gone := os.Stat(c.path); gone != nil {
		return // a line in the log would make the home again
	}
	if err != nil {
		c.app.logger.Warn("calls were cut off", "component", "server", "error", err.Error())
	}
	c.app.logger.Info("serving ends", "component", "server", "process", os.Getpid())
}

// buildOf tells one build of the program from another one: the newer one is the greater.
func buildOf(program string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("look at the running program: %w", err)
	}
	return fmt.Sprintf("%s, %d bytes", task.FormatTime(info.ModTime()), info.Size()), nil
}

// do does one command line for the process that asks. Where the record is another file now, or its home is another one,
// that process does it itself.
func (c *calls) do(ctx context.Context, call proc.Call, sent []socket.Input, reads func()) (exit int, need *socket.Need,
	refused error) {
	if c.replaced() {
		return 0, nil, errors.New("the record is another file now")
	}
	if dir, err := home.Locate(call.Getenv); err != nil || dir != c.app.dir {
		return 0, nil, fmt.Errorf("its home is %q, and the server's is %q", dir, c.app.dir)
	}
	c.app.busy.Add(1)
	defer c.app.busy.Add(-1)
	over, err := c.alone(ctx, call.Number)
	if err != nil {
		return 0, nil, err
	}
	defer over()
	ctx, call, done := c.begin(ctx, call)
	defer done()
	r := c.execution(call)
	program := r.program()
	program.Reads = func() {
		r.shared = &shared{c.reads, &c.workflows}
		reads()
	}
	exit = r.during(ctx, func(ctx context.Context) (status int) {
		status, need, refused = program.AnswerFor(ctx, call.Args, sent)
		return status
	})
	return exit, need, refused
}

// execution is one of a command line in this process.
func (c *calls) execution(call proc.Call) *execution {
	return &execution{place: place{call: call, asker: environment.NewAsker(call.Env), busy: c.app.busy, own: c,
		shared: &shared{c.store, &c.workflows}}, resume: true}
}

// alone waits until no other call with a number is under way: one that broke off may not have ended yet.
func (c *calls) alone(ctx context.Context, number string) (over func(), err error) {
	if number == "" {
		return func() {}, nil
	}
	if err := idempotency.Check(number); err != nil {
		return nil, err
	}
	for {
		own := make(chan struct{})
		c.lock.Lock()
		other := c.numbers[number]
		if other == nil {
			c.numbers[number] = own
		}
		c.lock.Unlock()
		if other == nil {
			return func() {
				c.lock.Lock()
				defer c.lock.Unlock()
				delete(c.numbers, number)
				close(own)
			}, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin notes which programs are started for a call under the context that it answers, until done is called. Where a
// program that was started for a call asks itself, what is above it is that program and then what is above the process
// of that call: so it is no more than what would have started it there. What this server started otherwise has the
// server itself above it.
func (c *calls) begin(ctx context.Context, call proc.Call) (_ context.Context, _ proc.Call, done func()) {
	above, err := call.Ancestors()
	if err != nil {
		return ctx, call, func() {} // who asks is looked up again, and fails
	}
	if at := slices.IndexFunc(above, func(p task.Process) bool { return p.PID == os.Getpid() }); at >= 0 {
		started, err := proc.Lookup(call.PID)
		if at > 0 {
			started = above[at-1]
		}
		if of, found := c.startedFor(started); err == nil && found {
			above = append(above[:at:at], of...)
		}
		call.Above = above
	}
	programs := &proc.Programs{}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.above[programs] = above
	return proc.WithPrograms(ctx, programs), call, func() {
		c.lock.Lock()
		defer c.lock.Unlock()
		delete(c.above, programs)
	}
}

// startedFor is what is above the call that a program was started for.
func (c *calls) startedFor(one task.Process) (above []task.Process, found bool) {
	c.lock.Lock()
	all := maps.Clone(c.above)
	c.lock.Unlock()
	for programs, above := range all {
		if programs.Has(one) {
			return above, true
		}
	}
	return nil, false
}

// leave has nothing of the server's own begin any more.
func (c *calls) leave() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.leaving = true
}

// perform does hooks or a check as a process of their own would that these arguments and this environment start, and
// does not wait for their end. It reports whether it does: a server that ends begins nothing. What fails is in the
// record and in the log.
func (c *calls) perform(args, env []string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.leaving {
		return false
	}
	end := func() {}
	if c.server != nil {
		end = c.server.Begin()
	}
	c.app.busy.Add(1)
	c.own.Go(func() {
		defer end()
		defer c.app.busy.Add(-1)
		defer func() {
			if why := recover(); why != nil {
				c.app.logger.Error("hooks or a check broke", "component", "server", "args", strings.Join(args, " "),
					"why", fmt.Sprint(why), "trace", string(debug.Stack()))
			}
		}()
		r := c.execution(proc.Call{Args: args, Dir: c.app.dir, Env: env, PID: os.Getpid(),
			Out: io.Discard, Err: io.Discard})
		program := r.program()
		r.during(c.whole, func(ctx context.Context) int { return program.Run(ctx, args) })
		if c.whole.Err() == nil || c.replaced() {
			return
		}
		if err := c.app.startProcess(c.whole, env, args...); err != nil {
			c.app.logger.Error("hooks or a check were cut off", "component", "server", "args", strings.Join(args, " "),
				"error", err.Error())
		}
	})
	return true
}
