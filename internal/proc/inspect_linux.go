package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/task"
)

type details struct {
	parent  int
	group   int
	session int
	started string
	zombie  bool
	stopped bool
}

// The fields of /proc/PID/stat after the program's name, counted from the state.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldGroup   = 2
	fieldSession = 3
	fieldStarted = 19
)

// inspect reads one process. One that is not there is os.ErrNotExist.
func inspect(pid int) (details, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, syscall.ESRCH) {
		return details{}, fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	if err != nil {
		return details{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	// The name is in brackets and may hold anything, brackets too: the fields begin after the last one.
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return details{}, fmt.Errorf("read process %d: no name in its stat file", pid)
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) <= fieldStarted {
		return details{}, fmt.Errorf("read process %d: %d fields in its stat file", pid, len(fields))
	}
	parent, err := strconv.Atoi(string(fields[fieldParent]))
	if err != nil {
		return details{}, fmt.Errorf("read process %d: parent: %w", pid, err)
	}
	group, err := strconv.Atoi(string(fields[fieldGroup]))
	if err != nil {
		return details{}, fmt.Errorf("read process %d: group: %w", pid, err)
	}
	session, err := strconv.Atoi(string(fields[fieldSession]))
	if err != nil {
		return details{}, fmt.Errorf("read process %d: session: %w", pid, err)
	}
	return details{
		parent: parent, group: group, session: session,
		started: string(fields[fieldStarted]), zombie: fields[fieldState][0] == 'Z',
		stopped: fields[fieldState][0] == 'T' || fields[fieldState][0] == 't', // by a signal, or by a debugger
	}, nil
}

// shortName is what the kernel calls the process: the name of its program, cut after 15 bytes, or what it calls itself.
func shortName(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if errors.Is(err, syscall.ESRCH) {
		return "", fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("read name of process %d: %w", pid, err)
	}
	return string(bytes.TrimSuffix(text, []byte("\n"))), nil
}

// Arguments are what a process was started with, its own name first; one that calls itself something else may
// have that in their place.
func Arguments(pid int) ([]string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if errors.Is(err, syscall.ESRCH) {
		return nil, fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read arguments of process %d: %w", pid, err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var out []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// onlyZombies reports whether all that is left of a group has ended and waits to be reaped.
func onlyZombies(leader int) bool {
	for _, pid := range pids() {
		info, err := inspect(pid)
		if err == nil && info.group == leader && !info.zombie {
			return false
		}
	}
	return true
}

// WithEnvironment lists the processes that were started with every one of the given KEY=value pairs,
// this one apart. It finds what an agent left behind in a process session of its own.
func WithEnvironment(pairs ...string) ([]task.Process, error) {
	self := os.Getpid()
	var out []task.Process
	for _, pid := range pids() {
		if pid == self || !carries(pid, pairs) {
			continue
		}
		if found, err := Lookup(pid); err == nil {
			out = append(out, found)
		}
	}
	return out, nil
}

func carries(pid int, pairs []string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // another user's, or gone: not one of ours either way
	}
	have := bytes.Split(env, []byte{0})
	for _, pair := range pairs {
		found := false
		for _, entry := range have {
			found = found || string(entry) == pair
		}
		if !found {
			return false
		}
	}
	return true
}
