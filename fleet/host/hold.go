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
	// Beat says that the host lives, by the token of a hold. An error that is an ErrOver means that the hold is over.
	Beat(ctx context.Context, token []byte) error
	// Report shows a report in the list of the fleet.
	Report(ctx context.Context, r wire.Report) error
}

// ErrOver says that a hold is over: the host has to say that it is there before it gets another one.
var ErrOver = errors.New("the hold is over")

// Arrive says that the host is there. It lets go of every task that is not its own any more before the lease counts.
func (h *Host) Arrive(ctx context.Context, s Server, said wire.Here) error {
	holder, err := h.Store.Read()
	if err != nil {
		return err
	}
	for _, gone := range holder.Gone(false) { // what was cut short
		if err := h.letGo(ctx, gone); err != nil {
			return err
		}
	}
	if holder, err = h.Store.Read(); err != nil {
		return err
	}
	said.Left = holder.Gone(true)
	lease, err := s.Here(ctx, said)
	if err != nil {
		return fmt.Errorf("say to the fleet that this host is there: %w", err)
	}
	for _, gone := range lease.Gone {
		if _, err := h.Leave(ctx, wire.Of(wire.Leave{Gone: gone})); err != nil {
			return err
		}
	}
	return h.Store.Change(func(now custody.Holder) (custody.Holder, error) { return now.Leased(lease), nil })
}

// Hold beats for as long as the hold of a lease is the host's. Every beat that is acknowledged makes the lease longer,
// counted from when it was sent.
func (h *Host) Hold(ctx context.Context, s Server, number int, token []byte, every <-chan time.Time) error {
	for {
		_, sent, err := h.Store.Clock()
		if err != nil {
			return fmt.Errorf("read the clock of this machine: %w", err)
		}
		switch err := s.Beat(ctx, token); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrOver):
			return err
		case err == nil:
			if err := h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
				return now.Beat(number, sent), nil
			}); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every:
		}
	}
}

// ReportAll reports every task that the host has. One that cannot be reported is tried again with the next ones.
func (h *Host) ReportAll(ctx context.Context, s Server) error {
	holder, err := h.Store.Read()
	if err != nil {
		return err
	}
	var all error
	for _, t := range holder.Tasks {
		if !t.Has {
			continue
		}
		r, err := h.report(ctx, t.Task, t.Epoch)
		if err == nil {
			err = s.Report(ctx, r)
		}
		all = errors.Join(all, err)
	}
	return all
}
