package socket

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// begun is a process that waits until the test ends.
func begun(t *testing.T, attr *syscall.SysProcAttr, words ...string) int {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = attr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("this machine makes no such process: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // its input has ended
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

const tellAndWait = "echo; read end"

func TestSameRights_refusesWhoMayLessOrSeesAnotherMachine(t *testing.T) {
	t.Parallel()
	if err := sameRights(begun(t, nil, "sh", "-c", tellAndWait)); err != nil {
		t.Errorf("a process of the same kind: %v", err)
	}
	for name, tt := range map[string]struct {
		attr  *syscall.SysProcAttr
		words []string
	}{
		"no new privileges": {nil, []string{"setpriv", "--no-new-privs", "sh", "-c", tellAndWait}},
		"another namespace": {&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}},
			[]string{"sh", "-c", tellAndWait}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tt.words[0]); err != nil {
				t.Skipf("%s is not installed", tt.words[0])
			}
			if err := sameRights(begun(t, tt.attr, tt.words...)); err == nil {
				t.Error("it counts as one with the same rights")
			}
		})
	}
}

// A process that connects and ends may leave its connection to another one, which is not the one that the kernel names.
func TestPeerEnded_isOfTheVeryProcessThatConnected(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := peer{pid: cmd.Process.Pid, handle: handle}
	defer p.close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := p.ended(); err == nil {
		t.Error("a process that has ended asks still")
	}
	own := peer{pid: os.Getpid()}
	if own.handle, err = unix.PidfdOpen(own.pid, 0); err != nil {
		t.Fatal(err)
	}
	defer own.close()
	if err := own.ended(); err != nil {
		t.Error(err)
	}
}
