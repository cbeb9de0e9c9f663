// Package client is what a person asks of a fleet, through its server: which tasks and hosts there are, and signed
// requests for a task, wherever it is.
//
// It owns how a command becomes a message that the person signs, which host gets it, what of an answer counts, and what
// becomes of a request whose answer is lost. The words and the exit statuses are those of package cli, whose port it
// implements; package custody at the server decides, and orange at the host does the work.
package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/fleet"
	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// Server is what the client asks the server of the fleet. An error with a code of a workflow is a *wire.Refusal.
type Server interface {
	// Hosts are the hosts, and whether they live.
	Hosts(ctx context.Context) ([]custody.HostState, error)
	// Tasks are the rows of the open tasks.
	Tasks(ctx context.Context) ([]wire.Custody, error)
	// Begins are the rows of the tasks whose ids begin so, also of those that are over.
	Begins(ctx context.Context, prefix string) ([]wire.Custody, error)
	// Task is the custody of a task, with the answer to its creation.
	Task(ctx context.Context, id string) (wire.Custody, error)
	// Start begins the custody of a task; one that is there goes on as it is.
	Start(ctx context.Context, id string, b wire.Birth, trust custody.Trust) error
	// Ask asks the custody of a task; where that is over, the host itself.
	Ask(ctx context.Context, ask wire.Ask, over bool) (wire.Reply, error)
	// Look asks a host something that changes nothing, of one task if its id is not empty and its custody is not over.
	Look(ctx context.Context, host, id string, l wire.Look) (wire.LookAnswer, error)
	Rescue(ctx context.Context, id string, r wire.Rescue) (wire.Custody, error)
	// Cancel ends the custody of a task that no host has had.
	Cancel(ctx context.Context, ask wire.Ask) error
	// Tell begins the custody of a task that a host has.
	Tell(ctx context.Context, t wire.Newcomer, trust custody.Trust) (wire.Custody, error)
	// AskHost asks a host itself, and not one task: to take no new tasks, to take some again, or to take one of its
	// own into the fleet.
	AskHost(ctx context.Context, ask wire.Ask) (wire.Reply, error)
	// Trust are the lists of keys, checked against what this machine knows.
	Trust(ctx context.Context) (custody.Trust, error)
}

// Client asks a fleet. The fields are required, where they do not say otherwise.
type Client struct {
	fleet.Hosts // attaches, and keeps requests whose answers were lost
	Setup       setup.Setup
	Unread      error // why there is no setup; nil where there is one
	Server      Server
	Key         func() (ssh.Signer, error)
	Now         func() time.Time
	// Every has ticks between two looks of what a person waits for.
	Every func() <-chan time.Time

	memory memory
}

// memory is what this process has seen of the fleet. The dashboard asks for several things at once.
type memory struct {
	lock  sync.Mutex
	found map[string]wire.Custody
	lost  map[string]time.Time // hosts that were lost when this process began, and since when
}

// of is what was found of a task.
func (m *memory) of(id string) (t wire.Custody, is bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	t, is = m.found[id]
	return t, is
}

func (m *memory) keep(t wire.Custody) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.found == nil {
		m.found = map[string]wire.Custody{}
	}
	m.found[t.Task] = t
}

// since is when a host was lost.
func (m *memory) since(host string) (since time.Time, is bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	since, is = m.lost[host]
	return since, is
}

func (m *memory) lose(hosts map[string]time.Time) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.lost = hosts
}

// bornWithin is how long a new task is waited for.
const bornWithin = 30 * time.Second

// Read is the fleet, with the hosts that its server knows.
func (c *Client) Read() (remote.Fleet, error) {
	f := remote.Fleet{Name: c.Setup.Name, Snapshots: c.Setup.Snapshots, Patience: c.Setup.Patience,
		Server: c.Setup.Server}
	if c.Unread != nil {
		return f, c.Unread
	}
	ctx, off := context.WithTimeout(context.Background(), longestLook)
	defer off()
	hosts, err := c.Server.Hosts(ctx)
	if err != nil {
		return f, err
	}
	lost := map[string]time.Time{}
	for _, h := range hosts {
		f.Hosts = append(f.Hosts, remote.Host{Name: h.Host, SSH: h.Said.SSH})
		if !h.Here {
			lost[h.Host] = time.Unix(h.Since, 0)
		}
	}
	c.memory.lose(lost)
	slices.SortFunc(f.Hosts, func(a, b remote.Host) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

// longestLook is how long the server may take to list its hosts.
const longestLook = 15 * time.Second

// Known is what the server knows of hosts and tasks.
func (c *Client) Known(ctx context.Context) (remote.ServerView, error) {
	k := remote.ServerView{At: c.Now()}
	hosts, err := c.Server.Hosts(ctx)
	if err != nil {
		return k, err
	}
	tasks, err := c.Server.Tasks(ctx)
	if err != nil {
		return k, err
	}
	for _, h := range hosts {
		k.Hosts = append(k.Hosts, remote.ServerHost{Name: h.Host, SSH: h.Said.SSH, Here: h.Here,
			Since: time.Unix(h.Since, 0), Version: h.Said.Version, Free: h.Said.Free, Draining: h.Said.Draining,
			Labels: h.Said.Labels, Projects: h.Said.Projects, Harness: h.Said.Harness})
	}
	slices.SortFunc(k.Hosts, func(a, b remote.ServerHost) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range tasks {
		k.Tasks = append(k.Tasks, serverTask(t))
	}
	slices.SortFunc(k.Tasks, func(a, b remote.ServerTask) int { return strings.Compare(a.ID, b.ID) })
	return k, nil
}

// serverTask is a row of the server.
func serverTask(t wire.Custody) remote.ServerTask {
	h := remote.ServerTask{Found: remote.Found{ID: t.Task, Project: t.Row.Project, Branch: t.Row.Branch,
		Status: task.Status(t.Row.Status), Live: !t.Row.Over}, Summary: t.Row.Summary, Attention: t.Row.Attention,
		Host: t.Host, Epoch: t.Epoch, Event: t.Row.Head.Event, To: t.To, Label: t.On, Harness: t.Harness,
		Unfit: map[string]string{}, Taking: t.Phase == string(custody.PhaseTaking)}
	if t.Told != 0 {
		h.Told = time.Unix(t.Told, 0)
	}
	for i, host := range t.Not {
		if i < len(t.Because) {
			h.Unfit[host] = t.Because[i]
		}
	}
	for _, a := range t.Apart {
		h.Apart = append(h.Apart, remote.Apart{Host: a.Host, Epoch: a.Epoch, Ref: a.Ref})
	}
	return h
}

// Find are the tasks that a word may mean: the one with this id, or those of this branch and those whose ids begin so.
func (c *Client) Find(ctx context.Context, word string) ([]remote.ServerTask, error) {
	begun, err := c.begun(ctx, word)
	if err != nil {
		return nil, err
	}
	// one that no host could create is no task
	begun = slices.DeleteFunc(begun, func(t wire.Custody) bool { return over(t) && t.Host == "" })
	if at := slices.IndexFunc(begun, func(t wire.Custody) bool { return t.Task == word }); at >= 0 {
		begun = begun[at : at+1]
	} else {
		open, err := c.Server.Tasks(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range open {
			known := slices.ContainsFunc(begun, func(one wire.Custody) bool { return one.Task == t.Task })
			if t.Row.Branch == word && !known {
				begun = append(begun, t)
			}
		}
	}
	var out []remote.ServerTask
	for _, t := range begun {
		c.memory.keep(t)
		out = append(out, serverTask(t))
	}
	return out, nil
}

// begun are the tasks whose ids begin so. A whole id is asked for by itself: the list may not have it yet.
func (c *Client) begun(ctx context.Context, word string) ([]wire.Custody, error) {
	if idempotency.CheckID(word) != nil {
		return c.Server.Begins(ctx, word)
	}
	t, err := c.Server.Task(ctx, word)
	if errors.Is(commandError(err, ""), task.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, commandError(err, "")
	}
	return []wire.Custody{t}, nil
}

func over(t wire.Custody) bool { return t.Phase == string(custody.PhaseEnded) }

// custodyOf is the custody of a task: what was found of it, or what the server says now.
func (c *Client) custodyOf(ctx context.Context, id string, anew bool) (wire.Custody, error) {
	if t, is := c.memory.of(id); is && !anew {
		return t, nil
	}
	t, err := c.Server.Task(ctx, id)
	if err != nil {
		return t, commandError(err, id)
	}
	c.memory.keep(t)
	return t, nil
}

// hosts are the keys of the hosts, to check their answers.
func (c *Client) hosts(ctx context.Context) (signed.List, error) {
	trust, err := c.Server.Trust(ctx)
	if err != nil {
		return signed.List{}, err
	}
	lists, err := trust.Lists(c.Setup.Namespace)
	return lists.Hosts, err
}

// person is who signs here.
func (c *Client) person() (string, error) {
	if c.Setup.Person == "" {
		return "", task.Notef(task.ErrUsage, "cannot sign a request: fleet.yml has no \"person\": join the fleet "+
			"with an invitation that \"orange-fleet invite NAME --person\" prints")
	}
	return c.Setup.Person, nil
}

// signed is a request with the person's signature. It holds for half of the time that it may, as clocks differ.
func (c *Client) signed(r wire.Request) (wire.Ask, error) {
	var err error
	if r.Person, err = c.person(); err != nil {
		return wire.Ask{}, err
	}
	r.Fleet, r.Expires = c.Setup.Namespace, c.Now().Add(wire.MostOfMinutes*time.Minute/2).Unix()
	key, err := c.Key()
	if err != nil {
		return wire.Ask{}, err
	}
	ask, err := sign.Ask(key, r)
	if err != nil {
		return ask, fmt.Errorf("sign the request with %q: %w", c.Setup.SigningKey, err)
	}
	return ask, wire.Check(ask)
}

// texts are the files of a call, and its standard input under its name.
func texts(call remote.Call) map[string]string {
	files := maps.Clone(call.Files)
	if call.Stdin != "" {
		if files == nil {
			files = map[string]string{}
		}
		files[wire.StdinFile] = call.Stdin
	}
	return files
}
