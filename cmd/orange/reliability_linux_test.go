package main_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ownDisk puts the home on a disk of two megabytes of its own, in a namespace of mounts that only this test sees.
// Where the machine forbids that, everything stays as it is.
func (w *faultWorld) ownDisk() {
	w.t.Helper()
	for _, name := range []string{"nsenter", "mount", "umount", "cp"} {
		if _, err := exec.LookPath(name); err != nil {
			w.t.Logf("no disk of its own: %v", err)
			return
		}
	}
	copied := filepath.Join(w.dir, "before")
	if out, err := exec.Command("cp", "-a", w.home(), copied).CombinedOutput(); err != nil {
		w.t.Fatalf("copy the home: %v %s", err, out)
	}
	// The shell keeps the namespace until its input ends.
	holder := exec.Command("sh", "-c",
		`mount -t tmpfs -o size=2m,mode=755 none "$1" && cp -a "$2/." "$1" && echo ready && read -r end`, "sh",
		w.home(), copied)
	holder.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	input, err := holder.StdinPipe()
	w.check(err)
	output, err := holder.StdoutPipe()
	w.check(err)
	if err := holder.Start(); err != nil {
		w.t.Logf("no disk of its own: %v", err)
		return
	}
	w.t.Cleanup(func() {
		_ = input.Close()
		_ = holder.Wait()
	})
	if said, _ := bufio.NewReader(output).ReadString('\n'); said != "ready\n" {
		w.t.Log("no disk of its own: a file system cannot be mounted")
		return
	}
	w.root = fmt.Sprintf("/proc/%d/root", holder.Process.Pid)
	w.inside = []string{"nsenter", "--preserve-credentials", "-U", "-m", "-t", fmt.Sprint(holder.Process.Pid), "--"}
}

// mounts runs a command on the mounts of the home's namespace.
func (w *faultWorld) mounts(words ...string) {
	w.t.Helper()
	all := append(append([]string{}, w.inside...), words...)
	if out, err := exec.Command(all[0], all[1:]...).CombinedOutput(); err != nil {
		w.t.Fatalf("%q: %v %s", words, err, out)
	}
}

// fill leaves so many bytes free on the home's disk, and answers what makes room again.
func (w *faultWorld) fill(leave int64) (empty func()) {
	w.t.Helper()
	var disk syscall.Statfs_t
	w.check(syscall.Statfs(w.at(w.home()), &disk))
	size := int64(disk.Bfree)*int64(disk.Bsize) - leave //nolint:unconvert // of another size on other processors
	path := w.at(w.home("filler"))
	w.check(os.WriteFile(path, []byte(strings.Repeat("x", int(max(size, 0)))), 0o644))
	return func() { w.check(os.Remove(path)) }
}
