package proc_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// The test binary is also the other program of these tests: this variable tells it which.
const partVariable = "PROC_TEST_PART"

func TestMain(m *testing.M) {
	// else the race detector has every other process wait for a second at its end
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	part, argument, _ := strings.Cut(os.Getenv(partVariable), " ")
	switch part {
	case "":
		os.Exit(m.Run())
	case "wait":
		announce(argument)
		<-time.After(time.Minute)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		announce(argument)
		<-time.After(time.Minute)
	case "parent": // starts a child of its own group and ends at once
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), partVariable+"=stubborn "+argument)
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
	case "launcher": // starts a program that outlives it
		if _, err := proc.Detach(context.Background(), proc.Command{
			Name: os.Args[0], Env: append(os.Environ(), partVariable+"=wait "+argument)}); err != nil {
			os.Exit(1)
		}
	case "ancestors":
		above, err := proc.Ancestors(os.Getpid())
		fmt.Println(above, err)
	case "watch":
		fmt.Println(watchMany(argument))
	case "keeper": // starts a child in a session of its own that keeps what it says open
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), partVariable+"=wait "+argument)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
	case "eat":
		eat(argument)
	case "flood":
		flood(argument)
	case "supervise":
		os.Exit(supervise(argument))
	default:
		os.Exit(2)
	}
}

func supervise(argument string) int {
	words := strings.Fields(argument)
	end, err := proc.Supervise(context.Background(), proc.Command{
		Name: words[0], Args: words[1:], Env: append(os.Environ(), partVariable+"="+os.Getenv("NEXT_PART"))})
	fmt.Printf("%d %d %v\n", end.Status, end.Signal, err)
	return 0
}

// announce writes the number of this process into a file, in one step.
func announce(path string) {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		os.Exit(1)
	}
	if err := os.Rename(temporary, path); err != nil {
		os.Exit(1)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a fact holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

// announced waits for a process that announces itself in a file, and sees to it that it is gone after the test.
func announced(t *testing.T, path string) task.Process {
	t.Helper()
	var pid int
	eventually(t, filepath.Base(path)+" runs", func() bool {
		text, err := os.ReadFile(path)
		if err == nil {
			pid, err = strconv.Atoi(string(text))
		}
		return err == nil
	})
	p, err := proc.Lookup(pid)
	must(t, err)
	t.Cleanup(func() {
		if alive, _ := proc.Alive(p); alive {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	})
	return p
}

// start runs a part of this binary in a process session of its own, and answers once it announced itself.
func start(t *testing.T, part string, env ...string) task.Process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pid")
	_, err := proc.Detach(context.Background(), proc.Command{
		Name: os.Args[0], Env: append(append(os.Environ(), env...), partVariable+"="+part+" "+path)})
	must(t, err)
	return announced(t, path)
}

func wantGone(t *testing.T, p task.Process) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d is gone", p.PID), func() bool {
		alive, err := proc.Alive(p)
		return err == nil && !alive
	})
}

// run runs a part of this binary to its end and answers what it said.
func run(ctx context.Context, t *testing.T, part string, env ...string) string {
	t.Helper()
	out, err := proc.Run(ctx, proc.Command{Name: os.Args[0], Env: append(env, partVariable+"="+part)})
	must(t, err)
	return out.Text()
}
