// Package testkit has keys, lists of keys and signed messages for tests of the fleet. Only tests enter it.
//
// The key of a name is always the same, so that stored histories stay valid.
package testkit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// Fleet is the name of the fleet of tests, and Authority the name of the key that signs its lists.
const (
	Fleet     = "home"
	Authority = "authority"
)

// Must ends a test that cannot go on.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func private(name string) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte(name+"\n"), ed25519.SeedSize)[:ed25519.SeedSize])
}

// KeyFile is the private key of a name as a file has it; with a passphrase, if that is not empty.
func KeyFile(t testing.TB, name, passphrase string) []byte {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private(name), name)
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private(name), name, []byte(passphrase))
	}
	Must(t, err)
	return pem.EncodeToMemory(block)
}

// Key is the key of a name.
func Key(t testing.TB, name string) ssh.Signer {
	t.Helper()
	key, err := ssh.NewSignerFromKey(private(name))
	Must(t, err)
	return key
}

// Public is the public key of a name, as in an authorized_keys file.
func Public(t testing.TB, name string) string {
	t.Helper()
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(Key(t, name).PublicKey())))
}

// List is a list of people or hosts, signed by the authority.
func List(t testing.TB, of string, version int, names ...string) sign.SignedList {
	t.Helper()
	text := signed.TitleOf(Fleet, of, version) + "\n"
	for _, name := range names {
		text += signed.Person{Name: name, Key: sign.KeyOf(Key(t, name).PublicKey()), Create: true}.Line() + "\n"
	}
	list, err := sign.List(Key(t, Authority), text)
	Must(t, err)
	return list
}

// Trust are the lists of a fleet with the person ada, and with hosts; h1 and h2 where none are named.
func Trust(t testing.TB, hosts ...string) custody.Trust {
	t.Helper()
	if hosts == nil {
		hosts = []string{"h1", "h2"}
	}
	return custody.Trust{Authority: Public(t, Authority), People: List(t, signed.OfPeople, 1, "ada"),
		Hosts: List(t, signed.OfHosts, 1, hosts...)}
}

// Ask is a signed request.
func Ask(t testing.TB, r wire.Request) wire.Ask {
	t.Helper()
	ask, err := sign.Ask(Key(t, r.Person), r)
	Must(t, err)
	return ask
}

// Request is a request of a person of a task at a host.
func Request(person, task, host string, epoch int, key string, now time.Time) wire.Request {
	return wire.Request{Fleet: Fleet, Host: host, Epoch: epoch, Task: task, Method: "next", Args: []string{key},
		Person: person, Key: key, Expires: now.Add(5 * time.Minute).Unix()}
}

// Birth is what a task is created from.
func Birth(t testing.TB, person, task, on string, now time.Time) wire.Birth {
	t.Helper()
	b := wire.Birth{Project: "web", On: on, Summary: "one", Workflow: "default@12", Rules: "states:\n"}
	b.Ask = Ask(t, wire.Request{Fleet: Fleet, Task: task, Method: wire.MethodCreate,
		Args: []string{sign.BirthDigest(b)}, Person: person, Key: "create", Expires: now.Add(5 * time.Minute).Unix()})
	return b
}

// Rescue is a signed rescue.
func Rescue(t testing.TB, person, task string, from int, to, reason string, now time.Time) wire.Rescue {
	t.Helper()
	return wire.Rescue{From: from, To: to, Now: reason, Ask: Ask(t, wire.Request{Fleet: Fleet, Task: task, Epoch: from,
		Method: wire.MethodRescue, Args: []string{to, reason}, Person: person, Key: "rescue",
		Expires: now.Add(5 * time.Minute).Unix()})}
}

// Report is a signed report.
func Report(t testing.TB, host, task string, epoch, version, event int, status string) wire.Report {
	t.Helper()
	r, err := sign.Report(Key(t, host), wire.Report{Fleet: Fleet, Host: host, Epoch: epoch, Task: task,
		Version: version, Row: wire.Row{Project: "web", Status: status, Over: status == "over",
			Head: wire.Head{Event: event, Hash: "hash"}}})
	Must(t, err)
	return r
}

// Reply is a signed answer to a request that was done at an event.
func Reply(t testing.TB, host string, r wire.Request, event int) wire.Reply {
	t.Helper()
	reply, err := sign.Reply(Key(t, host), wire.Reply{Fleet: Fleet, Host: host, Epoch: r.Epoch, Task: r.Task,
		Key: r.Key, Digest: sign.Digest(r), Done: true, Head: wire.Head{Event: event, Hash: "hash"}})
	Must(t, err)
	return reply
}

// CodeOf is the code of an error as it comes from a workflow or from a host.
func CodeOf(err error) wire.Code {
	if known := (*temporal.ApplicationError)(nil); errors.As(err, &known) {
		return wire.Code(known.Type())
	}
	return wire.CodeOf(err)
}
