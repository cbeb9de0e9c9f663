package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// InviteFor is how long an invitation holds.
const InviteFor = 15 * time.Minute

const (
	mostSkew        = time.Minute    // of the clocks of the authority and of the server
	keptFor         = 24 * time.Hour // how long what became of an invitation is known
	mostInvitations = 500
	mostOfOrder     = 128 << 10
	orderVersion    = 1
)

// The uses of signatures under orders.
const (
	forInvite signed.Use = "orange-invite"
	forJoin   signed.Use = "orange-join"
)

// Errors that callers tell apart with errors.Is. Each comes with a text for people.
var (
	ErrForged  = errors.New("not what was invited")
	ErrUnknown = errors.New("no such invitation")
	ErrUsed    = errors.New("the invitation was used")
	ErrExpired = errors.New("the invitation expired")
	ErrTaken   = errors.New("another member has it")
	ErrRefused = errors.New("refused")
)

// Order is a text with its signature: an invitation, signed by the authority, or a join, signed by the one-time key of
// the invitation. That key is in the line that the person gets, and never goes to the server: who reads a join there
// can make no other one of it.
type Order struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Kind is the name and the version of the message.
func (Order) Kind() (string, int) { return "order", orderVersion }

// Check refuses what is too large.
func (o Order) Check() error {
	if size := len(o.Text) + len(o.Signature); size > mostOfOrder {
		return task.Notef(task.ErrUsage, "cannot send the order: found %d bytes, at most %d", size, mostOfOrder)
	}
	return nil
}

func (o Order) digest() string {
	return signed.Digest(o.Text)
}

// Invite is what the authority signs of an invitation.
type Invite struct {
	V       int    `json:"v"`
	Fleet   string `json:"fleet"`
	Of      string `json:"of"` // signed.OfPeople or signed.OfHosts
	Name    string `json:"name"`
	Create  bool   `json:"create"`  // may create tasks
	Key     string `json:"key"`     // the public one-time key
	Expires int64  `json:"expires"` // in seconds since 1970
}

// Join is what is signed with the one-time key of an invitation.
type Join struct {
	V       int    `json:"v"`
	Fleet   string `json:"fleet"`
	Of      string `json:"of"`
	Name    string `json:"name"`
	Key     string `json:"key"`               // the public key of the new member
	Request string `json:"request,omitempty"` // for a certificate, as PEM; empty where the connection is not encrypted
	// Projects are those of a host.
	Projects []remote.HostProject `json:"projects,omitempty"`
}

// Sign is the order of an invitation.
func (i Invite) Sign(authority ssh.Signer) (Order, error) {
	i.V = orderVersion
	return order(authority, forInvite, i)
}

// Sign is the order of a join, by the one-time key of its invitation.
func (j Join) Sign(once ssh.Signer) (Order, error) {
	j.V = orderVersion
	return order(once, forJoin, j)
}

func order(key ssh.Signer, use signed.Use, value any) (Order, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return Order{}, fmt.Errorf("write an order: %w", err)
	}
	made, err := sign.Sign(key, use, string(text))
	return Order{string(text), made}, err
}

// invite reads an invitation after its signature.
func (s State) invite(o Order) (Invite, error) {
	var i Invite
	key, err := signed.Signer(forInvite, o.Text, o.Signature)
	if err != nil {
		return i, task.Notef(ErrForged, "cannot invite: the invitation is %v", err)
	}
	if line := key.Words(); line != s.Trust.Authority {
		return i, task.Notef(ErrForged, "cannot invite: the invitation is signed by %s, expected the authority of the "+
			"fleet %q", key.Fingerprint(), s.Fleet)
	}
	if err := json.Unmarshal([]byte(o.Text), &i); err != nil {
		return i, fmt.Errorf("read an invitation: %w", err)
	}
	if _, err := readKey(i.Key); err != nil || i.V != orderVersion || i.Fleet != s.Fleet ||
		i.Of != signed.OfPeople && i.Of != signed.OfHosts {
		return i, task.Notef(ErrForged, "cannot invite %q: found the version %d for the %s of the fleet %q, expected "+
			"%d "+
			"for %s or %s of %q", i.Name, i.V, i.Of, i.Fleet, orderVersion, signed.OfPeople, signed.OfHosts, s.Fleet)
	}
	return i, wire.CheckName("member", i.Name)
}

// openJoin reads a join after its signature, and names the one-time key that made it.
func openJoin(o Order) (j Join, once string, err error) {
	key, err := signed.Signer(forJoin, o.Text, o.Signature)
	if err != nil {
		return j, "", task.Notef(ErrForged, "cannot join: what was sent is %v: take the whole line of the "+
			"invitation", err)
	}
	if err := json.Unmarshal([]byte(o.Text), &j); err != nil {
		return j, "", fmt.Errorf("read a join: %w", err)
	}
	if j.V != orderVersion {
		return j, "", task.Notef(ErrRefused, "cannot join: found the version %d of a join, expected %d: use the same "+
			"orange-fleet here and where the authority is", j.V, orderVersion)
	}
	return j, key.Words(), nil
}

// signerOf is the key that made an order; empty for none.
func signerOf(o Order) string {
	_, once, err := openJoin(o)
	if err != nil {
		return ""
	}
	return once
}

func readKey(line string) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err == nil && (len(rest) > 0 || len(options) > 0 || sign.KeyOf(key).Words() != line) {
		err = errors.New("found more than a key")
	}
	return key, err
}
