package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// Create begins the custody of a task, and waits until a host has created it, for a while.
func (c *Client) Create(ctx context.Context, b remote.Placement) (remote.Placed, error) {
	born := remote.Placed{ID: b.ID}
	place, err := c.place(ctx, b.On)
	if err != nil {
		return born, err
	}
	birth := wire.Birth{Project: b.Project, On: place, Branch: b.Branch, Summary: b.Summary, Harness: b.Harness,
		Workflow: b.Workflow, Rules: b.Rules, Args: b.Call.Argv[2:], Files: texts(b.Call)}
	birth.Ask, err = c.signed(wire.Request{Task: b.ID, Method: wire.MethodCreate,
		Args: []string{sign.BirthDigest(birth)}, Key: b.ID})
	if err == nil {
		err = wire.Check(birth)
	}
	if err != nil {
		return born, err
	}
	trust, err := c.Server.Trust(ctx)
	if err != nil {
		return born, err
	}
	if err := c.Server.Start(ctx, b.ID, birth, trust); err != nil {
		return born, c.notStarted(b, err)
	}
	t, err := c.await(ctx, b.ID)
	if errors.Is(err, remote.ErrNotReached) || ctx.Err() != nil { // the fleet has the birth, and goes on with it
		err = wire.Refuse(wire.CodeNotKnown, "the fleet has it, and what became of it was not seen: %v", err)
	}
	if err != nil {
		return born, c.notStarted(b, err)
	}
	born.Host, born.Task = t.Host, serverTask(t)
	switch {
	case t.Birth != nil && t.Birth.Digest == sign.Digest(birth.Ask.Request):
		born.Reply, err = c.birthReply(ctx, t)
	case t.Birth != nil || t.Phase == string(custody.PhaseHeld) || over(t):
		born.There = true
	}
	return born, err
}

// notStarted keeps a birth that may have begun.
func (c *Client) notStarted(b remote.Placement, err error) error {
	if wire.CodeOf(err) == wire.CodeNotKnown {
		return errors.Join(commandError(err, b.ID), c.Keep(b.ID, remote.Pending{Call: b.Call}))
	}
	return commandError(err, b.ID)
}

// place is where a task may go, as a birth says it.
func (c *Client) place(ctx context.Context, on string) (string, error) {
	if on == "" || on == wire.AnyLabel {
		return wire.AnyLabel, nil
	}
	hosts, err := c.Server.Hosts(ctx)
	if err != nil {
		return "", err
	}
	labels, names := []string{wire.AnyLabel}, []string{}
	for _, h := range hosts {
		names = append(names, h.Host)
		if h.Host == on {
			return wire.HostPlace + on, nil
		}
		for _, label := range h.Said.Labels {
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
	}
	if slices.Contains(labels, on) {
		return on, nil
	}
	slices.Sort(names)
	slices.Sort(labels)
	return "", task.Notef(task.ErrNotFound, "the fleet has no host and no label %q: it has the hosts %s and the "+
		"labels %s", on, strings.Join(names, ", "), strings.Join(labels, ", "))
}

// await waits until a host has created a task, or no host can, or the time is over. A server that does not answer may
// do so in a moment.
func (c *Client) await(ctx context.Context, id string) (wire.Custody, error) {
	limited, off := context.WithTimeout(ctx, bornWithin)
	defer off()
	for {
		t, err := c.Server.Task(limited, id)
		if err == nil && (t.Birth != nil || t.Phase == string(custody.PhaseHeld) ||
			t.Phase == string(custody.PhaseEnded)) {
			return t, nil
		}
		if err != nil && limited.Err() == nil && !errors.Is(err, remote.ErrNotReached) {
			return t, err
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			return c.Server.Task(ctx, id)
		case <-c.Every():
		}
	}
}

// birthReply is the answer of the host that created a task, or of one that could not.
func (c *Client) birthReply(ctx context.Context, t wire.Custody) (*remote.Reply, error) {
	hosts, err := c.hosts(ctx)
	if err != nil {
		return nil, err
	}
	said := *t.Birth
	err = sign.CheckReplyOf(hosts, said, t.Task, c.Now())
	if err != nil {
		return nil, err
	}
	reply := printedReply(said.Exit, said.Output, said.Errors, said.Cut)
	return &reply, nil
}

// bornReply is what became of a task whose creation was not answered.
func (c *Client) bornReply(ctx context.Context, id string) (remote.Reply, error) {
	t, err := c.await(ctx, id)
	if err != nil {
		return remote.Reply{}, commandError(err, id)
	}
	if t.Birth == nil {
		return remote.Reply{}, task.Notef(remote.ErrNotHeld, "task %s waits for a place; %q says for what", id,
			"orange fleet list")
	}
	reply, err := c.birthReply(ctx, t)
	if err != nil {
		return remote.Reply{}, err
	}
	return *reply, nil
}

// Cancel ends what no host has had.
func (c *Client) Cancel(ctx context.Context, id string) error {
	t, err := c.Server.Task(ctx, id)
	if err != nil {
		return commandError(err, id)
	}
	ask, err := c.signed(wire.Request{Task: id, Epoch: t.Epoch, Method: wire.MethodCancel, Key: rand.Text()})
	if err != nil {
		return err
	}
	err = c.Server.Cancel(ctx, ask)
	if wire.CodeOf(err) == wire.CodeNotKnown {
		return task.Notef(remote.ErrNotKnown, "not known whether task %s was cancelled (%s): look: orange fleet list",
			id, err)
	}
	return commandError(err, id)
}

// Rescue takes a task away from the host that has it.
func (c *Client) Rescue(ctx context.Context, id, to, reason string) (remote.ServerTask, error) {
	t, err := c.Server.Task(ctx, id)
	if err != nil {
		return remote.ServerTask{}, commandError(err, id)
	}
	r := wire.Rescue{From: t.Epoch, To: to, Now: reason}
	r.Ask, err = c.signed(wire.Request{Task: id, Epoch: t.Epoch, Method: wire.MethodRescue, Args: []string{to, reason},
		Key: fmt.Sprintf("rescue-%d", t.Epoch)})
	if err == nil {
		err = wire.Check(r)
	}
	if err != nil {
		return remote.ServerTask{}, err
	}
	given, err := c.Server.Rescue(ctx, id, r)
	if wire.CodeOf(err) == wire.CodeNotKnown {
		return remote.ServerTask{}, task.Notef(remote.ErrNotKnown, "not known whether task %s was taken away from %s "+
			"(%s): the same command again does it once", id, t.Host, err)
	}
	if err != nil {
		return remote.ServerTask{}, commandError(err, id)
	}
	return serverTask(given), nil
}
