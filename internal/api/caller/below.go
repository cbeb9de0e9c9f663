package caller

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// MarkStarter gives this process the name of one that starts programs for the home, as its server or to perform hooks:
// a program below it that asks is no person because of that. Where the system lets it, the mark is the name of the
// process. So neither the socket, which anyone can remove, nor a path of the home, which may have several, is needed to
// find it.
func MarkStarter(home string) error {
	name, err := nameFor(home)
	if err != nil {
		return err
	}
	return proc.NameSelf(name)
}

// nameFor is the name of a process that starts programs for a home: it stands for the folder itself.
func nameFor(home string) (string, error) {
	info, err := os.Stat(home)
	if err != nil {
		return "", fmt.Errorf("look at the home: %w", err)
	}
	at, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return "", fmt.Errorf("look at the home: %q has no number", home)
	}
	const enough = 4 // a process has a name of 15 bytes
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%d", at.Dev, at.Ino))
	return "orange-" + hex.EncodeToString(sum[:enough]), nil
}

// belowServer reports whether one of these processes starts programs for the home: this one, or another. That one is
// not asked: it may be stopped, or its socket gone.
func belowServer(above []task.Process, home string) (bool, error) {
	name, err := nameFor(home)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // nor is there a server
	}
	if err != nil {
		return false, err
	}
	for _, p := range above {
		if p.PID == os.Getpid() {
			return true, nil
		}
		found, err := proc.Name(p.PID)
		if err == nil && found == name {
			return true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // else it has ended
			return false, err
		}
	}
	return false, nil
}
