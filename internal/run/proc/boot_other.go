//go:build !linux && !netbsd

package proc

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// SinceBoot names the present start of the machine, and is how long ago that was, sleep included.
func SinceBoot() (boot string, up time.Duration, err error) {
	boot, err = unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", 0, fmt.Errorf("ask which start of the machine this is: %w", err)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil { // it goes on in sleep, as macOS has it
		return "", 0, fmt.Errorf("read how long the machine is up: %w", err)
	}
	return boot, time.Duration(now.Nano()), nil
}
