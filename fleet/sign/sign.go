// Package sign proves who said what in a fleet: signatures of people under requests, and of hosts under answers and
// reports.
//
// It owns which fields of a message are signed, how a key signs them, and what a message is refused for. The form of
// signatures, of such texts and of the lists of keys is package signed's. It reads no file and no clock, and never sees
// where a private key is: a key comes in as what can sign.
package sign

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"orange/internal/rules/signed"
)

// KeyOf is a public key as lists and signatures have it.
func KeyOf(key ssh.PublicKey) signed.PublicKey { return signed.PublicKey(key.Marshal()) }

// Sign is the signature of a text for a use. The key must be an ed25519 key, which needs no random numbers.
func Sign(key ssh.Signer, use signed.Use, text string) (string, error) {
	if kind := key.PublicKey().Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoSKED25519 {
		return "", fmt.Errorf("cannot sign with a key of the type %q: expected %q", kind, ssh.KeyAlgoED25519)
	}
	made, err := key.Sign(nil, signed.Message(use, text))
	if err != nil {
		return "", fmt.Errorf("sign the text: %w", err)
	}
	return signed.Armor(KeyOf(key.PublicKey()), use, ssh.Marshal(made)), nil
}

// SignedList is a list of keys as it is handed on: its text, and the signature of the fleet's authority.
type SignedList struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// ErrNotTheList says that a list of keys is not the fleet's.
var ErrNotTheList = errors.New("not the fleet's list of keys")

// Open reads a list after its signature: what the authority did not sign has not even been looked at.
func (s SignedList) Open(authority signed.PublicKey, fleet, of string) (signed.List, error) {
	l, err := signed.Open(authority, fleet, of, s.Text, s.Signature)
	if err != nil {
		err = fmt.Errorf("%w: %w: fetch it again", ErrNotTheList, err)
	}
	return l, err
}

// List signs a list with the key of the authority, if it can be read.
func List(authority ssh.Signer, text string) (SignedList, error) {
	if _, err := signed.ParseList(text); err != nil {
		return SignedList{}, err
	}
	made, err := Sign(authority, signed.ForList, text)
	return SignedList{text, made}, err
}
