package custody

import (
	"fmt"
	"slices"
	"time"

	"orange/fleet/sign"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// Trust is whose signatures count: the key of the fleet's authority, and the lists that it has signed.
type Trust struct {
	Authority string          `json:"authority"` // as in an authorized_keys file
	People    sign.SignedList `json:"people"`
	Hosts     sign.SignedList `json:"hosts"`
}

func (t Trust) open(of string, list sign.SignedList, fleet string) (signed.List, error) {
	authority, err := signed.ReadKey(t.Authority)
	if err != nil {
		return signed.List{}, fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	return list.Open(authority, fleet, of)
}

func (t Trust) people(fleet string) (signed.List, error) {
	return t.open(signed.OfPeople, t.People, fleet)
}

func (t Trust) hosts(fleet string) (signed.List, error) {
	return t.open(signed.OfHosts, t.Hosts, fleet)
}

// hasHost reports whether a host is in the list of hosts, with a key that holds.
func (t Trust) hasHost(fleet, name string, now time.Time) bool {
	hosts, err := t.hosts(fleet)
	return err == nil && slices.ContainsFunc(hosts.Members, func(m signed.Person) bool {
		return m.Name == name && m.Holds(now)
	})
}

func (t Trust) checkReport(fleet string, r wire.Report, now time.Time) error {
	hosts, err := t.hosts(fleet)
	if err != nil {
		return err
	}
	return sign.CheckReport(hosts, r, now)
}

// Lists are those of the keys of people and of hosts, as the authority signed them.
type Lists struct{ People, Hosts signed.List }

// Lists opens both lists, or refuses what the authority did not sign for this fleet.
func (t Trust) Lists(fleet string) (Lists, error) {
	people, err := t.people(fleet)
	if err != nil {
		return Lists{}, err
	}
	hosts, err := t.hosts(fleet)
	return Lists{people, hosts}, err
}

// Newer are other lists in the place of these. The authority stays the same, and an older list does not come back: it
// may have someone in it who was taken off since.
func (t Trust) Newer(next Trust, fleet string) (Trust, error) {
	next.Authority = t.Authority
	for _, of := range []string{signed.OfPeople, signed.OfHosts} {
		had, has := t.People, next.People
		if of == signed.OfHosts {
			had, has = t.Hosts, next.Hosts
		}
		before, err := t.open(of, had, fleet)
		if err != nil {
			return t, err
		}
		after, err := t.open(of, has, fleet)
		if err != nil {
			return t, err
		}
		if after.Version < before.Version || after.Version == before.Version && had.Text != has.Text {
			return t, fmt.Errorf("%w: cannot take the list of %s with the version %d: the version here is %d",
				wire.CodeStaleEpoch,
				of, after.Version, before.Version)
		}
	}
	return next, nil
}

// Trusted is the custody with newer lists.
func (s State) Trusted(t Trust) (State, error) {
	next, err := s.Trust.Newer(t, s.Fleet)
	if err != nil {
		return s, err
	}
	s.Trust = next
	return s, nil
}
