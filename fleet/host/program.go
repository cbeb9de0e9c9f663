// Package host is what one host of a fleet does for it: it takes tasks, answers requests, reports, and keeps its lease.
//
// It owns how the calls of the fleet become commands of the program orange, which does the work, and what the host
// remembers of its own rights. It decides nothing about a task: orange does; nor about custody: package custody does.
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/run/proc"
)

// Program is the program orange of the host: what it does, and what it says of the home and the machine.
type Program interface {
	Do(ctx context.Context, c remote.Call) (remote.Reply, error)
	Projects(ctx context.Context) ([]string, error)
	// Harnesses are those whose programs are installed.
	Harnesses(ctx context.Context) ([]string, error)
	// Free counts the workspaces that no task has, by project.
	Free(ctx context.Context) (map[string]int, error)
	// Workflow is the digest of the text of a workflow; the error is a task.ErrNotFound where there is none.
	Workflow(ctx context.Context, name string) (digest string, err error)
	// Local is a task as the record has it; the error is a task.ErrNotFound where there is none.
	Local(ctx context.Context, id string) (Local, error)
	// Space is how many bytes may still be written below the home.
	Space() (uint64, error)
	// Holds reports whether a task is held for the fleet here. It stays so when the task leaves, until it is deleted.
	Holds(id string) (bool, error)
}

// Orange is the program orange at a path. Each call is a process of its own.
type Orange struct {
	Path string
	Home string // $ORANGE_HOME
}

// Do runs one command. What a person asks for goes through "orange answer", which checks the signature itself. What the
// host does of its own is a command like that of the person here: "orange answer" would refuse it without a signature.
func (o Orange) Do(ctx context.Context, c remote.Call) (remote.Reply, error) {
	if c.Signed == nil && c.NeedsSignature() {
		return o.own(ctx, c)
	}
	text, err := c.Text()
	if err != nil {
		return remote.Reply{}, err
	}
	out, err := proc.Run(ctx, proc.Command{Name: o.Path, Args: []string{"answer"}, Stdin: bytes.NewReader(text),
		Env: o.env(), Unset: seatless(), Most: remote.MostOfReply})
	reply, unread := remote.ReadReply(out.Stdout)
	if unread != nil {
		return remote.Reply{}, fmt.Errorf("read the answer of %s: %w", o.Path, errors.Join(err, unread))
	}
	return reply, nil
}

// own runs a command that no person has signed: to take a snapshot, to bring a task back, to let one go.
func (o Orange) own(ctx context.Context, c remote.Call) (remote.Reply, error) {
	if !slices.Contains([]string{"snapshot", "restore", "leave"}, c.Argv[1]) {
		return remote.Reply{}, fmt.Errorf("cannot do %q: no person has signed it", c.Argv[1])
	}
	if err := c.Check(); err != nil {
		return remote.Reply{}, err
	}
	out, err := proc.Run(ctx, proc.Command{Name: o.Path, Args: c.Words(), Stdin: strings.NewReader(c.Stdin),
		Dir: o.Home, Env: o.env(), Unset: seatless(), Most: remote.MostOfReply})
	if ended := (*proc.Error)(nil); err != nil && (!errors.As(err, &ended) || out.Code < 0) {
		return remote.Reply{}, err
	}
	return remote.Reply{V: remote.Version, Exit: out.Code, Stdout: string(out.Stdout), Stderr: string(out.Stderr)}, nil
}

// call is a call of a command of "orange task". One that is done once under a key gets the key.
func call(command, key, stdin string, words ...string) remote.Call {
	c := remote.Call{V: remote.Version, Argv: append([]string{"task", command}, words...), Stdin: stdin}
	if remote.RepeatOf(command) == api.Keyed {
		c.Key = key
	}
	return c
}

func done(r remote.Reply) bool { return r.Refused == "" && r.Exit == 0 }
