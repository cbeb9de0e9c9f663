package remote

import (
	"slices"
	"strings"

	"orange/internal/api"
)

// Joined is what a host is in a fleet with a server; the zero value where it is in none.
type Joined struct {
	Fleet  string
	Host   string // empty for the machine of a person alone
	Signed bool   // requests for tasks that it holds have to be signed
}

// NeedsSignature reports whether a call is a request that a person has to sign, if its task is held for a fleet.
func (c Call) NeedsSignature() bool {
	return len(c.Argv) > 1 && RepeatOf(c.Argv[1]) != api.Reads
}

// Arguments are what is behind the flags of a call.
func (c Call) Arguments() []string {
	at := slices.Index(c.Argv, "--")
	if at < 0 {
		return nil
	}
	return c.Argv[at+1:]
}

// Flag is the value of a flag of a call; empty where it has none.
func (c Call) Flag(name string) string {
	for _, word := range c.Argv {
		if word == "--" {
			break
		}
		if value, is := strings.CutPrefix(word, "--"+name+"="); is {
			return value
		}
	}
	return ""
}
