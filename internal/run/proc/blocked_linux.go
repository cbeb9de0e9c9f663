package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stuckOn is the pipe or the device that a process of the session reads, or waits to open, and that never ends, or the
// large file that it reads as a whole. It looks at processes alone whose names begin with the word. It is empty where
// there is none, and where the system does not let it look.
func stuckOn(session int, word string, whole func(path string) bool) stuck {
	for _, p := range inSession(session) {
		found, name, err := processAndName(p.PID)
		if err != nil || found != p || !strings.HasPrefix(name, word) {
			continue
		}
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(p.PID) + "/task")
		for _, thread := range threads {
			if path := opens(p.PID, filepath.Join("task", thread.Name(), "syscall")); path != "" {
				return stuck{path: path, why: WaitsFor(word, path)}
			}
		}
		if found := hasOpen(p.PID, word, whole); found.why != nil {
			return found
		}
	}
	return stuck{}
}

// hasOpen is such a file among the open ones of a process. The pipes that it has to its parent have no path.
func hasOpen(pid int, word string, whole func(path string) bool) stuck {
	folder := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return stuck{}
	}
	for _, entry := range entries {
		path, err := os.Readlink(filepath.Join(folder, entry.Name()))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case IsEndless(path) && readsWithoutEnd(pid, path):
			return stuck{path: path, why: WaitsFor(word, path), fills: givesForever(path)}
		case info.Mode().IsRegular() && info.Size() > MostWhole && whole != nil && whole(path):
			return stuck{path: path, why: TooLarge(word, path, MostWhole), fills: true}
		}
	}
	return stuck{}
}

// givesForever reports whether a path is that of a device of which no program takes a few bytes.
func givesForever(path string) bool { return path == "/dev/zero" || path == "/dev/full" }

// readsWithoutEnd reports whether a program that has a pipe or a device open reads it without an end. Of a device that
// gives bytes forever a program may take a few, and some keep it open: it is the memory that tells.
func readsWithoutEnd(pid int, path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeNamedPipe != 0 || givesForever(path) {
		return true
	}
	const much = 512 << 20
	text, err := readProc(pid, "statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64) // in memory
	return err == nil && pages*int64(os.Getpagesize()) > much
}

// opens is such a pipe that a thread of a process waits to open, as the file says: no one writes to it.
func opens(pid int, syscall string) string {
	text, err := readProc(pid, syscall)
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 || fields[0] != strconv.Itoa(unix.SYS_OPENAT) {
		return ""
	}
	at, err := strconv.ParseInt(fields[2], 0, 64)
	if err != nil {
		return ""
	}
	memory, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem")
	if err != nil {
		return ""
	}
	defer memory.Close()
	name := make([]byte, unix.PathMax)
	n, _ := memory.ReadAt(name, at) // what follows the path may be no memory of the process
	path, _, whole := bytes.Cut(name[:n], []byte{0})
	if !whole {
		return ""
	}
	found := string(path)
	if !filepath.IsAbs(found) {
		folder, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		if err != nil {
			return ""
		}
		found = filepath.Join(folder, found)
	}
	if !IsEndless(found) {
		return ""
	}
	return found
}
