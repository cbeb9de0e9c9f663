package proc

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/rules/harness"
)

// usualMask is the mask of a server: who started it has no say in the modes of what it makes for others.
const usualMask = 0o022

// SetUsualMask has this process make files as most people do, whichever mask it was started with.
func SetUsualMask() { syscall.Umask(usualMask) }

// withMask has a program start with the mask that its environment names, where this process has another one: a process
// has one mask for all of its goroutines.
func withMask(path string, args, env []string) (_ string, _, rest []string) {
	mask, rest := maskOf(env)
	if own, err := ownMask(); mask == "" || err == nil && mask == own {
		return path, args, rest
	}
	return "/bin/sh", append([]string{"-c", `umask "$0" && exec "$@"`, mask, path}, args...), rest
}

func maskText(mask int) string { return fmt.Sprintf("%04o", mask) }

// maskOf takes the mask out of an environment; empty where it has none that can be read.
func maskOf(env []string) (mask string, rest []string) {
	for _, pair := range env {
		value, is := strings.CutPrefix(pair, harness.MaskVariable+"=")
		if !is {
			rest = append(rest, pair)
			continue
		}
		if n, err := strconv.ParseUint(value, 8, 16); err == nil && n <= uint64(os.ModePerm) {
			mask = maskText(int(n))
		}
	}
	return mask, rest
}

// Masked is a mode for a new file without what the mask of the one who asks takes away.
func Masked(ctx context.Context, mode os.FileMode) os.FileMode {
	mask, _ := maskOf(Environment(ctx))
	taken, _ := strconv.ParseUint(mask, 8, 16) // without one nothing is taken away
	return mode &^ os.FileMode(taken)
}
