package task

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrNotFound says that nothing of that name is on record.
	ErrNotFound = errors.New("not found")
	// ErrConflict says that the task changed between the decision and its commit; decide again.
	ErrConflict = errors.New("changed meanwhile")
	// ErrNobody says that the agent whose death was reported has no seat any more: someone has dealt with its death
	// before.
	ErrNobody = errors.New("the agent has no seat")
	// ErrPoolFull says that the project has no free workspace.
	ErrPoolFull = errors.New("no workspace is free")
	// ErrBranchTaken says that another live task of the project has the branch.
	ErrBranchTaken = errors.New("branch already has a live task")
	// ErrUsage says that the call itself was wrong: a flag, an argument, a file that the caller named.
	ErrUsage = errors.New("usage")
)

// Notef makes an error that says what cannot be done and wraps one of the sentinels above,
// whose own text stays out of the message.
func Notef(kind error, format string, args ...any) error {
	return &noted{kind: kind, text: fmt.Sprintf(format, args...)}
}

type noted struct {
	kind error
	text string
}

func (n *noted) Error() string { return n.text }
func (n *noted) Unwrap() error { return n.kind }
