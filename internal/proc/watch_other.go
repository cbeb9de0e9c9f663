//go:build !linux

package proc

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/task"
)

// Watch waits until this very process has ended. This system cannot tell: the error is always errors.ErrUnsupported.
func Watch(_ context.Context, p task.Process) error {
	return fmt.Errorf("watch process %d: %w", p.PID, errors.ErrUnsupported)
}
