package registry

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"orange/fleet/sign"
	"orange/internal/rules/task"
)

// Ticket is what the person who is invited gets, as one line.
type Ticket struct {
	V         int    `json:"v"`
	Server    string `json:"server"`
	Fleet     string `json:"fleet"`
	Of        string `json:"of"`
	Name      string `json:"name"`
	Authority string `json:"authority"` // its public key
	Seed      []byte `json:"seed"`      // of the one-time key
	CA        string `json:"ca,omitempty"`
	Cert      string `json:"cert,omitempty"` // for the one connection that joins
	Key       string `json:"key,omitempty"`
	Codec     bool   `json:"codec,omitempty"` // the fleet encrypts what it says: a key file is needed
}

const ticketMark = "orange-fleet-join-"

// Line is the ticket as one line.
func (t Ticket) Line() (string, error) {
	t.V = orderVersion
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("write an invitation: %w", err)
	}
	return ticketMark + base64.RawURLEncoding.EncodeToString(text), nil
}

// ReadTicket reads the line of an invitation.
func ReadTicket(line string) (Ticket, error) {
	var t Ticket
	text, is := strings.CutPrefix(strings.Join(strings.Fields(line), ""), ticketMark) // a mail may have wrapped it
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if !is || err != nil {
		return t, task.Notef(task.ErrUsage, "cannot join: that is not the whole line of an invitation, which begins "+
			"with "+
			"%q and ends as it was printed", ticketMark)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&t); err != nil || len(t.Seed) != ed25519.SeedSize || t.V != orderVersion {
		return t, task.Notef(task.ErrUsage, "cannot join: the line of the invitation is damaged, or of another "+
			"version: "+
			"copy it whole, and use the same orange-fleet here and where the authority is")
	}
	return t, nil
}

// Once is the one-time key of a ticket.
func (t Ticket) Once() (ssh.Signer, error) { return onceKey(t.Seed) }

func onceKey(seed []byte) (ssh.Signer, error) {
	key, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, fmt.Errorf("read the one-time key of the invitation: %w", err)
	}
	return key, nil
}

// OnceOf is the public half of a one-time key, as an invitation has it.
func OnceOf(seed []byte) (string, error) {
	key, err := onceKey(seed)
	if err != nil {
		return "", err
	}
	return sign.KeyOf(key.PublicKey()).Words(), nil
}
