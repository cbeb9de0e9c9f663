package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// commandError is a refusal as the command line tells it from others. Key is that of a request that may have been done.
func commandError(err error, key string) error {
	code := wire.CodeOf(err)
	switch code {
	case wire.CodeNotKnown:
		return task.Notef(remote.ErrNotKnown, "not known whether it was done (%s): ask again: orange fleet result %s",
			err, key)
	case wire.CodeUnsigned, wire.CodeStranger, wire.CodeElsewhere, wire.CodeExpired, wire.CodeCreateDenied:
		return &rejection.Rejection{Code: string(code), Message: err.Error()}
	}
	kind := map[wire.Code]error{wire.CodeNotReached: remote.ErrNotReached, wire.CodeNotHeld: remote.ErrNotHeld,
		wire.CodeLost: remote.ErrLost, wire.CodeKept: remote.ErrKept, wire.CodeKeyReused: idempotency.ErrReused,
		wire.CodeNotFound: task.ErrNotFound}[code]
	if kind == nil {
		return err
	}
	return task.Notef(kind, "%s", err)
}

// Ask has a host do a command: what only reads is looked at, everything else is signed and asked of the task.
func (c *Client) Ask(ctx context.Context, host remote.Host, call remote.Call, most time.Duration) (
	remote.Reply, error) {
	if err := call.Check(); err != nil {
		return remote.Reply{}, err
	}
	if len(call.Argv) < 2 {
		return remote.Reply{}, task.Notef(task.ErrUsage, "cannot ask host %s without a command", host.Name)
	}
	if since, is := c.memory.since(host.Name); is {
		return remote.Reply{}, c.lostWith(host.Name, since, call.Task())
	}
	ctx, off := context.WithTimeout(ctx, most)
	defer off()
	if remote.RepeatOf(call.Argv[1]) == api.Reads {
		return c.look(ctx, host, call)
	}
	key := call.Key
	if key == "" {
		key = rand.Text() // one that a custody keeps its answer under, whatever the host makes of it
	}
	return c.ask(ctx, remote.Pending{Host: host.Name, Call: call}, key)
}

// lostWith says what is known of a task whose host is lost: nothing is asked there.
func (c *Client) lostWith(host string, since time.Time, id string) error {
	text := fmt.Sprintf("host %s is lost since %s: nothing was asked of it", host, remote.Clock(since))
	if t, is := c.memory.of(id); is {
		row := serverTask(t)
		text += fmt.Sprintf("; task %s was %q, %s; orange fleet rescue %s gives it to another host", id, row.Status,
			row.LastTold(time.Local), id)
	}
	return task.Notef(remote.ErrNotReached, "%s", text)
}

// look asks a host something that changes nothing.
func (c *Client) look(ctx context.Context, host remote.Host, call remote.Call) (remote.Reply, error) {
	l := wire.Look{Task: call.Task(), Method: call.Argv[1], Args: call.Argv[2:]}
	id := l.Task
	if t, is := c.memory.of(id); !is || over(t) {
		id = "" // only the host can say something of it
	}
	seen, err := c.Server.Look(ctx, host.Name, id, l)
	if err != nil {
		return remote.Reply{}, commandError(err, "")
	}
	return printedReply(seen.Exit, seen.Output, seen.Errors, seen.Cut), nil
}

// printedReply is what a command printed. An answer that was cut says so.
func printedReply(exit int, output, errs string, cut bool) remote.Reply {
	r := remote.Reply{V: remote.Version, Exit: exit, Stdout: output, Stderr: errs}
	if cut {
		r.Stderr += "orange: " + remote.CutShort + "\n"
	}
	return r
}

// ask asks for a task under a key, which is kept as long as it is not known whether it was done. Where the custody has
// changed meanwhile, it asks once more.
func (c *Client) ask(ctx context.Context, p remote.Pending, key string) (remote.Reply, error) {
	r := wire.Request{Task: p.Call.Task(), Method: p.Call.Argv[1], Args: p.Call.Argv[2:], Stdin: p.Call.Stdin,
		Files: p.Call.Files, Key: key}
	if len(r.Files) == 0 {
		r.Files = nil
	}
	reply, err := c.asked(ctx, r, false)
	if code := wire.CodeOf(err); code == wire.CodeStaleEpoch || code == wire.CodeOver { // it has changed since
		reply, err = c.asked(ctx, r, true)
	}
	if wire.CodeOf(err) == wire.CodeNotKnown {
		if kept := c.Keep(key, p); kept != nil {
			return remote.Reply{}, errors.Join(commandError(err, key), kept)
		}
	}
	if wire.CodeOf(err) == wire.CodeRefused && c.gone(ctx, p.Host, r.Task) {
		return remote.Reply{}, task.Notef(task.ErrNotFound, "host %s has no task %s any more", p.Host, r.Task)
	}
	if err != nil {
		return remote.Reply{}, commandError(err, key)
	}
	return printedReply(reply.Exit, reply.Output, reply.Errors, reply.Cut), nil
}

// gone reports whether a task whose custody is over has been deleted at its host, which then takes no request for it.
func (c *Client) gone(ctx context.Context, host, id string) bool {
	if t, is := c.memory.of(id); !is || !over(t) {
		return false
	}
	seen, err := c.Server.Look(ctx, host, "", wire.Look{Task: id, Method: "show", Args: []string{"--", id}})
	const notThere = 4 // the status of orange where there is no such task
	return err == nil && seen.Exit == notThere
}

// asked signs a request for the host that has the task, and checks that the answer is the host's.
func (c *Client) asked(ctx context.Context, r wire.Request, anew bool) (wire.Reply, error) {
	t, err := c.custodyOf(ctx, r.Task, anew)
	if err != nil {
		return wire.Reply{}, err
	}
	r.Host, r.Epoch = t.Host, t.Epoch
	signed, err := c.signed(r)
	if err != nil {
		return wire.Reply{}, err
	}
	hosts, err := c.hosts(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	reply, err := c.Server.Ask(ctx, signed, over(t))
	if err != nil {
		return reply, err
	}
	// a repeat may be answered by what another host said, under an earlier epoch
	at := signed.Request
	at.Host, at.Epoch = reply.Host, reply.Epoch
	if err := sign.CheckReply(hosts, reply, at, c.Now()); err != nil {
		return reply, wire.Refuse(wire.CodeNotKnown, "%s", err)
	}
	return reply, nil
}

// Result asks again for the answer to a request: the custody has it, or sends it once more. A task that was to be
// created is one, too.
func (c *Client) Result(ctx context.Context, key string) (remote.Reply, error) {
	kept, err := c.Kept(key)
	if err != nil {
		return remote.Reply{}, err
	}
	var reply remote.Reply
	if kept.Call.Argv[1] == wire.MethodCreate {
		reply, err = c.bornReply(ctx, key)
	} else {
		reply, err = c.ask(ctx, kept, key)
	}
	if err == nil || errors.Is(err, remote.ErrLost) {
		err = errors.Join(err, c.Drop(key))
	}
	return reply, err
}
