package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// FewFiles is how many files a command has open at once at least: what Go itself needs, the record with its log and
// locks, and the pipes of one program that it starts.
const FewFiles = 16

// RoomForFiles is an error where this process may not open so many more files; it says what to do. It needs nothing
// that Go needs to open a file: Go ends the program where there is no room for that.
func RoomForFiles(n int) error {
	var opened []int
	defer func() {
		for _, fd := range opened {
			_ = syscall.Close(fd) // nothing was written
		}
	}()
	for range n {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if said := FilesAdvice(err); said != "" {
			return fmt.Errorf("cannot open %d files: %w: %s", n, err, said)
		}
		if err != nil {
			return nil // whatever keeps it from being opened, it is not for want of room
		}
		opened = append(opened, fd)
	}
	return nil
}

// FilesAdvice is what to do where a process, or the whole machine, may have no more files open; empty for every other
// error.
func FilesAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		may := "more"
		var limit syscall.Rlimit
		if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
			may = fmt.Sprintf("more than %d", limit.Cur)
		}
		return fmt.Sprintf("this process may not have %s files open at once; raise that in the shell that starts it, "+
			"as with \"ulimit -n 1024\", and run the command again", may)
	case errors.Is(err, syscall.ENFILE):
		return "the programs of this machine may have no more files open at once; end some that no one needs, or " +
			"raise the limit of the machine, and run the command again"
	}
	return ""
}
