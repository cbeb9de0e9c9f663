package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"orange/internal/rules/task"
)

// preferAtOutOfMemory has the kernel end the process, and what it starts from now on, before others when the
// machine's memory is used up. It is a wish: where it cannot be written, the limit is kept all the same.
func preferAtOutOfMemory(pid int) {
	const more = "500" // of 1000
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(more), 0)
}

// inSession lists who lives of a session.
func inSession(session int) []task.Process {
	var out []task.Process
	for _, pid := range pids() {
		if info, err := inspect(pid); err == nil && !info.zombie && info.session == session {
			out = append(out, task.Process{PID: pid, Began: info.started})
		}
	}
	return out
}

// memoryOf is what the processes of a session use together. Looked at closely only when it may be more than the limit:
// what processes share is counted once for each of them at the first look, and once at the second.
func memoryOf(session int, limit int64) (int64, error) {
	var members []int
	var resident int64
	for _, p := range inSession(session) {
		used, err := residentOf(p.PID)
		if err != nil {
			return 0, err
		}
		members, resident = append(members, p.PID), resident+used
	}
	if resident <= limit {
		return resident, nil
	}
	var exact int64
	for _, pid := range members {
		used, err := proportionalOf(pid)
		if err != nil {
			return 0, err
		}
		exact += used
	}
	return exact, nil
}

func residentOf(pid int) (int64, error) {
	text, err := readProc(pid, "statm")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // it has ended
	}
	if err != nil {
		return 0, err
	}
	const resident = 1
	fields := bytes.Fields(text)
	if len(fields) <= resident {
		return 0, fmt.Errorf("read memory of process %d: %d fields", pid, len(fields))
	}
	pages, err := strconv.ParseInt(string(fields[resident]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// proportionalOf is the process's part of what it uses: pages of files, which the kernel can take back, apart.
// Where the kernel does not tell, it is what is resident.
func proportionalOf(pid int) (int64, error) {
	text, err := readProc(pid, "smaps_rollup")
	if err != nil {
		return residentOf(pid)
	}
	var total int64
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "Pss_Anon", "Pss_Shmem":
			kilobytes, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(value), []byte(" kB"))), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
			}
			total += kilobytes << 10
		}
	}
	if total == 0 { // an older kernel
		return residentOf(pid)
	}
	return total, nil
}
