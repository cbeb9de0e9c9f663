package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/answer"
)

// deleted is the status that the list of a fleet shows of a task that was deleted at its host.
const deleted = "deleted"

// report is the next report of a task. One that was deleted here is over for the fleet.
func (h *Host) report(ctx context.Context, id string, epoch int) (wire.Report, error) {
	row, err := h.row(ctx, id)
	if err != nil {
		return wire.Report{}, err
	}
	version, row, err := h.Store.Next(id, row)
	if err != nil {
		return wire.Report{}, err
	}
	return sign.Report(h.Key, wire.Report{Fleet: h.Fleet, Host: h.Name, Epoch: epoch, Task: id, Version: version,
		Row: row})
}

func (h *Host) row(ctx context.Context, id string) (wire.Row, error) {
	said, err := h.Program.Do(ctx, call("show", "", "", "--json", "--", id))
	switch {
	case err != nil:
		return wire.Row{}, err
	case said.Refused == "" && said.Exit == notFound:
		return h.absent(id)
	case !done(said):
		return wire.Row{}, errors.New(said.Failure())
	}
	var shown struct {
		Task struct {
			Project   string `json:"project"`
			Summary   string `json:"summary"`
			Status    string `json:"status"`
			Branch    string `json:"branch"`
			Attention string `json:"attention"`
			Live      bool   `json:"live"`
			Entered   string `json:"entered_at"`
		} `json:"task"`
	}
	if err := json.Unmarshal([]byte(said.Stdout), &shown); err != nil {
		return wire.Row{}, fmt.Errorf("read task %s: %w", id, err)
	}
	t := shown.Task
	since, err := time.Parse(time.RFC3339, t.Entered)
	if err != nil {
		return wire.Row{}, fmt.Errorf("read since when task %s is %q: %w", id, t.Status, err)
	}
	head, err := h.headAfter(ctx, id, said)
	return wire.Row{Project: t.Project, Summary: short(t.Summary), Status: t.Status, Branch: t.Branch,
		Attention: short(t.Attention), Over: !t.Live, Since: since.Unix(), Head: head}, err
}

// absent is the row of a task that is not on record here. One that is held all the same was let go, or its record was
// lost: that is not its end.
func (h *Host) absent(id string) (wire.Row, error) {
	held, err := h.Machine.Holds(id)
	if err != nil {
		return wire.Row{}, err
	}
	row, err := h.Store.Row(id)
	if held {
		row.Attention = answer.NotOnRecord + ": bring it back with \"orange fleet rescue\""
		return row, err
	}
	row.Status, row.Over, row.Attention = deleted, true, ""
	return row, err
}
