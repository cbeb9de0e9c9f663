package host

import (
	"context"
	"errors"
	"fmt"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/remote"
)

// statusDeleted is the status that the list of a fleet shows of a task that was deleted at its host.
const statusDeleted = "deleted"

// report is the next report of a task. One that was deleted here is over for the fleet.
func (h *Host) report(ctx context.Context, id string, epoch int) (wire.Report, error) {
	row, err := h.row(ctx, id)
	if err != nil {
		return wire.Report{}, err
	}
	return h.next(id, epoch, row, true)
}

// withAnswer is the report that goes with an answer. There is none where a later row was reported meanwhile, nor where
// it cannot be made: the daemon reports the task all the same, and says why it cannot.
func (h *Host) withAnswer(id string, epoch int, row wire.Row) *wire.Report {
	report, err := h.next(id, epoch, row, false)
	if err != nil || wire.Check(report) != nil {
		return nil
	}
	return &report
}

// next is the next report of a task, with this row. With back it may be behind the last one, as that of a task is which
// was brought back from an earlier snapshot.
func (h *Host) next(id string, epoch int, row wire.Row, back bool) (wire.Report, error) {
	version, row, err := h.Store.Next(id, row, back)
	if err != nil {
		return wire.Report{}, err
	}
	return sign.Report(h.Key, wire.Report{Fleet: h.Fleet, Host: h.Name, Epoch: epoch, Task: id, Version: version,
		Row: row})
}

// row is how a task is here.
func (h *Host) row(ctx context.Context, id string) (wire.Row, error) {
	said, err := h.Program.Do(ctx, call("show", "", "", "--json", "--", id))
	switch {
	case err != nil:
		return wire.Row{}, err
	case said.Task != nil && said.Task.ID == id:
		return rowOf(*said.Task), nil
	case said.Refused == "" && said.Exit == notFound:
		return h.absent(id)
	case done(said):
		return wire.Row{}, fmt.Errorf("cannot read how task %s is: the orange of this host does not say it: update it",
			id)
	}
	return wire.Row{}, errors.New(said.Failure())
}

func rowOf(t remote.Row) wire.Row {
	return wire.Row{Project: t.Project, Summary: shortText(t.Summary), Status: string(t.Status), Branch: t.Branch,
		Attention: shortText(t.Attention), Over: !t.Live, Since: t.EnteredAt.Unix(),
		Head: wire.Head{Event: t.Event, Hash: t.Hash}}
}

// absent is the row of a task that is not on record here. One that is held all the same was let go, or its record was
// lost: that is not its end.
func (h *Host) absent(id string) (wire.Row, error) {
	held, err := h.Program.Holds(id)
	if err != nil {
		return wire.Row{}, err
	}
	row, err := h.Store.Row(id)
	if held {
		row.Attention = remote.NotOnRecord + ": bring it back with: orange fleet rescue " + id
		return row, err
	}
	row.Status, row.Over, row.Attention = statusDeleted, true, ""
	return row, err
}
