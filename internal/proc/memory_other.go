//go:build !linux

package proc

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"orange/internal/task"
)

// preferAtOutOfMemory is nothing that this system knows.
func preferAtOutOfMemory(int) {}

// inSession lists no one: this system reports who is in a group, but not who is in a session.
func inSession(int) []task.Process { return nil }

// memoryOf is what the processes of a group use together, as ps tells: what they share is counted once for each
// of them.
func memoryOf(group int, _ int64) (int64, error) {
	out, err := exec.Command("ps", "-A", "-o", "pgid=,rss=").Output()
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
