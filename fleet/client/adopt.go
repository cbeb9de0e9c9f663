package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// Local are the tasks of a host that were created there without the fleet, and are not over.
func (c *Client) Local(ctx context.Context, host string) ([]remote.Found, error) {
	rows, err := c.Server.Tasks(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := c.Server.Look(ctx, host, "", wire.Look{Method: "list", Args: []string{"--all", "--json"}})
	if err != nil {
		return nil, commandError(err, "")
	}
	var listed struct{ Tasks []remote.Found }
	if seen.Exit != 0 || seen.Cut || json.Unmarshal([]byte(seen.Output), &listed) != nil {
		return nil, task.Notef(remote.ErrNotReached, "the host %q did not list its tasks: %s", host,
			printedReply(seen.Exit, seen.Output, seen.Errors, seen.Cut).Failure())
	}
	return slices.DeleteFunc(listed.Tasks, func(t remote.Found) bool {
		return !t.Live || slices.ContainsFunc(rows, func(row wire.Custody) bool { return row.Task == t.ID })
	}), nil
}

// Adopt takes a task into the fleet that was created at a host without it: the person signs what it was created from,
// and the host is the custodian. A repeat ends what an earlier one began.
func (c *Client) Adopt(ctx context.Context, host, id string) (remote.ServerTask, error) {
	known, err := c.askNewcomer(ctx, host, id, nil)
	if err != nil {
		return remote.ServerTask{}, err
	}
	birth := known.Birth
	birth.Ask, err = c.signed(wire.Request{Task: id, Method: wire.MethodCreate, Key: id,
		Args: []string{sign.BirthDigest(birth)}})
	if err != nil {
		return remote.ServerTask{}, err
	}
	text, err := json.Marshal(wire.Of(birth))
	if err != nil {
		return remote.ServerTask{}, fmt.Errorf("write what task %s was created from: %w", id, err)
	}
	taken, err := c.askNewcomer(ctx, host, id, map[string]string{wire.BirthFile: string(text)})
	if err != nil {
		return remote.ServerTask{}, err
	}
	if taken.Report == nil {
		return remote.ServerTask{}, task.Notef(remote.ErrNotKnown, "the host %q did not say whether it has taken "+
			"task %s into the fleet: the same command again finds out", host, id)
	}
	people, err := c.Server.Trust(ctx)
	if err != nil {
		return remote.ServerTask{}, err
	}
	has, err := c.Server.Tell(ctx, taken, people)
	if err != nil {
		return remote.ServerTask{}, task.Notef(remote.ErrNotKnown, "the host %q has taken task %s into the fleet, "+
			"and the server may not know it (%v): the same command again tells it", host, id, err)
	}
	return serverTask(has), nil
}

// askNewcomer asks a host about a task that joins the fleet, or to take it in.
func (c *Client) askNewcomer(ctx context.Context, host, id string, files map[string]string) (n wire.Newcomer,
	err error) {
	reply, err := c.askHost(ctx, wire.Request{Host: host, Task: id, Method: wire.MethodAdopt, Files: files})
	var m wire.Message[wire.Newcomer]
	if err == nil {
		err = json.Unmarshal([]byte(reply.Output), &m)
	}
	if err != nil {
		return n, fmt.Errorf("take task %s of the host %q into the fleet: %w", id, host, err)
	}
	return m.Body, nil
}
