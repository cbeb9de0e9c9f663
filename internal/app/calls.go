package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orange/internal/api/remote"
	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/store/sqlite"
)

// beginTime is how long a command waits for a server that another process has begun, and beginPause how long until it
// asks again.
const (
	beginTime  = 300 * time.Millisecond
	beginPause = 10 * time.Millisecond
)

// lastCalls is how long a process that ends waits for the calls that it has begun.
const lastCalls = 10 * time.Minute

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
}

// errOtherServes says that another process does the calls of the home.
var errOtherServes = errors.New("another process serves the home")

// listen does the command lines of the home's clients that are of this program's build, until end is called. Where no
// socket can be made, server is nil: this process has the lock, and each client does its command line itself.
func (a *app) listen(ctx context.Context) (c *calls, err error) {
	build, err := buildOf(a.self)
	if err != nil {
		return nil, err
	}
	release, free, err := a.files.TryLock(launcher.ServerLock)
	if err == nil && !free {
		err = errOtherServes
	}
	if err != nil {
		return nil, err
	}
	c = &calls{app: a, path: filepath.Join(a.dir, recordName), release: release}
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
	if c.server, err = socket.Listen(ctx, a.dir, build, a.logger, c.do); err != nil {
		a.logger.Warn("each command does its work by itself", "component", "server", "error", err.Error())
	}
	a.logger.Info("serving begins", "component", "server", "process", os.Getpid())
	return c, nil
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
func (c *calls) replaced() bool {
	now, err := os.Stat(c.path)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(now, c.record)
}

// end takes no more calls, and returns when those that it has begun are over. It calls then before it gives up the
// lock.
func (c *calls) end(ctx context.Context, then func()) {
	ctx, off := context.WithTimeout(context.WithoutCancel(ctx), lastCalls)
	defer off()
	var err error
	if c.server != nil {
		err = c.server.Close(ctx)
	}
	then()
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

// serveToo does the calls of others until ctx ends, if no other process does, and answers the context of a watch that
// lasts until those under way are over. A client that finds no one does its command line itself: so what cannot be
// served is no error.
func (a *app) serveToo(ctx context.Context) context.Context {
	c, err := a.listen(ctx)
	if err != nil {
		a.logger.Warn("this process does no calls of others", "component", "server", "error", err.Error())
		return ctx
	}
	within, off := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { c.end(ctx, off) })
	return within
}

// buildOf tells one build of the program from another one.
func buildOf(program string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("look at the running program: %w", err)
	}
	return fmt.Sprintf("%d bytes of %s", info.Size(), task.FormatTime(info.ModTime())), nil
}

// do does one command line for the process that asks. Where the record is another file now, or the clock of the one who
// asks shows another time of the day, that process does it itself.
func (c *calls) do(ctx context.Context, call proc.Call, sent []socket.Input, reads func()) (exit int, need *socket.Need,
	refused error) {
	if c.replaced() {
		return 0, nil, errors.New("the record is another file now")
	}
	zone, set := call.LookupEnv("TZ")
	if own, ownSet := c.app.call.LookupEnv("TZ"); zone != own || set != ownSet {
		return 0, nil, fmt.Errorf("its time zone is %q (TZ), and the server's is %q", zone, own)
	}
	if dir, err := home.Locate(call.Getenv); err != nil || dir != c.app.dir {
		return 0, nil, fmt.Errorf("its home is %q, and the server's is %q", dir, c.app.dir)
	}
	c.app.busy.Add(1)
	defer c.app.busy.Add(-1)
	r := &execution{place: place{call: call, asker: environment.NewAsker(call.Env),
		shared: &shared{c.store, &c.workflows}}, resume: true}
	if err := c.isPersons(ctx, r.place); err != nil {
		return 0, nil, err
	}
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

// isPersons refuses an agent's call: a program that the server starts for it would have the server above it, and no
// agent. Its process does the command itself.
func (c *calls) isPersons(ctx context.Context, at place) error {
	at.shared = &shared{c.reads, &c.workflows}
	a, err := at.openToLook(proc.WithEnviron(ctx, at.asker.Environ))
	if err != nil {
		return err
	}
	return errors.Join(a.Person(ctx, "have the server do a command"), a.close())
}

// forward has the process that serves the home do this command line, where there is one. A person's starts one.
func (at place) forward(ctx context.Context, again bool, supply func(socket.Need) socket.Input) (status int, done bool,
	err error) {
	dir, err := home.Locate(at.call.Getenv)
	if err != nil || at.call.Lost != nil || !socket.Supported() || at.call.Getenv("ORANGE_SEAT") != "" {
		return 0, false, nil // who opens the home says what is wrong, and no agent is served
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false, nil
	}
	build, err := buildOf(self)
	if err != nil {
		return 0, false, nil
	}
	client := &socket.Client{Home: dir, Build: build, Out: at.call.Out, Err: at.call.Err, Supply: supply, Again: again}
	status, err = client.Call(ctx, at.call)
	if errors.Is(err, socket.ErrNoServer) && at.startsServer(dir) {
		// The process that has the lock may listen in a moment, or end.
		for late := time.Now().Add(beginTime); errors.Is(err, socket.ErrNoServer) && time.Now().Before(late); {
			if launcher.EnsureServer(ctx, at.call, dir, self, environment.BearingsIn(at.call.Env)) != nil {
				return 0, false, nil // the log of the home says why; this process can do without
			}
			if status, err = client.Call(ctx, at.call); errors.Is(err, socket.ErrNoServer) {
				proc.Pause(ctx, beginPause)
			}
		}
	}
	switch {
	case err == nil:
		return status, true, nil
	case client.Repeatable(err):
		return 0, false, nil
	case errors.Is(err, socket.ErrBroken), errors.Is(err, socket.ErrHung):
		err = task.Notef(remote.ErrNotKnown, "%v; it is not known whether this was done: before you ask again, look "+
			"with %q and %q", err, "orange task list", "orange task history")
	}
	return 0, true, err
}

// startsServer reports whether this call may start the server of a home that is there: that of a person, whose
// configuration and environment do not forbid it.
func (at place) startsServer(dir string) bool {
	if at.call.Getenv(harness.WatchVariable) == harness.NoWatch {
		return false
	}
	who, err := at.callerAt(dir, "")
	if err != nil || who.Secret != "" || who.Task != "" || who.Inside {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, recordName)); err != nil {
		return false
	}
	config, err := (&home.Home{Dir: dir}).Config()
	return err == nil && !config.NoMonitor
}
