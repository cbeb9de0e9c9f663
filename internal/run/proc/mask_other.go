//go:build !linux

package proc

import "errors"

// ownMask is an error: a process of this system can tell its mask only by setting another one, which is that of all its
// goroutines.
func ownMask() (string, error) { return "", errors.ErrUnsupported }
