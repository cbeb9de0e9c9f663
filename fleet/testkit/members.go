package testkit

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/registry"
)

// OnceSeed is the seed of the one-time key of the invitation for a name.
func OnceSeed(name string) []byte {
	return bytes.Repeat([]byte(name+"-once"), ed25519.SeedSize)[:ed25519.SeedSize]
}

// Once is the one-time key of the invitation for a name.
func Once(t testing.TB, name string) ssh.Signer {
	t.Helper()
	key, err := registry.Ticket{Seed: OnceSeed(name)}.Once()
	Must(t, err)
	return key
}

// Invite is an invitation for a name, which may create tasks.
func Invite(t testing.TB, of, name string, now time.Time) registry.Invite {
	t.Helper()
	key, err := registry.OnceOf(OnceSeed(name))
	Must(t, err)
	return registry.Invite{Fleet: Fleet, Of: of, Name: name, Create: true, Key: key,
		Expires: now.Add(registry.InviteFor).Unix()}
}

// Order is an invitation or a join, signed with a key.
func Order(t testing.TB, of interface {
	Sign(key ssh.Signer) (registry.Order, error)
}, by ssh.Signer) registry.Order {
	t.Helper()
	o, err := of.Sign(by)
	Must(t, err)
	return o
}
