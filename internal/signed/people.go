package signed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/task"
)

// People are those whose requests count, each with one key; someone with two keys is in the list twice.
type People []Person

// Person is a name with a key.
type Person struct {
	Name  string
	Key   PublicKey
	From  time.Time // zero for always
	Until time.Time // zero for always
	other bool      // the key does not count for requests
}

// OpenPeople reads the list of people of a fleet, if the fleet's authority has signed it.
func OpenPeople(authority, fleet, text, signature string) (People, error) {
	words := strings.Fields(authority)
	if len(words) < 2 {
		return nil, task.Notef(ErrUnsigned, "found no key of the fleet's authority")
	}
	key, err := ParseKey(words[0], words[1])
	if err != nil {
		return nil, fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	by, err := Signer(forList, text, signature)
	if err != nil {
		return nil, fmt.Errorf("read the list of people: %w", err)
	}
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case by != key:
		return nil, task.Notef(ErrUnsigned, "the list of people is signed by %s, expected the authority of the fleet, "+
			"%s", by.Fingerprint(), key.Fingerprint())
	case !strings.HasPrefix(first, "# orange fleet "+fleet+": people, version "):
		return nil, task.Notef(ErrUnsigned, "found the list %.80q, expected the people of the fleet %q", first, fleet)
	}
	return ParsePeople(text)
}

// ParsePeople reads a list of people, in the form of ssh's allowed signers: a name, options, and a key in each line.
func ParsePeople(text string) (People, error) {
	var all People
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		p, err := parsePerson(strings.Fields(line))
		if err != nil {
			return nil, task.Notef(task.ErrUsage, "cannot read line %d of the list of people: %v", i+1, err)
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
	p := Person{Name: words[0]}
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
	case option == "create=no":
	case name == "valid-after":
		p.From, err = day(value)
	case name == "valid-before":
		p.Until, err = day(value)
	case name == "namespaces":
		p.other = !slices.Contains(strings.Split(value, ","), ForRequest)
	default:
		err = fmt.Errorf("found the option %s, expected create=no, namespaces, valid-after or valid-before",
			strconv.Quote(option))
	}
	return err
}

func day(value string) (time.Time, error) {
	text, utc := strings.CutSuffix(value, "Z")
	form := "20060102150405"
	if len(text) == len("20060102") {
		form = "20060102"
	}
	t, err := time.Parse(form, text)
	if err != nil || !utc {
		return t, fmt.Errorf("found the time %q, expected YYYYMMDDZ or YYYYMMDDHHMMSSZ", value)
	}
	return t, nil
}

// find is who signed a request with a key at a time. The error is an ErrUnsigned where no one did.
func (all People) find(key PublicKey, at time.Time) (Person, error) {
	for _, p := range all {
		switch {
		case p.Key != key || p.other:
		case at.Before(p.From) || !p.Until.IsZero() && !at.Before(p.Until):
			return p, task.Notef(ErrUnsigned, "the key of %q does not hold at %s", p.Name, task.FormatTime(at))
		default:
			return p, nil
		}
	}
	return Person{}, task.Notef(ErrUnsigned, "the key %s is not in the list of people", key.Fingerprint())
}
