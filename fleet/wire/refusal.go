package wire

import (
	"errors"
	"fmt"
)

// Code says why something was not done, in a word that programs tell apart. It is an error too, with a sentence.
type Code string

// The codes of refusals.
const (
	CodeUnsigned     Code = "unsigned"      // no signature, or one of another text
	CodeStranger     Code = "stranger"      // a key that is not in the list, or of another member
	CodeElsewhere    Code = "elsewhere"     // meant for another fleet, host or task
	CodeStaleEpoch   Code = "stale_epoch"   // meant for another custody of the task
	CodeExpired      Code = "expired"       // too old, or made to hold for too long
	CodeKeyReused    Code = "key_reused"    // the key stands for another request
	CodeCreateDenied Code = "create_denied" // the person may not create tasks
	CodeNotHeld      Code = "not_held"      // no host has the task
	CodeLost         Code = "lost"          // it was done, and is in no history that is left
	CodeOver         Code = "over"          // the task is over
	CodeNotKnown     Code = "not_known"     // it may have been done: ask again under the same key
	CodeNotReached   Code = "not_reached"   // it was not done
	CodeKept         Code = "kept"          // the host is not lost, and keeps the task
	CodeNotFound     Code = "not_found"     // the fleet has no such task
	CodeRefused      Code = "refused"       // every other reason
)

func (c Code) Error() string {
	switch c {
	case CodeNotHeld:
		return "no host has the task"
	case CodeLost:
		return "what the request did is lost"
	case CodeKeyReused:
		return "the key stands for another request"
	case CodeStaleEpoch:
		return "the custody has changed"
	case CodeOver:
		return "the task is over"
	case CodeNotKnown:
		return "it is not known whether the request was done"
	}
	return string(c)
}

func (c Code) why() Code { return c }

// Refusal is the answer no of any program of the fleet.
type Refusal struct {
	Code    Code
	Message string
}

func (r *Refusal) Error() string { return r.Message }

func (r *Refusal) why() Code { return r.Code }

// Refuse is the answer no with a code.
func Refuse(code Code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// CodeOf is the code of an error, by what comes first in it; empty for an error without one.
func CodeOf(err error) Code {
	var first interface{ why() Code }
	if errors.As(err, &first) {
		return first.why()
	}
	return ""
}
