// Package registry has the rules of who belongs to a fleet: what an invitation may be used for, and what the next
// lists of keys are.
//
// It owns the texts of invitations and of joins that are signed, and the state that the fleet's registry and its
// authority keep each for themselves. It reads no file and no clock; package flow has the server keep the state, and
// package authority the machine that has the authority's key. Who signs for whom is of package sign.
package registry

import (
	"strings"

	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/sign"
)

// State is what a fleet knows of its members. Only the functions of this package make another one of it.
type State struct {
	Fleet string        `json:"fleet"`
	Trust custody.Trust `json:"trust"`
}

// Kind is the name and the version of the state, which goes from one run of its workflow to the next.
func (State) Kind() (string, int) { return "registry-state", 1 }

// Check accepts every state: the messages that it was made from were checked.
func (State) Check() error { return nil }

// New is the registry of a fleet. Both lists have to be signed by the authority.
func New(fleet string, trust custody.Trust) (State, error) {
	_, err := trust.Lists(fleet)
	return State{Fleet: fleet, Trust: trust}, err
}

// Read is a state that was kept, if its lists are signed by an authority.
func Read(s State, authority string) (State, error) {
	s.Trust.Authority = authority
	_, err := s.Trust.Lists(s.Fleet)
	return s, err
}

// Empty are the lists of a fleet without a member.
func Empty(fleet string, authority ssh.Signer) (custody.Trust, error) {
	people, err := sign.List(authority, sign.Title(fleet, sign.People, 1)+"\n")
	if err != nil {
		return custody.Trust{}, err
	}
	hosts, err := sign.List(authority, sign.Title(fleet, sign.Hosts, 1)+"\n")
	return custody.Trust{Authority: Line(authority.PublicKey()), People: people, Hosts: hosts}, err
}

// Trusted is the registry with newer lists.
func (s State) Trusted(t custody.Trust) (State, error) {
	next, err := s.Trust.Newer(t, s.Fleet)
	s.Trust = next
	return s, err
}

// Line is a public key as in an authorized_keys file.
func Line(key ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) }
