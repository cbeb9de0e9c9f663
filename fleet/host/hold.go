package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// Server is what the host asks the server of the fleet by itself.
type Server interface {
	// Here says that the host is there, and gets a lease.
	Here(ctx context.Context, h wire.Here) (wire.Lease, error)
	// Told says again what the host is, while it has a lease.
	Told(ctx context.Context, h wire.Here) error
	// Beat says that the host lives, by the token of a hold. An error that is an ErrOver means that the hold is over.
	Beat(ctx context.Context, token []byte) error
	// Report shows a report in the list of the fleet. An error that is an ErrUnknown means that the fleet does not
	// have the task any more.
	Report(ctx context.Context, r wire.Report) error
}

// Errors of a server that mean something else than that it does not answer.
var (
	// ErrOver says that a hold is over: the host has to say that it is there before it gets another one.
	ErrOver = errors.New("the hold is over")
	// ErrUnknown says that the fleet has no open custody of a task.
	ErrUnknown = errors.New("the fleet does not have the task")
)

// Lease is the hold of a lease, as the server asks for it: with its token the host says that it lives.
type Lease struct {
	Number int
	Token  []byte
}

// Arrive says that the host is there. It lets go of every task that is not its own any more before the lease counts.
// The work of one that cannot be pushed waits for the next time: its agents are ended, and the host has no right to it.
// Nor does the host wait for longer than leaveWait for pushes: they go on.
func (h *Host) Arrive(ctx context.Context, s Server, said wire.Here) error {
	holder, err := h.Store.Read()
	if err != nil {
		return err
	}
	if err := h.leaveAll(ctx, holder.Gone(false)); err != nil { // what was cut short
		return err
	}
	if holder, err = h.Store.Read(); err != nil {
		return err
	}
	said.Left = holder.Gone(true)
	lease, err := s.Here(ctx, said)
	if err != nil {
		return fmt.Errorf("say to the fleet that this host is there: %w", err)
	}
	if err := h.hasSaid(said.Left); err != nil {
		return err
	}
	if err := h.leaveAll(ctx, lease.Gone); err != nil {
		return err
	}
	return h.Store.Change(func(now custody.Holder) (custody.Holder, error) { return now.Leased(lease), nil })
}

// hasSaid notes that the fleet knows which tasks the host has let go of.
func (h *Host) hasSaid(left []wire.Gone) error {
	if len(left) == 0 {
		return nil
	}
	return h.Store.Change(func(now custody.Holder) (custody.Holder, error) { return now.Said(left), nil })
}

// patience is how many beats the host waits for the server to ask for its lease, after it said that it is there.
const patience = int(custody.LostAfter / custody.BeatEvery)

// Hold beats for as long as the server asks for the lease. Every beat that is acknowledged makes the lease longer,
// counted from when it was sent. The server may ask again, with another token. It ends with an ErrOver where the server
// does not ask any more, or asks for a later lease: it has revoked this one.
func (h *Host) Hold(ctx context.Context, s Server, number int, asked <-chan Lease, every <-chan time.Time) error {
	var token []byte
	for waits := patience; ; {
		if token != nil {
			err := h.beat(ctx, s, number, token)
			if errors.Is(err, ErrOver) {
				token, waits = nil, 1 // where it asks again, it has done so by the next beat
			} else if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case lease := <-asked:
			switch {
			case lease.Number == number:
				token = lease.Token
			case lease.Number > number:
				return ErrOver
			}
		case <-every:
			if token == nil {
				waits--
			}
		}
		if token == nil && waits < 0 {
			return ErrOver
		}
	}
}

// beat says once that the host lives. A server that does not answer is no error: agents go on, and the lease ends.
func (h *Host) beat(ctx context.Context, s Server, number int, token []byte) error {
	_, sent, err := h.Store.Clock()
	if err != nil {
		return fmt.Errorf("read the clock of this machine: %w", err)
	}
	switch err := s.Beat(ctx, token); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrOver):
		return err
	case err != nil:
		return nil
	}
	return h.Store.Change(func(now custody.Holder) (custody.Holder, error) { return now.Beat(number, sent), nil })
}

// Report reports a task that the host has.
func (h *Host) Report(ctx context.Context, s Server, t custody.Tenure) (wire.Row, error) {
	r, err := h.report(ctx, t.Task, t.Epoch)
	if err == nil {
		err = s.Report(ctx, r)
	}
	return r.Row, err
}
