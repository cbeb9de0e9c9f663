package caller

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// named is a process that calls itself so.
func named(t *testing.T, name string) task.Process {
	t.Helper()
	cmd := exec.Command("sh", "-c", `printf %s "$1" >/proc/$$/comm; echo; read -r end`, "sh", name)
	_, err := cmd.StdinPipe() // it ends with that
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p, err := proc.Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBelowServer_knowsTheHomeByAnyPath(t *testing.T) {
	t.Parallel()
	home, other, none := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "none")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	name, err := nameFor(home)
	if err != nil {
		t.Fatal(err)
	}
	gone := task.Process{PID: 1 << 30}
	for _, tt := range []struct {
		above []task.Process
		home  string
		want  bool
	}{
		{[]task.Process{gone, named(t, name)}, home, true}, {[]task.Process{named(t, name)}, link, true},
		{[]task.Process{named(t, name)}, other, false}, {[]task.Process{named(t, name)}, none, false},
		{[]task.Process{named(t, "orange")}, home, false}, {nil, home, false},
	} {
		if got, err := belowServer(tt.above, tt.home); got != tt.want || err != nil {
			t.Errorf("below %v, at %s: found %t, %v, expected %t", tt.above, tt.home, got, err, tt.want)
		}
	}
}

func TestStarts_isTheNameOfTheProcess(t *testing.T) {
	home := t.TempDir()
	before, err := proc.Name(os.Getpid())
	if err == nil {
		err = MarkStarter(home)
	}
	if err != nil {
		t.Fatal(err)
	}
	name, err := proc.Name(os.Getpid())
	if want, _ := nameFor(home); name != want || err != nil || proc.NameSelf(before) != nil {
		t.Errorf("found %q, %v, expected %q", name, err, want)
	}
	if err := MarkStarter(filepath.Join(home, "none")); err == nil {
		t.Error("a home that is not there has a name")
	}
}
