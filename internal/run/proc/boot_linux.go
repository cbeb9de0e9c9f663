package proc

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SinceBoot names the present start of the machine, and is how long ago that was, sleep included.
func SinceBoot() (boot string, up time.Duration, err error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0, fmt.Errorf("read which start of the machine this is: %w", err)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return "", 0, fmt.Errorf("read how long the machine is up: %w", err)
	}
	return strings.TrimSpace(string(text)), time.Duration(now.Nano()), nil
}
