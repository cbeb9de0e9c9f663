package sign

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"orange/internal/rules/signed"
)

// Signed is a list of keys as it is handed on: its text, and the signature of the fleet's authority.
type Signed struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// ErrNotTheList says that a list of keys is not the fleet's.
var ErrNotTheList = errors.New("not the fleet's list of keys")

// Open reads a list after its signature: what the authority did not sign has not even been looked at.
func (s Signed) Open(authority signed.PublicKey, fleet, of string) (signed.List, error) {
	l, err := signed.Open(authority, fleet, of, s.Text, s.Signature)
	if err != nil {
		err = fmt.Errorf("%w: %w: fetch it again", ErrNotTheList, err)
	}
	return l, err
}

// List signs a list with the key of the authority, if it can be read.
func List(authority ssh.Signer, text string) (Signed, error) {
	if _, err := signed.ParseList(text); err != nil {
		return Signed{}, err
	}
	made, err := Sign(authority, signed.ForList, text)
	return Signed{text, made}, err
}
