package members

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/fleet/sign"
)

// Invite makes an invitation: the ticket for the one who is invited, and the order for the registry.
func (a Authority) Invite(ctx context.Context, s setup.Setup, i registry.Invite, now time.Time) (registry.Ticket,
	registry.Order, error) {
	ticket := registry.Ticket{Server: s.Server, Fleet: s.Namespace, Of: i.Of, Name: i.Name,
		Authority: sign.KeyOf(a.Key.PublicKey()).Words(), Seed: make([]byte, ed25519.SeedSize),
		Codec: s.CodecKeyFile != ""}
	if _, err := rand.Read(ticket.Seed); err != nil {
		return ticket, registry.Order{}, fmt.Errorf("draw a one-time key: %w", err)
	}
	if err := a.encrypt(&ticket, s, now); err != nil {
		return ticket, registry.Order{}, err
	}
	var err error
	if i.Key, err = registry.OnceOf(ticket.Seed); err != nil {
		return ticket, registry.Order{}, err
	}
	i.Fleet, i.Expires = s.Namespace, now.Add(registry.InviteFor).Unix()
	order, err := i.Sign(a.Key)
	if err != nil {
		return ticket, order, fmt.Errorf("sign the invitation: %w", err)
	}
	return ticket, order, a.change(ctx, func(state registry.State) (registry.State, error) {
		return state.Invited(order, now)
	})
}

// encrypt adds what the connection that joins needs. Where another authority signs certificates, the one who is invited
// has to have one from it.
func (a Authority) encrypt(t *registry.Ticket, s setup.Setup, now time.Time) error {
	if s.TLS == (setup.Files{}) {
		return nil
	}
	text, err := os.ReadFile(s.TLS.CA)
	if err != nil {
		return fmt.Errorf("read the certificate of the fleet's authority: %w", err)
	}
	t.CA = string(text)
	if has, err := a.hasCertificates(); err != nil || !has {
		return err
	}
	c, err := a.readCA()
	if err != nil {
		return err
	}
	made, err := c.issue(t.Name, "invited", nil, now, registry.InviteFor)
	t.Cert, t.Key = string(made.cert), string(made.key)
	return err
}

// Admit answers a join: it judges by what this machine itself knows of the invitation.
func (a Authority) Admit(ctx context.Context, o registry.Order, now time.Time) (registry.Admission, error) {
	var admitted registry.Admission
	err := a.change(ctx, func(s registry.State) (registry.State, error) {
		if again, was := s.Answered(o); was {
			admitted = again
			return s, nil
		}
		j, err := s.Judge(o, now)
		if err != nil {
			return s, err
		}
		has, err := a.hasCertificates()
		if err != nil {
			return s, fmt.Errorf("look for the certificates of the fleet: %w", err)
		}
		certificate := ""
		if has {
			c, err := a.readCA()
			if err != nil {
				return s, err
			}
			if certificate, err = c.member(j, now); err != nil {
				return s, err
			}
		}
		s, admitted, err = s.Admit(o, now, a.Key, certificate)
		return s, err
	})
	return admitted, err
}

// Remove takes a member off the lists; a member that is retired stays in them, with keys that end now.
func (a Authority) Remove(ctx context.Context, name string, retire bool, now time.Time) (registry.State, error) {
	var after registry.State
	err := a.change(ctx, func(s registry.State) (registry.State, error) {
		next, err := s.Removed(name, a.Key)
		if retire {
			next, err = s.Retired(name, a.Key, now)
		}
		after = next
		return next, err
	})
	return after, err
}
