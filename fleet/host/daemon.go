package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// Link is a connection to the server of the fleet.
type Link interface {
	Server
	// Serve takes the calls that are meant for this host, and hands on what asks for its lease, until ctx ends or the
	// server refuses it.
	Serve(ctx context.Context, h *Host, leases chan<- Lease) error
	// Place waits for tasks of a project with a label, while there is a free place, until ctx ends or the server
	// refuses it.
	Place(ctx context.Context, h *Host, project, label string) error
	// Learn brings the lists of people and hosts up to date.
	Learn(ctx context.Context) error
	Close()
}

// Daemon keeps a host in its fleet. Agents and the monitor do not depend on it, nor does it on the server: it goes on
// where either was away. Every field is required.
type Daemon struct {
	Host    *Host
	Version string // of the program
	Labels  []string
	SSH     string // how people reach the host; empty where they cannot
	Dial    func(ctx context.Context) (Link, error)
	Follow  func(ctx context.Context, since string, tell func(Happening)) error
	Say     func(line string)
	Pace    Pace

	connection
	work
}

// Pace is how often the host does what it does by itself.
type Pace struct {
	Beat     time.Duration // says that it lives
	Again    time.Duration // tries again for the first time; later ones wait longer
	Look     time.Duration // looks whether there is something to do
	Gather   time.Duration // between what happened and its report, which has what follows at once, too
	Report   time.Duration // reports a task in which nothing important happened
	Settle   time.Duration // between a move of a task and its snapshot, and between two pushes of moves
	Snapshot time.Duration // looks whether the files of a task changed
	Tell     time.Duration // says again what it has
}

// Usual is the pace of a host that looks for changed files so often.
func Usual(snapshot time.Duration) Pace {
	return Pace{Beat: custody.BeatEvery, Again: time.Second, Look: time.Second,
		Gather: 100 * time.Millisecond, Report: 5 * time.Second, Settle: 5 * time.Second, Snapshot: snapshot,
		Tell: 30 * time.Second}
}

const mostAgain = 30 * time.Second

// Run keeps the host in its fleet until ctx ends.
func (d *Daemon) Run(ctx context.Context) error {
	d.begin()
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { d.follow(ctx) })
	parts.Go(func() { d.ship(ctx) })
	wait := d.Pace.Again
	for {
		link, err := d.Dial(ctx)
		if err == nil {
			wait = d.Pace.Again
			err = d.session(ctx, watchedLink{link, d})
			link.Close()
		}
		if ctx.Err() != nil {
			return nil
		}
		d.lost(err)
		if !sleep(ctx, wait) {
			return nil
		}
		wait = min(2*wait, mostAgain)
	}
}

// sleep reports whether ctx lasted that long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// session is what the host does by one connection, until that is over.
func (d *Daemon) session(ctx context.Context, link watchedLink) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d.Host.learns(link.Learn)
	defer d.Host.learns(nil)
	var parts sync.WaitGroup
	leases := make(chan Lease)
	for _, part := range []func() error{
		func() error { return link.Serve(ctx, d.Host, leases) },
		func() error { return d.lease(ctx, link, leases) },
		func() error { return d.places(ctx, link) },
		func() error { return d.report(ctx, link) },
		func() error { return d.tell(ctx, link) },
	} {
		parts.Go(func() {
			if err := part(); err != nil {
				end(err)
			}
		})
	}
	parts.Wait()
	d.Host.leaves.Wait()
	return context.Cause(ctx)
}

// lease holds the lease of the host: it says that the host is there, beats, and does so again where the lease is over.
func (d *Daemon) lease(ctx context.Context, link watchedLink, leases <-chan Lease) error {
	beats := time.NewTicker(d.Pace.Beat)
	defer beats.Stop()
	wait := d.Pace.Again
	for ctx.Err() == nil {
		said, err := d.said(ctx)
		if err == nil {
			err = d.Host.Arrive(ctx, link, said)
		}
		if err != nil {
			d.trouble("lease", "cannot get a lease: "+err.Error())
			if sleep(ctx, wait) {
				wait = min(2*wait, mostAgain)
			}
			continue
		}
		d.trouble("lease", "")
		wait = d.Pace.Again
		d.all() // what the fleet knows of the tasks may be old
		holder, err := d.Host.Store.Read()
		if err != nil {
			return err
		}
		held, stop := context.WithCancel(ctx)
		d.whenMoved(stop)
		err = d.Host.Hold(held, link, holder.Number, leases, beats.C)
		stop()
		if err != nil && !errors.Is(err, ErrOver) && held.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}

// said is what the host says of itself.
func (d *Daemon) said(ctx context.Context) (wire.Here, error) {
	h := d.Host
	here := wire.Here{Host: h.Name, Labels: d.Labels, Version: d.Version, SSH: d.SSH}
	var err error
	if here.Projects, err = h.projects(ctx); err != nil {
		return here, err
	}
	if here.Harness, err = h.Program.Harnesses(ctx); err != nil {
		return here, err
	}
	if here.Draining, err = h.Store.Draining(); err != nil {
		return here, err
	}
	free, err := h.FreePlaces(ctx)
	for _, project := range here.Projects {
		here.Free += max(0, free[project])
	}
	return here, err
}

// tell says again what the host is, where that has changed, and learns whom the fleet trusts.
func (d *Daemon) tell(ctx context.Context, link watchedLink) error {
	var before string
	for {
		if err := link.Learn(ctx); err != nil && ctx.Err() == nil {
			d.trouble("people", "cannot learn who is in the fleet: "+err.Error())
		} else {
			d.trouble("people", "")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.Host.news.come():
		case <-time.After(d.Pace.Tell):
		}
		said, err := d.said(ctx)
		if err != nil {
			d.trouble("machine", "cannot tell what this machine has: "+err.Error())
			continue
		}
		d.trouble("machine", "")
		if holder, err := d.Host.Store.Read(); err == nil {
			said.Left = holder.Gone(true)
		}
		if now := fmt.Sprint(said); now != before && link.Told(ctx, said) == nil {
			before = now
			if err := d.Host.hasSaid(said.Left); err != nil {
				return err
			}
		}
	}
}

// places waits for tasks of every project that the host has, with each of its labels.
func (d *Daemon) places(ctx context.Context, link watchedLink) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	type place struct{ project, label string }
	open := map[place]context.CancelFunc{}
	failed := make(chan error)
	for {
		projects, err := d.Host.projects(ctx)
		if err != nil {
			d.trouble("projects", "cannot tell which projects there are: "+err.Error())
		} else {
			d.trouble("projects", "")
			wanted := map[place]bool{}
			for _, project := range projects {
				for _, label := range d.Labels {
					wanted[place{project, label}] = true
				}
			}
			for at, stop := range open { // each by itself
				if !wanted[at] {
					stop()
					delete(open, at)
				}
			}
			for at := range wanted { // each by itself
				if open[at] != nil {
					continue
				}
				within, stop := context.WithCancel(ctx)
				open[at] = stop
				parts.Go(func() {
					if err := link.Place(within, d.Host, at.project, at.label); err != nil && within.Err() == nil {
						select {
						case failed <- err:
						case <-ctx.Done():
						}
					}
				})
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-time.After(d.Pace.Tell):
		}
	}
}
