package signed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// List is a list of the keys of people, or of hosts, in the form of ssh's allowed signers. Its first line says whose
// list it is, and its version, which grows with every change.
type List struct {
	Fleet   string
	Of      string // OfPeople or OfHosts
	Version int
	Members People
}

// What a list is of.
const (
	OfPeople = "people"
	OfHosts  = "hosts"
)

// People are those whose signatures count, each with one key; someone with two keys is in the list twice.
type People []Person

// Person is a name with a key: a person's, or a host's.
type Person struct {
	Name   string
	Key    PublicKey
	Create bool      // may create tasks, which starts programs on hosts
	From   time.Time // zero for always
	Until  time.Time // zero for always
	uses   []Use     // empty for all
}

// Holds reports whether the key counts at a time.
func (p Person) Holds(at time.Time) bool {
	return !at.Before(p.From) && (p.Until.IsZero() || at.Before(p.Until))
}

const (
	noCreate  = "create=no"
	longDate  = "20060102150405"
	shortDate = "20060102"
)

// TitleOf is the first line of a list.
func TitleOf(fleet, of string, version int) string {
	return "# orange fleet " + fleet + ": " + of + ", version " + strconv.Itoa(version)
}

// Line is the line of a member in a list.
func (p Person) Line() string {
	var options []string
	if !p.Create {
		options = append(options, noCreate)
	}
	if !p.From.IsZero() {
		options = append(options, `valid-after="`+p.From.UTC().Format(longDate)+`Z"`)
	}
	if !p.Until.IsZero() {
		options = append(options, `valid-before="`+p.Until.UTC().Format(longDate)+`Z"`)
	}
	line := p.Name + " "
	if len(options) > 0 {
		line += strings.Join(options, ",") + " "
	}
	return line + p.Key.Words()
}

// Open reads a list of a fleet, if the fleet's authority has signed it: what it did not sign has not even been looked
// at. The error is an ErrUnsigned where it is not that list.
func Open(authority PublicKey, fleet, of, text, signature string) (List, error) {
	by, err := Signer(ForList, text, signature)
	if err != nil {
		return List{}, fmt.Errorf("the list of %s was changed after the authority of the fleet signed it, or was "+
			"never signed: %w", of, err)
	}
	if by != authority {
		return List{}, task.Notef(ErrUnsigned, "the list of %s is signed by %s, expected the authority of the fleet, "+
			"%s", of, by.Fingerprint(), authority.Fingerprint())
	}
	l, err := ParseList(text)
	if err == nil && (l.Fleet != fleet || l.Of != of) {
		err = task.Notef(ErrUnsigned, "found the list of %s of the fleet %q, expected %s of %q", l.Of, l.Fleet, of,
			fleet)
	}
	return l, err
}

// ParseList reads a list with its title. It says nothing of who has signed it.
func ParseList(text string) (List, error) {
	first, rest, _ := strings.Cut(text, "\n")
	said, is := strings.CutPrefix(first, "# orange fleet ")
	fleet, said, has := strings.Cut(said, ": ")
	of, version, comma := strings.Cut(said, ", version ")
	n, err := strconv.Atoi(version)
	if !is || !has || !comma || err != nil || n < 1 || of != OfPeople && of != OfHosts {
		return List{}, task.Notef(task.ErrUsage, "cannot read a list of keys: it begins with %.80q, expected %q", first,
			TitleOf("FLEET", OfPeople+" or "+OfHosts, 1))
	}
	members, err := parseLines(rest, of, 2)
	return List{Fleet: fleet, Of: of, Version: n, Members: members}, err
}

// ParsePeople reads a list of people without a title: a name, options, and a key in each line.
func ParsePeople(text string) (People, error) { return parseLines(text, OfPeople, 1) }

func parseLines(text, of string, first int) (People, error) {
	var all People
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		p, err := parsePerson(strings.Fields(line))
		if err != nil {
			return nil, task.Notef(task.ErrUsage, "cannot read line %d of the list of %s: %v", i+first, of, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parsePerson(words []string) (Person, error) {
	const least = 3
	if len(words) < least {
		return Person{}, fmt.Errorf("expected a name and a key")
	}
	p := Person{Name: words[0], Create: true}
	if strings.ContainsAny(p.Name, `"*?!,`) {
		return p, fmt.Errorf("found the name %q: expected one name, and no pattern", p.Name)
	}
	words = words[1:]
	if words[0] != onDisk && words[0] != inHardware {
		for _, option := range options(words[0]) {
			if err := p.option(option); err != nil {
				return p, fmt.Errorf("%q: %w", p.Name, err)
			}
		}
		words = words[1:]
	}
	if len(words) < 2 {
		return p, fmt.Errorf("found no key of %q", p.Name)
	}
	var err error
	p.Key, err = ParseKey(words[0], words[1])
	return p, err
}

// options splits a list of options at its commas, but for those between quotes.
func options(list string) []string {
	quoted := false
	return strings.FieldsFunc(list, func(c rune) bool {
		if c == '"' {
			quoted = !quoted
		}
		return c == ',' && !quoted
	})
}

// option reads an option. One that is not known is an error: it may take a right away.
func (p *Person) option(option string) error {
	name, value, _ := strings.Cut(option, "=")
	value = strings.Trim(value, `"`)
	var err error
	switch {
	case option == noCreate:
		p.Create = false
	case name == "valid-after":
		p.From, err = day(value)
	case name == "valid-before":
		p.Until, err = day(value)
	case name == "namespaces":
		for _, use := range strings.Split(value, ",") {
			p.uses = append(p.uses, Use(use))
		}
	default:
		err = fmt.Errorf("found the option %q, expected %s, namespaces, valid-after or valid-before", option, noCreate)
	}
	return err
}

func day(value string) (time.Time, error) {
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

// Find is the member whose key it is, where the key holds for a use at a time. The error is an ErrUnsigned.
func (l List) Find(key PublicKey, use Use, at time.Time) (Person, error) {
	return l.Members.find(key, use, at, fmt.Sprintf("list of %s, version %d", l.Of, l.Version))
}

// find is who signed for a use with a key at a time. The error is an ErrUnsigned where no one of the list did.
func (all People) find(key PublicKey, use Use, at time.Time, list string) (Person, error) {
	for _, p := range all {
		switch {
		case p.Key != key || len(p.uses) > 0 && !slices.Contains(p.uses, use):
		case !p.Holds(at):
			return p, task.Notef(ErrUnsigned, "the key of %q does not hold at %s", p.Name, task.FormatTime(at))
		default:
			return p, nil
		}
	}
	return Person{}, task.Notef(ErrUnsigned, "the key %s is not in the %s", key.Fingerprint(), list)
}
