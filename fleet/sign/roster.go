package sign

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signed is a list of keys as it is handed on: its text, and the signature of the fleet's authority.
type Signed struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Roster is a list of the keys of people, or of hosts, in the form of ssh's allowed signers. Its first line says whose
// list it is, and its version, which grows with every change.
type Roster struct {
	Fleet   string
	Of      string // People or Hosts
	Version int
	Members []Member
}

// What a roster is a list of.
const (
	People = "people"
	Hosts  = "hosts"
)

// Member is a person or a host with one key. One with two keys is in the list twice.
type Member struct {
	Name   string
	Key    ssh.PublicKey
	Create bool      // may create tasks, which starts programs on hosts
	From   time.Time // zero for always
	Until  time.Time // zero for always
	uses   []Use     // empty for all
}

// ErrRoster says that a list of keys is not the fleet's.
var ErrRoster = errors.New("not the fleet's list of keys")

// Open reads a list after its signature: what the authority did not sign has not even been looked at.
func (s Signed) Open(authority ssh.PublicKey, fleet, of string) (Roster, error) {
	key, err := Signer(ForRoster, []byte(s.Text), s.Signature)
	if err != nil {
		return Roster{}, fmt.Errorf("%w: the list of %s was changed after the authority of the fleet signed it, or "+
			"was never signed: fetch it again: %w", ErrRoster, of, err)
	}
	if !same(key, authority) {
		return Roster{}, fmt.Errorf("%w: the list of %s is signed by %s, expected the authority of the fleet, %s",
			ErrRoster, of, ssh.FingerprintSHA256(key), ssh.FingerprintSHA256(authority))
	}
	r, err := parse(s.Text)
	if err != nil {
		return Roster{}, fmt.Errorf("%w: %w", ErrRoster, err)
	}
	if r.Fleet != fleet || r.Of != of {
		return Roster{}, fmt.Errorf("%w: it is the list of %s of the fleet %q, expected %s of %q", ErrRoster, r.Of,
			r.Fleet, of, fleet)
	}
	return r, nil
}

// List signs a list with the key of the authority, if it can be read.
func List(authority ssh.Signer, text string) (Signed, error) {
	if _, err := parse(text); err != nil {
		return Signed{}, err
	}
	made, err := Sign(authority, ForRoster, []byte(text))
	return Signed{text, made}, err
}

// Title is the first line of a list.
func Title(fleet, of string, version int) string {
	return "# orange fleet " + fleet + ": " + of + ", version " + strconv.Itoa(version)
}

// Line is the line of a member in a list.
func Line(m Member) string {
	var options []string
	if !m.Create {
		options = append(options, noCreate)
	}
	if !m.From.IsZero() {
		options = append(options, `valid-after="`+m.From.UTC().Format(longDate)+`Z"`)
	}
	if !m.Until.IsZero() {
		options = append(options, `valid-before="`+m.Until.UTC().Format(longDate)+`Z"`)
	}
	line := m.Name + " "
	if len(options) > 0 {
		line += strings.Join(options, ",") + " "
	}
	return line + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(m.Key)))
}

const (
	noCreate  = "create=no"
	longDate  = "20060102150405"
	shortDate = "20060102"
)

func parse(text string) (Roster, error) {
	first, rest, _ := strings.Cut(text, "\n")
	r, err := parseTitle(first)
	if err != nil {
		return Roster{}, err
	}
	for i, line := range strings.Split(rest, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		m, err := parseMember(line)
		if err != nil {
			return Roster{}, fmt.Errorf("line %d of the list of %s: %w", i+2, r.Of, err)
		}
		r.Members = append(r.Members, m)
	}
	return r, nil
}

func parseTitle(line string) (Roster, error) {
	var r Roster
	said, is := strings.CutPrefix(line, "# orange fleet ")
	fleet, said, has := strings.Cut(said, ": ")
	of, version, comma := strings.Cut(said, ", version ")
	n, err := strconv.Atoi(version)
	if !is || !has || !comma || err != nil || n < 1 || of != People && of != Hosts {
		return r, fmt.Errorf("the list begins with %.80q, expected %q", line, Title("FLEET", People+" or "+Hosts, 1))
	}
	return Roster{Fleet: fleet, Of: of, Version: n}, nil
}

func parseMember(line string) (Member, error) {
	name, rest, _ := strings.Cut(line, " ")
	if strings.ContainsAny(name, `"*?!,`) {
		return Member{}, fmt.Errorf("found the name %q: expected one name, and no pattern", name)
	}
	key, _, options, after, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return Member{}, fmt.Errorf("found no key of %q: %w", name, err)
	}
	if len(after) > 0 {
		return Member{}, fmt.Errorf("found more than one key of %q in a line", name)
	}
	m := Member{Name: name, Key: key, Create: true}
	for _, option := range options {
		if err := m.option(option); err != nil {
			return Member{}, fmt.Errorf("%q: %w", name, err)
		}
	}
	return m, nil
}

// option reads one option of a member. One that is not known refuses the whole list: it may take a right away.
func (m *Member) option(option string) error {
	name, value, _ := strings.Cut(option, "=")
	value = strings.Trim(value, `"`)
	var err error
	switch {
	case option == noCreate:
		m.Create = false
	case name == "valid-after":
		m.From, err = date(value)
	case name == "valid-before":
		m.Until, err = date(value)
	case name == "namespaces":
		for _, use := range strings.Split(value, ",") {
			m.uses = append(m.uses, Use(use))
		}
	default:
		err = fmt.Errorf("found the option %q, expected %s, namespaces, valid-after or valid-before", option, noCreate)
	}
	return err
}

func date(value string) (time.Time, error) {
	text, utc := strings.CutSuffix(value, "Z")
	form := longDate
	if len(text) == len(shortDate) {
		form = shortDate
	}
	t, err := time.Parse(form, text)
	if err != nil || !utc {
		return t, fmt.Errorf("found the time %q, expected YYYYMMDDZ or YYYYMMDDHHMMSSZ", value)
	}
	return t, nil
}

// find is the member whose key it is, where the key holds at a time and for a use.
func (r Roster) find(key ssh.PublicKey, use Use, now time.Time) (Member, error) {
	for _, m := range r.Members {
		if !same(m.Key, key) || len(m.uses) > 0 && !slices.Contains(m.uses, use) {
			continue
		}
		if now.Before(m.From) || !m.Until.IsZero() && !now.Before(m.Until) {
			return m, fmt.Errorf("the key of %q holds from %s until %s", m.Name, m.From.Format(time.RFC3339),
				m.Until.Format(time.RFC3339))
		}
		return m, nil
	}
	return Member{}, fmt.Errorf("the key %s is not in the list of %s, version %d", ssh.FingerprintSHA256(key), r.Of,
		r.Version)
}

func same(a, b ssh.PublicKey) bool { return string(a.Marshal()) == string(b.Marshal()) }
