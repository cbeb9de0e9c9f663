package socket

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"orange/internal/run/proc"
)

// peer is the process at the other end of a connection.
type peer struct {
	pid    int
	handle int // a pidfd: it means that very process, whichever gets its number later
}

// Supported reports whether calls are served on this system: whether it says enough about who is at the other end.
func Supported() bool { return true }

// onSocket has a function look at the socket of a connection.
func onSocket(conn net.Conn, look func(fd int) error) error {
	unixConn, is := conn.(*net.UnixConn)
	if !is {
		return fmt.Errorf("look at the other end: no socket of the kernel: %T", conn)
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return fmt.Errorf("look at the other end: %w", err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = look(int(fd)) })
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("look at the other end: %w", err)
	}
	return nil
}

// peerOf is the process at the other end of a connection to this one. It refuses one with other rights than this
// process, or another view of the machine: done here, its call could do more than it may itself, or in another place.
func peerOf(conn net.Conn) (p peer, err error) {
	if p, err = processOf(conn); err != nil {
		return p, err
	}
	err = sameRights(p.pid)
	if err == nil {
		err = p.ended() // its rights were not those of another process with its number
	}
	if err != nil {
		p.close()
	}
	return p, err
}

// processOf is the process at the other end of a connection, as the kernel says: the one that connected, or the one
// that listens. It refuses another user's.
func processOf(conn net.Conn) (p peer, err error) {
	var who *unix.Ucred
	err = onSocket(conn, func(fd int) (err error) {
		if who, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			p.pid = int(who.Pid)
			p.handle, err = handleOf(fd, p.pid)
		}
		return err
	})
	if err == nil && int(who.Uid) != os.Getuid() {
		p.close()
		err = fmt.Errorf("this process is of user %s, and the other one of %s", userName(os.Getuid()),
			userName(int(who.Uid)))
	}
	return p, err
}

// ended is an error where the process has ended.
func (p peer) ended() error {
	gone, err := unix.Poll([]unix.PollFd{{Fd: int32(p.handle), Events: unix.POLLIN}}, 0)
	if err == nil && gone > 0 {
		err = errors.New("it has ended")
	}
	if err != nil {
		return fmt.Errorf("look who asks: process %d: %w", p.pid, err)
	}
	return nil
}

func (p peer) close() { _ = unix.Close(p.handle) } // nothing was written to it

// handleOf is a handle of the process at the other end: of that very process, or, with a kernel that does not know it
// (before 6.5), of the one that has its number now.
func handleOf(fd, pid int) (handle int, err error) {
	handle, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return unix.PidfdOpen(pid, 0)
	}
	return handle, err
}

func userName(uid int) string {
	number := strconv.Itoa(uid)
	if found, err := user.LookupId(number); err == nil {
		return found.Username
	}
	return number
}

// rights are what the kernel lets a process do: its groups and capabilities, what confines it, its root and its
// namespaces. Landlock does not show; a process without privileges can only set it with
// no_new_privs, which does.
func rights(pid int) (all []string, err error) {
	dir := "/proc/" + strconv.Itoa(pid)
	text, err := proc.ReadFile(dir + "/status")
	if err != nil {
		return nil, fmt.Errorf("look what process %d may do: %w", pid, err)
	}
	for line := range bytes.Lines(text) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
			"Seccomp_filters":
			all = append(all, string(bytes.TrimSpace(line)))
		}
	}
	label, err := proc.ReadFile(dir + "/attr/current") // of AppArmor or SELinux
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.EINVAL) {
		return nil, fmt.Errorf("look what confines process %d: %w", pid, err)
	}
	all = append(all, string(label))
	for _, link := range []string{"root", "ns/mnt", "ns/pid", "ns/net", "ns/user"} {
		to, err := os.Readlink(dir + "/" + link)
		if err != nil {
			return nil, fmt.Errorf("look what process %d sees: %w", pid, err)
		}
		all = append(all, to)
	}
	return all, nil
}

// sameRights refuses a process with other rights than this one.
func sameRights(pid int) error {
	own, err := rights(os.Getpid())
	if err != nil {
		return err
	}
	other, err := rights(pid)
	if err != nil {
		return err
	}
	if !slices.Equal(own, other) {
		return fmt.Errorf("process %d: %w", pid, errOtherRights)
	}
	return nil
}
