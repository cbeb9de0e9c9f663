package proc_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"orange/internal/run/proc"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// terminal is one without a person.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine gives no terminal: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	return slave
}

func TestRestoreTerminal_bringsBackWhatAProgramChanged(t *testing.T) {
	t.Parallel()
	at := terminal(t)
	before, err := term.GetState(at.Fd())
	if err != nil {
		t.Fatal(err)
	}
	killed := errors.New("signal: killed")
	err = proc.RestoreTerminal(at, func() error {
		if _, err := term.MakeRaw(at.Fd()); err != nil {
			t.Fatal(err)
		}
		return killed
	})
	after, looked := term.GetState(at.Fd())
	if !errors.Is(err, killed) || looked != nil || *after != *before {
		t.Errorf("it answered %v, and the terminal is %+v (%v), it was %+v", err, after, looked, before)
	}
}

func TestIsTerminal(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if at := terminal(t); !proc.IsTerminal(at) || proc.IsTerminal(null) {
		t.Errorf("a terminal: %v, the null device: %v", proc.IsTerminal(at), proc.IsTerminal(null))
	}
}

func TestRestoreTerminal_leavesWhatIsNoTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := proc.RestoreTerminal(file, func() error { return nil }); err != nil {
		t.Error(err)
	}
}
