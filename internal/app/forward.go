package app

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"

	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/api/socket"
	"orange/internal/app/launcher"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
)

// beginTime is how long a command waits for a server that another process has begun, and beginPause how long until it
// asks again.
const (
	beginTime  = 300 * time.Millisecond
	beginPause = 10 * time.Millisecond
)

// mostServers is how many servers a command line is asked of under its number, as each may be killed. Then this process
// does it.
const mostServers = 3

// forward has the process that serves the home do this command line, where there is one. A person's starts one. What
// broke off is repeated under its number, by another server or by this process.
func (r *execution) forward(ctx context.Context, repeat api.Repeat, supply func(socket.Need) socket.Input) (status int,
	done bool, err error) {
	dir, err := home.Locate(r.call.Getenv)
	if err != nil || r.call.Lost != nil || !socket.Supported() {
		return 0, false, nil // who opens the home says what is wrong
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false, nil
	}
	build, err := buildOf(self)
	if err != nil {
		return 0, false, nil
	}
	client := &socket.Client{Home: dir, Build: build, Out: r.call.Out, Err: r.call.Err, Supply: supply,
		Again: repeat == api.Reads}
	if repeat == api.Keyed {
		r.call.Number = rand.Text()
	}
	again := true
	for servers := 0; again && servers < mostServers; servers++ {
		status, err = r.ask(ctx, client, self)
		again = repeat == api.Keyed && errors.Is(err, socket.ErrBroken) && !client.Printed()
		r.call.Again = r.call.Again || again
	}
	switch {
	case err == nil:
		return status, true, nil
	case again, client.Repeatable(err):
		return 0, false, nil // the log of the home says why; this process can do without
	case errors.Is(err, socket.ErrBroken), errors.Is(err, socket.ErrHung):
		err = task.Notef(remote.ErrNotKnown, "%v; it is not known whether this was done: before you ask again, look "+
			"with %q and %q", err, "orange task list", "orange task history")
	}
	return 0, true, err
}

// ask asks the server. It starts one where none is there, or one of an older build, and this call may.
func (r *execution) ask(ctx context.Context, client *socket.Client, self string) (status int, err error) {
	status, err = client.Call(ctx, r.call)
	switch {
	case errors.Is(err, socket.ErrRefused) && r.endsOlder(ctx, client):
		err = socket.ErrNoServer
	case errors.Is(err, socket.ErrOlder):
		client.Older = true
		status, err = client.Call(ctx, r.call)
	}
	if !errors.Is(err, socket.ErrNoServer) || !r.startsServer(client.Home) {
		return status, err
	}
	// The process that has the lock may listen in a moment, or end.
	for late := time.Now().Add(beginTime); errors.Is(err, socket.ErrNoServer) && time.Now().Before(late); {
		if launcher.EnsureServer(ctx, r.call, client.Home, self, environment.BearingsIn(r.call.Env)) != nil {
			return 0, err
		}
		if status, err = client.Call(ctx, r.call); errors.Is(err, socket.ErrNoServer) {
			proc.Pause(ctx, beginPause)
		}
	}
	return status, err
}

// replaceTime is how long a call waits for the end of a server of an older build.
const replaceTime = 7 * time.Second

// endsOlder ends a server of an older build, where this call may start another one. What that one has begun it ends
// first; if this takes long, this process does the call.
func (r *execution) endsOlder(ctx context.Context, client *socket.Client) bool {
	h, err := socket.Look(ctx, client.Home)
	if err != nil || h.Stays || h.Build >= client.Build || !r.startsServer(client.Home) {
		return false
	}
	ctx, off := context.WithTimeout(ctx, replaceTime)
	defer off()
	release, err := endServer(ctx, client.Home)
	if err == nil {
		release()
	}
	return err == nil
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
