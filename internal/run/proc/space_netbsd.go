package proc

import "golang.org/x/sys/unix"

func space(path string) (uint64, error) {
	var system unix.Statvfs_t
	err := unix.Statvfs(path, &system)
	return inBytes(system.Bavail, system.Frsize), err
}
