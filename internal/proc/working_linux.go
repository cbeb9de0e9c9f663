package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/task"
)

// WorkingIn lists the processes of that short name whose working folder is dir or below it.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingIn(dir, name string) ([]task.Process, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	return called(name, func(pid int) bool { // a folder that cannot be read is another user's
		folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		return err == nil && (folder == dir || strings.HasPrefix(folder, dir+"/"))
	}), nil
}

// WorkingOn lists the processes of that short name that have the word among their arguments.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingOn(word, name string) ([]task.Process, error) {
	return called(name, func(pid int) bool {
		text, err := readProc(pid, "cmdline")
		return err == nil && bytes.Contains(text, []byte("\x00"+word+"\x00"))
	}), nil
}

// called lists the wanted processes of that short name, as far as they are not gone.
func called(name string, wanted func(pid int) bool) []task.Process {
	var out []task.Process
	for _, pid := range pids() {
		if !wanted(pid) {
			continue
		}
		if found, is, err := named(pid); err == nil && is == name {
			out = append(out, found)
		}
	}
	return out
}
