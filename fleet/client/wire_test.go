package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"orange/fleet/client"
	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// wireServer is the server of a fleet with one host, without a server: the rules of the custody and the host are called
// in this process. Custodies are files in a folder, as each command is a process of its own.
type wireServer struct {
	dir   string
	host  *host.Host
	trust custody.Trust
	say   wire.Here
}

func (w wireServer) path(id string) string { return filepath.Join(w.dir, id+".json") }

func (w wireServer) read(id string) (s custody.State, there bool, err error) {
	text, err := os.ReadFile(w.path(id))
	if errors.Is(err, os.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err == nil, err
}

func (w wireServer) keep(s custody.State, err error) error {
	if err != nil {
		return failure(err)
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(w.path(s.Task), text, 0o600)
	}
	return err
}

// failure is an error as it comes from a workflow.
func failure(err error) error {
	var said *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return wire.Refuse(wire.Code(said.Type()), "%s", said.Message())
	}
	return wire.Refuse(cmp.Or(wire.CodeOf(err), wire.CodeRefused), "%s", err)
}

func (w wireServer) Hosts(context.Context) ([]custody.HostState, error) {
	return []custody.HostState{{Host: w.host.Name, Here: true, Since: time.Now().Unix(), Said: w.say}}, nil
}

func (w wireServer) all(keep func(custody.State) bool) (out []wire.Custody, err error) {
	files, err := filepath.Glob(filepath.Join(w.dir, "*.json"))
	for _, file := range files {
		s, _, unread := w.read(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err = errors.Join(err, unread); keep(s) {
			out = append(out, s.Listed())
		}
	}
	return out, err
}

func (w wireServer) Tasks(context.Context) ([]wire.Custody, error) {
	return w.all(func(s custody.State) bool { return s.Phase != custody.PhaseEnded })
}

func (w wireServer) Begins(_ context.Context, prefix string) ([]wire.Custody, error) {
	return w.all(func(s custody.State) bool { return strings.HasPrefix(s.Task, prefix) })
}

func (w wireServer) Task(_ context.Context, id string) (wire.Custody, error) {
	s, there, err := w.read(id)
	if err == nil && !there {
		err = wire.Refuse("not_found", "the fleet has no task %q", id)
	}
	return s.Summary(), err
}

func (w wireServer) Start(ctx context.Context, id string, b wire.Birth, trust custody.Trust) error {
	if s, there, err := w.read(id); err != nil || there && s.Phase != custody.PhaseEnded {
		return err
	}
	s, err := custody.New(w.host.Fleet, id, b, trust, time.Now())
	if err != nil {
		return failure(err)
	}
	s = s.Accepted(wire.OfferAnswer{Host: w.host.Name}, time.Now())
	taken, err := w.host.Take(ctx, wire.Of(s.Take()))
	if err == nil {
		s, err = s.Taken(s.Epoch, taken.Body, time.Now())
	}
	return w.keep(s, err)
}

func (w wireServer) Ask(ctx context.Context, ask wire.Ask, over bool) (wire.Reply, error) {
	s, _, err := w.read(ask.Request.Task)
	if err != nil {
		return wire.Reply{}, err
	}
	if !over {
		if kept, done, err := s.Asked(ask, time.Now()); done || err != nil {
			return kept, failure(err)
		}
	}
	reply, err := w.host.Answer(ctx, wire.Of(ask))
	if err != nil || over {
		return reply.Body, failure(err)
	}
	s, err = s.Answered(ask.Request, reply.Body, time.Now())
	if err := w.keep(s, err); err != nil {
		return reply.Body, err
	}
	holder, err := w.host.Store.Read()
	if t := holder.Of(ask.Request.Task); t.Has {
		_, _ = w.host.Report(ctx, reporter{w}, t) // a task that is gone cannot be reported
	}
	return reply.Body, err
}

// reporter takes the reports of the host.
type reporter struct{ wireServer }

func (reporter) Here(context.Context, wire.Here) (wire.Lease, error) { return wire.Lease{}, nil }
func (reporter) Beat(context.Context, []byte) error                  { return host.ErrOver }
func (reporter) Told(context.Context, wire.Here) error               { return nil }
func (w reporter) Report(_ context.Context, r wire.Report) error {
	s, there, err := w.read(r.Task)
	if err != nil || !there {
		return err
	}
	next, err := s.Reported(r, time.Now())
	if errors.Is(err, custody.ErrDropped) {
		return nil
	}
	return w.keep(next, err)
}

func (w wireServer) Look(ctx context.Context, _, _ string, l wire.Look) (wire.LookAnswer, error) {
	seen, err := w.host.Look(ctx, wire.Of(l))
	return seen.Body, failure(err)
}

func (w wireServer) Rescue(context.Context, string, wire.Rescue) (wire.Custody, error) {
	return wire.Custody{}, wire.Refuse(wire.CodeKept, "the host is there")
}

func (w wireServer) Cancel(_ context.Context, ask wire.Ask) error {
	s, _, err := w.read(ask.Request.Task)
	if err == nil {
		s, err = s.Cancelled(ask, time.Now())
	}
	return w.keep(s, err)
}

func (w wireServer) Tell(_ context.Context, n wire.Newcomer, trust custody.Trust) (wire.Custody, error) {
	s, err := custody.Resume(w.host.Fleet, n.Birth, trust, *n.Report, time.Now())
	return s.Summary(), w.keep(s, err)
}

func (w wireServer) AskHost(ctx context.Context, ask wire.Ask) (wire.Reply, error) {
	reply, err := w.host.OfHost(ctx, wire.Of(ask))
	return reply.Body, failure(err)
}

func (w wireServer) Trust(context.Context) (custody.Trust, error) { return w.trust, nil }

var _ client.Server = wireServer{}

// people are the keys of people, as a host has them.
func people(trust custody.Trust) func() (signed.List, error) {
	return func() (signed.List, error) {
		lists, err := trust.Lists(testkit.Fleet)
		return lists.People, err
	}
}

func clock() (string, time.Duration, error) { return "b1", time.Hour, nil }
