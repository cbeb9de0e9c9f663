package proc

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
)

// ownMask is the mask of this process for the modes of new files, in octal digits. A kernel before 4.7 does not say. It
// asks the kernel itself: a file of package os needs more open files than a process may have that has to say so.
func ownMask() (string, error) {
	const enough = 8 << 10
	file, err := syscall.Open("/proc/self/status", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("look for the mask of this process: %w", err)
	}
	defer func() { _ = syscall.Close(file) }() // nothing was written to it
	text := make([]byte, enough)
	n, err := syscall.Read(file, text)
	if err != nil {
		return "", fmt.Errorf("look for the mask of this process: %w", err)
	}
	for line := range bytes.Lines(text[:n]) {
		if mask, is := bytes.CutPrefix(line, []byte("Umask:")); is {
			return string(bytes.TrimSpace(mask)), nil
		}
	}
	return "", errors.ErrUnsupported
}
