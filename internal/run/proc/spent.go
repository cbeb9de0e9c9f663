package proc

import (
	"syscall"
	"time"
)

// Spent is the processor time that this process has had since its start, without the programs that it ran. It is zero
// where the system does not say.
func Spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
