//go:build !linux

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"orange/internal/rules/task"
)

type details struct {
	parent  int
	group   int
	started string
	zombie  bool
	stopped bool
}

// ps asks for one line about one process. One that is not there is os.ErrNotExist.
func ps(pid int, format ...string) (string, error) {
	out, err := psCommand(append(format, "-p", strconv.Itoa(pid))...).Output()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && len(out) == 0 {
		return "", fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("ask ps for process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// inspect asks ps for one process. One that is not there is os.ErrNotExist.
func inspect(pid int) (details, error) {
	line, err := ps(pid, "-o", "ppid=,pgid=,stat=,lstart=")
	if err != nil {
		return details{}, err
	}
	fields := strings.Fields(line)
	const before = 3 // parent, group, state; the rest is the start
	if len(fields) <= before {
		return details{}, fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	parent, err := strconv.Atoi(fields[0])
	if err != nil {
		return details{}, fmt.Errorf("read process %d: parent: %w", pid, err)
	}
	group, err := strconv.Atoi(fields[1])
	if err != nil {
		return details{}, fmt.Errorf("read process %d: group: %w", pid, err)
	}
	return details{
		parent: parent, group: group,
		zombie: strings.HasPrefix(fields[2], "Z"), stopped: strings.HasPrefix(fields[2], "T"),
		started: strings.Join(fields[before:], " "),
	}, nil
}

// Name asks ps for the name of the program, which some systems give with its folder.
func Name(pid int) (string, error) {
	name, err := ps(pid, "-o", "comm=")
	return name[strings.LastIndexByte(name, '/')+1:], err
}

// NameSelf does nothing: this system has no way for it.
func NameSelf(string) error { return nil }

// Arguments asks ps what a process was started with. One that holds a blank comes as several.
func Arguments(pid int) ([]string, error) {
	line, err := ps(pid, "-ww", "-o", "command=")
	return strings.Fields(line), err
}

// onlyZombies reports whether all that is left of a group has ended and waits to be reaped.
func onlyZombies(leader int) bool {
	out, err := psCommand("-A", "-o", "pgid=,stat=").Output()
	if err != nil {
		return false
	}
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == strconv.Itoa(leader) && !strings.HasPrefix(fields[1], "Z") {
			return false
		}
	}
	return true
}

// WithEnvironment lists the processes that were started with every one of the given KEY=value pairs,
// this one apart. It finds what an agent left behind in a process session of its own.
func WithEnvironment(pairs ...string) ([]task.Process, error) {
	out, err := psCommand("-A", "-E", "-ww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("ask ps for processes: %w", err)
	}
	var found []task.Process
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || !containsAll(line, pairs) {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, err := Lookup(pid); err == nil {
			found = append(found, p)
		}
	}
	return found, nil
}

func containsAll(line string, pairs []string) bool {
	for _, pair := range pairs {
		if !strings.Contains(line, " "+pair+" ") && !strings.HasSuffix(line, " "+pair) {
			return false
		}
	}
	return true
}

// WorkingIn lists the processes of that short name whose working folder is dir or below it.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingIn(string, string) ([]task.Process, error) { return nil, errors.ErrUnsupported }

// WorkingOn lists the processes of that short name that have the word among their arguments.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingOn(string, string) ([]task.Process, error) { return nil, errors.ErrUnsupported }

// Watch waits until this very process has ended. This system cannot tell: the error is always errors.ErrUnsupported.
func Watch(_ context.Context, p task.Process) error {
	return fmt.Errorf("watch process %d: %w", p.PID, errors.ErrUnsupported)
}

// preferAtOutOfMemory is nothing that this system knows.
func preferAtOutOfMemory(int) {}

// stuckOn is empty: this system does not tell what a process waits for.
func stuckOn(int, string, func(string) bool) stuck { return stuck{} }

// inSession lists no one: this system reports who is in a group, but not who is in a session.
func inSession(int) []task.Process { return nil }

// memoryOf is what the processes of a group use together, as ps tells: what they share is counted once for each
// of them.
func memoryOf(group int, _ int64) (int64, error) {
	out, err := psCommand("-A", "-o", "pgid=,rss=").Output()
	if err != nil {
		return 0, fmt.Errorf("ask ps for the memory of group %d: %w", group, err)
	}
	var total int64
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != strconv.Itoa(group) {
			continue
		}
		kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of group %d: %w", group, err)
		}
		total += kilobytes << 10
	}
	return total, nil
}
