package host

import (
	"context"
	"fmt"

	"orange/fleet/flow"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// Drain has the host take no new tasks, or take some again, where a person signed that for this host.
func (h *Host) Drain(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	none, r := wire.Message[wire.Reply]{}, m.Body.Request
	if err := h.trusted(ctx, func(people signed.List) error {
		return sign.CheckRequest(people, m.Body, sign.Here{Fleet: h.Fleet, Host: h.Name, Now: h.Now(ctx)}, "")
	}); err != nil {
		return none, flow.Final(err)
	}
	if r.Method != wire.MethodDrain || len(r.Args) != 1 || r.Args[0] != wire.DrainOn && r.Args[0] != wire.DrainOff {
		return none, flow.Final(fmt.Errorf("cannot drain the host %q: what was signed is %q %q", h.Name, r.Method,
			r.Args))
	}
	if err := h.Store.Drain(r.Args[0] == wire.DrainOn); err != nil {
		return none, err
	}
	h.news.tell()
	reply, err := sign.Reply(h.Key, wire.Reply{Fleet: h.Fleet, Host: h.Name, Key: r.Key, Digest: sign.Digest(r),
		Done: true})
	return wire.Of(reply), err
}
