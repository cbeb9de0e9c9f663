package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Drain has a host take no new tasks, or, with off, take some again. The tasks that it has go on there.
func (c *Client) Drain(ctx context.Context, host string, off bool) error {
	word := wire.DrainOn
	if off {
		word = wire.DrainOff
	}
	if _, err := c.askHost(ctx, wire.Request{Host: host, Method: wire.MethodDrain, Args: []string{word}}); err != nil {
		return fmt.Errorf("drain the host %q: %w", host, err)
	}
	return nil
}

// askHost signs a request to a host itself, and returns the answer that the host has signed. Each call is a request of
// its own.
func (c *Client) askHost(ctx context.Context, r wire.Request) (wire.Reply, error) {
	r.Key = rand.Text()
	ask, err := c.signed(r)
	if err != nil {
		return wire.Reply{}, err
	}
	hosts, err := c.hosts(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	reply, err := c.Server.AskHost(ctx, ask)
	if err == nil {
		err = sign.CheckReply(hosts, reply, ask.Request, c.Now())
	}
	return reply, commandError(err, "")
}

// HandOver gives the tasks of a host to others at which no agent works. Each gets a snapshot before it leaves; one
// whose snapshot cannot be taken stays. It tells what becomes of each task, and answers how many stay.
func (c *Client) HandOver(ctx context.Context, host string, tell func(id, what string)) (stay int, err error) {
	rows, err := c.Server.Tasks(ctx)
	if err != nil {
		return 0, err
	}
	for _, t := range rows {
		if t.Host != host || t.Phase != string(custody.PhaseHeld) {
			continue
		}
		why, err := c.handOver(ctx, t)
		switch {
		case err != nil && ctx.Err() != nil:
			return stay, err
		case err != nil:
			why = err.Error()
		}
		if why == "" {
			tell(t.Task, "was shipped and waits for another host")
			continue
		}
		stay++
		tell(t.Task, "stays: "+why)
	}
	return stay, nil
}

// handOver gives a task to another host. Why is what keeps it here.
func (c *Client) handOver(ctx context.Context, t wire.Custody) (why string, err error) {
	if why, err = c.busy(ctx, t); why != "" || err != nil {
		return why, err
	}
	reply, err := c.ask(ctx, remote.Pending{Host: t.Host, Call: remote.Call{V: remote.Version,
		Argv: []string{"task", "snapshot", "--json", "--if-changed", "--", t.Task}}}, rand.Text())
	if err == nil && (reply.Exit != 0 || reply.Refused != "") {
		err = errors.New(reply.Failure())
	}
	if err != nil {
		return "", fmt.Errorf("its snapshot cannot be taken: %w", err)
	}
	_, err = c.Rescue(ctx, t.Task, "", "the host "+t.Host+" is drained")
	return "", err
}

// busy is what a task is in the middle of; empty where no agent works on it.
func (c *Client) busy(ctx context.Context, t wire.Custody) (string, error) {
	seen, err := c.Server.Look(ctx, t.Host, t.Task, wire.Look{Task: t.Task, Method: "show",
		Args: []string{"--json", "--", t.Task}})
	if err != nil {
		return "", commandError(err, "")
	}
	var shown struct {
		Task struct {
			Session string `json:"session"`
		} `json:"task"`
		Owed []struct {
			Action string `json:"action"`
		} `json:"owed_hooks"`
	}
	if seen.Exit != 0 || json.Unmarshal([]byte(seen.Output), &shown) != nil {
		return "", task.Notef(remote.ErrNotReached, "the host did not say how the task is")
	}
	switch session := shown.Task.Session; {
	case session == record.AgentAlive:
		return "an agent works on it", nil
	case !slices.Contains([]string{record.AgentNone, record.AgentDead}, session):
		return "it is not known whether an agent works on it", nil
	case len(shown.Owed) > 0:
		return "it is in the middle of a move", nil
	}
	return "", nil
}
