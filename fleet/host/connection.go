package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orange/fleet/wire"
)

// connection is whether the server answers, as far as this program has said it.
type connection struct {
	lock     sync.Mutex
	silent   time.Time         // since when the server does not answer; zero where it does
	troubles map[string]string // what does not work, by what it is about
}

// lost says once that the server does not answer.
func (d *Daemon) lost(err error) {
	d.connection.lock.Lock()
	defer d.connection.lock.Unlock()
	if err == nil || !d.silent.IsZero() {
		return
	}
	d.silent = time.Now()
	d.Say(fmt.Sprintf("the fleet does not answer: %v; agents go on, and what others would see waits; it is tried "+
		"again", err))
}

// found says once that the server answers again.
func (d *Daemon) found() {
	d.connection.lock.Lock()
	defer d.connection.lock.Unlock()
	if !d.silent.IsZero() {
		d.Say("the fleet answers again, after " + time.Since(d.silent).Round(time.Second).String())
	}
	d.silent = time.Time{}
}

// trouble says what does not work, once for each text; an empty text says that it works again.
func (d *Daemon) trouble(about, text string) {
	d.connection.lock.Lock()
	defer d.connection.lock.Unlock()
	if d.troubles == nil {
		d.troubles = map[string]string{}
	}
	before := d.troubles[about]
	d.troubles[about] = text
	switch {
	case text == before || !d.silent.IsZero() && text != "": // that the server is silent was said
	case text != "":
		d.Say(text)
	default:
		d.Say("it works again: " + before)
	}
}

// watchedLink is a link whose answers say that the server is there.
type watchedLink struct {
	Link
	d *Daemon
}

// longestCall is how long the server may take for an answer.
const longestCall = 10 * time.Second

func (w watchedLink) Here(ctx context.Context, h wire.Here) (lease wire.Lease, err error) {
	err = w.call(ctx, func(ctx context.Context) (err error) {
		lease, err = w.Link.Here(ctx, h)
		return err
	})
	return lease, err
}

func (w watchedLink) Told(ctx context.Context, h wire.Here) error {
	return w.call(ctx, func(ctx context.Context) error { return w.Link.Told(ctx, h) })
}

func (w watchedLink) Beat(ctx context.Context, token []byte) error {
	return w.call(ctx, func(ctx context.Context) error { return w.Link.Beat(ctx, token) })
}

func (w watchedLink) Report(ctx context.Context, r wire.Report) error {
	return w.call(ctx, func(ctx context.Context) error { return w.Link.Report(ctx, r) })
}

func (w watchedLink) Learn(ctx context.Context) error {
	within, off := context.WithTimeout(ctx, longestCall)
	defer off()
	return w.Link.Learn(within) // what is wrong with the lists is no silence
}

func (w watchedLink) call(ctx context.Context, do func(context.Context) error) error {
	within, off := context.WithTimeout(ctx, longestCall)
	defer off()
	err := do(within)
	switch {
	case ctx.Err() != nil:
	case err == nil, errors.Is(err, ErrOver), errors.Is(err, ErrUnknown):
		w.d.found()
	default:
		w.d.lost(err)
	}
	return err
}
