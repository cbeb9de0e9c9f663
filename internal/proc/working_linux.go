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
	var out []task.Process
	for _, pid := range pids() {
		folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		if err != nil || folder != dir && !strings.HasPrefix(folder, dir+"/") {
			continue // another user's, or gone, or elsewhere
		}
		found, is, err := named(pid)
		if err == nil && is == name {
			out = append(out, found)
		}
	}
	return out, nil
}

// WorkingOn lists the processes of that short name that have the word among their arguments.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingOn(word, name string) ([]task.Process, error) {
	var out []task.Process
	for _, pid := range pids() {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil || !bytes.Contains(text, []byte("\x00"+word+"\x00")) {
			continue // gone, or about something else
		}
		found, is, err := named(pid)
		if err == nil && is == name {
			out = append(out, found)
		}
	}
	return out, nil
}
