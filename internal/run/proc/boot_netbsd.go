package proc

import (
	"errors"
	"fmt"
	"time"
)

// SinceBoot names the present start of the machine, and is how long ago that was. This system is not asked: the error
// is always errors.ErrUnsupported.
func SinceBoot() (boot string, up time.Duration, err error) {
	return "", 0, fmt.Errorf("ask which start of the machine this is: %w", errors.ErrUnsupported)
}
