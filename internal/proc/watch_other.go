//go:build !linux

package proc

import (
	"context"
	"errors"
	"fmt"
)

// Watch waits until this very process has ended. This system cannot tell: the error is always errors.ErrUnsupported.
func Watch(_ context.Context, p Process) error {
	return fmt.Errorf("watch process %d: %w", p.PID, errors.ErrUnsupported)
}
