package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/rules/task"
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
	fieldParent  = 1 // its group and its session are next
	fieldStarted = 19
)

// readProc reads a file of the kernel about a process. A process that is not there is os.ErrNotExist.
func readProc(pid int, file string) ([]byte, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of process %d: %w", file, pid, err)
	}
	return text, nil
}

// inspect reads one process. One that is not there is os.ErrNotExist.
func inspect(pid int) (details, error) {
	text, err := readProc(pid, "stat")
	if err != nil {
		return details{}, err
	}
	// The name is in brackets and may hold anything, brackets too: the fields begin after the last one.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= fieldStarted {
		return details{}, fmt.Errorf("read process %d: %d fields in its stat file", pid, len(fields))
	}
	state := fields[fieldState][0]
	info := details{
		started: string(fields[fieldStarted]), zombie: state == 'Z',
		stopped: state == 'T' || state == 't', // by a signal, or by a debugger
	}
	for i, to := range []*int{&info.parent, &info.group, &info.session} { // which follow each other
		if *to, err = strconv.Atoi(string(fields[fieldParent+i])); err != nil {
			return details{}, fmt.Errorf("read process %d: %w", pid, err)
		}
	}
	return info, nil
}

// Name is what the kernel calls the process that has the number now: the name of its program, cut after 15 bytes, or
// what it calls itself.
func Name(pid int) (string, error) {
	text, err := readProc(pid, "comm")
	return string(bytes.TrimSuffix(text, []byte("\n"))), err
}

// NameSelf gives this process another name than that of its program, of 15 bytes at most. No other process can change
// it, and what this one starts has the name of its own program again.
func NameSelf(name string) error {
	file, err := os.OpenFile("/proc/self/comm", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("name this process: %w", err)
	}
	_, err = file.WriteString(name)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("name this process: %w", err)
	}
	return nil
}

// Arguments are what a process was started with, its own name first; one that calls itself something else may
// have that in their place.
func Arguments(pid int) ([]string, error) {
	text, err := readProc(pid, "cmdline")
	if err != nil {
		return nil, err
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
	env, err := readProc(pid, "environ")
	if err != nil {
		return false // another user's, or gone: not one of ours either way
	}
	have := strings.Split(string(env), "\x00")
	return !slices.ContainsFunc(pairs, func(pair string) bool { return !slices.Contains(have, pair) })
}

// WorkingIn lists the processes of that short name whose working folder is dir or below it.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingIn(dir, name string) ([]task.Process, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	return processesCalled(name, func(pid int) bool { // a folder that cannot be read is another user's
		folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		return err == nil && (folder == dir || strings.HasPrefix(folder, dir+"/"))
	}), nil
}

// WorkingOn lists the processes of that short name that have the word among their arguments.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingOn(word, name string) ([]task.Process, error) {
	return processesCalled(name, func(pid int) bool {
		text, err := readProc(pid, "cmdline")
		return err == nil && bytes.Contains(text, []byte("\x00"+word+"\x00"))
	}), nil
}

// processesCalled lists the wanted processes of that short name, as far as they are not gone.
func processesCalled(name string, wanted func(pid int) bool) []task.Process {
	var out []task.Process
	for _, pid := range pids() {
		if !wanted(pid) {
			continue
		}
		if found, is, err := processAndName(pid); err == nil && is == name {
			out = append(out, found)
		}
	}
	return out
}
