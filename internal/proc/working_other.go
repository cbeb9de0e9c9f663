//go:build !linux

package proc

import (
	"errors"

	"orange/internal/task"
)

// WorkingIn lists the processes of that short name whose working folder is dir or below it.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingIn(string, string) ([]task.Process, error) { return nil, errors.ErrUnsupported }

// WorkingOn lists the processes of that short name that have the word among their arguments.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingOn(string, string) ([]task.Process, error) { return nil, errors.ErrUnsupported }
