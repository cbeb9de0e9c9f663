//go:build !openbsd && !netbsd

package proc

import "syscall"

func space(path string) (uint64, error) {
	var system syscall.Statfs_t
	err := syscall.Statfs(path, &system)
	return inBytes(system.Bavail, system.Bsize), err
}
