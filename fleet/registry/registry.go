// Package registry has the rules of who belongs to a fleet: what an invitation may be used for, and what the next
// lists of keys are.
//
// It owns the texts of invitations and of joins that are signed, and the state that the fleet's registry and its
// authority keep each for themselves. It reads no file and no clock; package flow has the server keep the state, and
// package authority the machine that has the authority's key. The form of lists and signatures is of package sign.
package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// State is what a fleet knows of its members. Only the functions of this package make another one of it.
type State struct {
	Fleet       string        `json:"fleet"`
	Trust       custody.Trust `json:"trust"`
	Invitations []Invitation  `json:"invitations,omitempty"`
	Projects    []Projects    `json:"projects,omitempty"` // of hosts, as they were when these joined
}

// Projects are those of a host, as they are compared between hosts.
type Projects struct {
	Host string               `json:"host"`
	Have []remote.HostProject `json:"have,omitempty"`
}

// Invitation is an invitation with what became of it.
type Invitation struct {
	Invite
	Used        string `json:"used,omitempty"` // the digest of the join that it was used for
	Certificate string `json:"certificate,omitempty"`
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
	people, err := sign.List(authority, signed.TitleOf(fleet, signed.OfPeople, 1)+"\n")
	if err != nil {
		return custody.Trust{}, err
	}
	hosts, err := sign.List(authority, signed.TitleOf(fleet, signed.OfHosts, 1)+"\n")
	return custody.Trust{Authority: sign.KeyOf(authority.PublicKey()).Words(), People: people, Hosts: hosts}, err
}

// Trusted is the registry with newer lists.
func (s State) Trusted(t custody.Trust) (State, error) {
	next, err := s.Trust.Newer(t, s.Fleet)
	s.Trust = next
	return s, err
}

// Invited is the registry with an invitation that the authority signed. One for the same name before it is void. A
// repeat changes nothing.
func (s State) Invited(o Order, now time.Time) (State, error) {
	i, err := s.invite(o)
	if err != nil {
		return s, err
	}
	left := time.Unix(i.Expires, 0).Sub(now)
	if left <= 0 || left > InviteFor+mostSkew {
		return s, task.Notef(ErrExpired, "cannot invite %q: the invitation holds for %s, expected more than nothing "+
			"and at most %s: invite again, and compare the clocks of this machine and of the fleet", i.Name,
			left.Round(time.Second), InviteFor)
	}
	if s.find(i.Key) >= 0 {
		return s, nil
	}
	if err := s.free(i.Of, i.Name); err != nil {
		return s, err
	}
	s.Invitations = slices.DeleteFunc(slices.Clone(s.Invitations), func(had Invitation) bool {
		void := had.Name == i.Name && had.Used == ""
		return void || now.Sub(time.Unix(had.Expires, 0)) > keptFor
	})
	if len(s.Invitations) >= mostInvitations {
		return s, task.Notef(ErrRefused, "cannot invite %q: %d invitations were made within a day: wait, or look who "+
			"makes them", i.Name, mostInvitations)
	}
	s.Invitations = append(s.Invitations, Invitation{Invite: i})
	return s, nil
}

// free refuses a name that the other list has: the name tells a person from a host.
func (s State) free(of, name string) error {
	lists, err := s.Trust.Lists(s.Fleet)
	if err != nil {
		return err
	}
	other, is := lists.Hosts, "host"
	if of == signed.OfHosts {
		other, is = lists.People, "person"
	}
	if slices.ContainsFunc(other.Members, func(m signed.Person) bool { return m.Name == name }) {
		return task.Notef(ErrTaken, "cannot invite %q: a %s of the fleet has this name: use another one", name, is)
	}
	return nil
}

func (s State) find(key string) int {
	return slices.IndexFunc(s.Invitations, func(i Invitation) bool { return i.Key == key })
}

// Judge refuses a join that no open invitation allows.
func (s State) Judge(o Order, now time.Time) (Join, error) {
	j, once, err := openJoin(o)
	if err != nil {
		return j, err
	}
	at := s.find(once)
	switch {
	case j.Fleet != s.Fleet:
		return j, task.Notef(ErrForged, "cannot join: the invitation is one to the fleet %q, and this is %q", j.Fleet,
			s.Fleet)
	case at < 0:
		return j, task.Notef(ErrUnknown, "cannot join: the fleet %q knows no such invitation: a later one for the "+
			"same name makes it void, and so does the end of a day: ask for a new one", s.Fleet)
	}
	i := s.Invitations[at]
	switch {
	case i.Used != "":
		return j, task.Notef(ErrUsed, "cannot join as %q: the invitation was used already, and it is good for one "+
			"join: ask for a new one; if it was not you who used it, have %q removed", i.Name, i.Name)
	case now.Unix() >= i.Expires:
		return j, task.Notef(ErrExpired, "cannot join as %q: the invitation expired at %s: ask for a new one", i.Name,
			time.Unix(i.Expires, 0).UTC().Format(time.RFC3339))
	case j.Of != i.Of || j.Name != i.Name:
		return j, task.Notef(ErrForged, "cannot join as %q of the %s: the invitation is for %q of the %s", j.Name, j.Of,
			i.Name, i.Of)
	}
	if err := s.usable(j); err != nil {
		return j, err
	}
	if wrong, _ := s.compare(j); len(wrong) > 0 {
		return j, task.Notef(ErrRefused, "cannot join as %q: %s", j.Name, strings.Join(wrong, "; "))
	}
	return j, nil
}

// compare says why the projects of a host are not those of the other hosts under the same names, and what a person
// should know of them all the same.
func (s State) compare(j Join) (wrong, notes []string) {
	if j.Of != signed.OfHosts {
		return nil, nil
	}
	for _, other := range s.Projects {
		if other.Host == j.Name {
			continue
		}
		bad, good := remote.Compare(j.Projects, other.Have)
		for _, one := range bad {
			wrong = append(wrong, "the host "+other.Host+": "+one)
		}
		for _, one := range good {
			notes = append(notes, "the host "+other.Host+": "+one)
		}
	}
	return wrong, notes
}

// usable refuses a key that cannot sign for the fleet, or that another member has.
func (s State) usable(j Join) error {
	key, err := readKey(j.Key)
	if err != nil {
		return task.Notef(ErrForged, "cannot join as %q: its key cannot be read: %v", j.Name, err)
	}
	kinds := []string{ssh.KeyAlgoED25519}
	if j.Of == signed.OfPeople {
		kinds = append(kinds, ssh.KeyAlgoSKED25519) // a host signs without a finger at a key
	}
	if !slices.Contains(kinds, key.Type()) {
		return task.Notef(ErrRefused, "cannot join as %q with a key of the type %q: expected %s", j.Name, key.Type(),
			strings.Join(kinds, " or "))
	}
	lists, err := s.Trust.Lists(s.Fleet)
	if err != nil {
		return err
	}
	for _, list := range []signed.List{lists.People, lists.Hosts} {
		for _, m := range list.Members {
			if m.Key.Words() == j.Key && (list.Of != j.Of || m.Name != j.Name) {
				return task.Notef(ErrTaken, "cannot join as %q with the key %s: it is that of %q of the %s: every "+
					"member has a key of its own", j.Name, ssh.FingerprintSHA256(key), m.Name, list.Of)
			}
		}
	}
	return s.free(j.Of, j.Name)
}

// Admission is the answer to a join: the lists with the new member, and its certificate for the server; empty where the
// connection is not encrypted.
type Admission struct {
	Trust       custody.Trust `json:"trust"`
	Certificate string        `json:"certificate,omitempty"`
	Notes       []string      `json:"notes,omitempty"` // what the person at the host should know
}

// Answered is the answer to a join that was admitted before. A repeat gets it again: the first one may have been lost
// on its way.
func (s State) Answered(o Order) (Admission, bool) {
	at := slices.IndexFunc(s.Invitations, func(i Invitation) bool { return i.Used == o.digest() })
	if at < 0 {
		return Admission{}, false
	}
	return Admission{Trust: s.Trust, Certificate: s.Invitations[at].Certificate}, true
}

// Admit is the registry with a new member, by the key of the authority. A host has one key, the last one; a person may
// have several.
func (s State) Admit(o Order, now time.Time, authority ssh.Signer, certificate string) (State, Admission, error) {
	j, err := s.Judge(o, now)
	if err != nil {
		return s, Admission{}, err
	}
	key, err := readKey(j.Key)
	if err != nil {
		return s, Admission{}, err
	}
	at := s.find(signerOf(o))
	line := signed.Person{Name: j.Name, Key: sign.KeyOf(key), Create: s.Invitations[at].Create}.Line()
	next, err := s.with(j.Of, authority, func(lines []string) []string {
		if slices.Contains(lines, line) && j.Of == signed.OfPeople {
			return lines // the same key again, for a new certificate
		}
		return append(slices.DeleteFunc(lines, func(had string) bool {
			return nameOf(had) == j.Name && (j.Of == signed.OfHosts || strings.HasSuffix(had, " "+j.Key))
		}), line)
	})
	if err != nil {
		return s, Admission{}, err
	}
	admitted := Admission{Trust: next, Certificate: certificate}
	_, admitted.Notes = s.compare(j)
	s, err = s.Joined(o, admitted)
	return s, admitted, err
}

// Joined is the registry after the authority admitted a member: the invitation is used up.
func (s State) Joined(o Order, a Admission) (State, error) {
	s, err := s.Trusted(a.Trust)
	if err != nil {
		return s, err
	}
	j, once, err := openJoin(o)
	if err != nil {
		return s, err
	}
	if at := s.find(once); at >= 0 {
		s.Invitations = slices.Clone(s.Invitations)
		s.Invitations[at].Used, s.Invitations[at].Certificate = o.digest(), a.Certificate
	}
	if j.Of == signed.OfHosts {
		s = s.withoutProjects(j.Name)
		s.Projects = append(s.Projects, Projects{j.Name, j.Projects})
	}
	return s, nil
}

func (s State) withoutProjects(host string) State {
	s.Projects = slices.DeleteFunc(slices.Clone(s.Projects), func(p Projects) bool { return p.Host == host })
	return s
}

// Removed is the registry without a member, by the key of the authority, and without its open invitations.
func (s State) Removed(name string, authority ssh.Signer) (State, error) {
	return s.withoutMember(name, authority, func(lines []string) []string {
		return slices.DeleteFunc(lines, func(had string) bool { return nameOf(had) == name })
	})
}

// Retired is the registry with a member whose keys end now, by the key of the authority. What they signed before still
// counts where it has to: tasks that a person created can go to another host, and the snapshots of a host can be used.
func (s State) Retired(name string, authority ssh.Signer, now time.Time) (State, error) {
	lists, err := s.Trust.Lists(s.Fleet)
	if err != nil {
		return s, err
	}
	ends := map[string]string{}
	for _, m := range slices.Concat(lists.People.Members, lists.Hosts.Members) {
		if m.Name == name && (m.Until.IsZero() || now.Before(m.Until)) {
			m.Until = now
			ends[m.Key.Words()] = m.Line()
		}
	}
	return s.withoutMember(name, authority, func(lines []string) []string {
		for i, line := range lines {
			for key, ended := range ends { // one of them at most
				if nameOf(line) == name && strings.HasSuffix(line, " "+key) {
					lines[i] = ended
				}
			}
		}
		return lines
	})
}

// withoutMember changes both lists, and takes away what else there is of a member.
func (s State) withoutMember(name string, authority ssh.Signer, change func([]string) []string) (State, error) {
	before := s
	s = s.withoutProjects(name)
	s.Invitations = slices.DeleteFunc(slices.Clone(s.Invitations), func(i Invitation) bool { return i.Name == name })
	for _, of := range []string{signed.OfPeople, signed.OfHosts} {
		next, err := s.with(of, authority, change)
		if err != nil {
			return before, err
		}
		s.Trust = next
	}
	if s.Trust == before.Trust && len(s.Invitations) == len(before.Invitations) {
		return before, task.Notef(task.ErrNotFound, "cannot remove %q: the fleet %q has no person, no host and no "+
			"invitation of this name; \"orange-fleet members\" lists them", name, s.Fleet)
	}
	return s, nil
}

// with are the lists with one of them changed, under its next version. A list that stays as it is keeps its version.
func (s State) with(of string, authority ssh.Signer, change func(lines []string) []string) (custody.Trust, error) {
	t := s.Trust
	list, had := &t.People, 0
	lists, err := t.Lists(s.Fleet)
	if err != nil {
		return t, err
	}
	had = lists.People.Version
	if of == signed.OfHosts {
		list, had = &t.Hosts, lists.Hosts.Version
	}
	_, body, _ := strings.Cut(list.Text, "\n")
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	next := change(slices.Clone(lines))
	if slices.Equal(next, lines) {
		return s.Trust, nil
	}
	text := strings.Join(append([]string{signed.TitleOf(s.Fleet, of, had+1)}, next...), "\n") + "\n"
	if *list, err = sign.List(authority, text); err != nil {
		return s.Trust, fmt.Errorf("sign the list of %s: %w", of, err)
	}
	return t, nil
}

func nameOf(line string) string {
	name, _, _ := strings.Cut(line, " ")
	return name
}
