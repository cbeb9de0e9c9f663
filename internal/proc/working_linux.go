package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WorkingIn lists the processes of that short name whose working folder is dir or below it.
// Where the system cannot tell, the error is errors.ErrUnsupported.
func WorkingIn(dir, name string) ([]Process, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var out []Process
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
