package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// manyTasks is how many tasks the dashboard is measured with. All of them are live, for live tasks cost most.
const manyTasks = 10_000

// The dashboard over 10,000 tasks in a terminal of its own: from the start of the process to the first rows, from
// a key to what it changes on the screen, and the most memory that it had.
func BenchmarkDashboard(b *testing.B) {
	w := newWorld(b)
	w.crowd(b)
	var paints, frames []time.Duration
	var most float64
	for b.Loop() {
		if len(paints) == 10 {
			continue // each start is a whole program: ten tell enough
		}
		s := w.sit(b)
		paints = append(paints, s.paint)
		for i := range 150 {
			frames = append(frames, s.key(b, [...]string{"j", "j", "j", "k", "G", "g"}[i%6]))
		}
		most = max(most, s.memory(b))
		s.leave(b)
	}
	report(b, "first-paint", paints)
	report(b, "key", frames)
	b.ReportMetric(ms(slices.Max(frames)), "key-max-ms") // while all of the tasks are still being read
	b.ReportMetric(most, "MB")
	b.ReportMetric(0, "ns/op")
}

// crowd makes the tasks as a person does, four at a time: each has its files. A record with copies of one task alone
// has no files, and the monitor in the dashboard would write them while it is measured.
func (w *world) crowd(b *testing.B) {
	b.Helper()
	var wait sync.WaitGroup
	for first := range 4 {
		wait.Go(func() {
			for i := manyTasks - 1 - first; i >= 0; i -= 4 {
				summary := fmt.Sprintf("Number %d: users forget what they wanted when they came here, and so do we", i)
				branch := fmt.Sprintf("feat/number-%05d", i)
				_, err := w.run("orange", "task", "create", branch, summary, "--harness", "idle", "--no-spawn")
				if err != nil {
					b.Errorf("create task %d: %v", i, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// sitting is a dashboard in a terminal that this program holds.
type sitting struct {
	cmd    *exec.Cmd
	master *os.File
	output chan []byte
	paint  time.Duration
}

// sit opens the dashboard and waits for its first rows.
func (w *world) sit(b *testing.B) *sitting {
	b.Helper()
	master, terminal := openTerminal(b)
	s := &sitting{master: master, output: make(chan []byte, 1024)}
	s.cmd = exec.Command(filepath.Join(built.dir, "orange"), "--all")
	s.cmd.Env, s.cmd.Dir = append(w.env, "TERM=xterm-256color"), w.dir
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, terminal
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = terminal.Close()
	go s.read()
	var seen []byte
	for !bytes.Contains(seen, []byte("mber-0000")) {
		select {
		case more := <-s.output:
			seen = append(seen, more...)
		case <-time.After(20 * time.Second):
			b.Fatalf("the dashboard showed no task: %q", seen)
		}
	}
	s.paint = time.Since(began)
	s.rest()
	return s
}

func (s *sitting) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(buffer)
		if n > 0 {
			s.output <- bytes.Clone(buffer[:n])
		}
		if err != nil {
			close(s.output)
			return
		}
	}
}

// rest waits until the screen has stood still for a moment.
func (s *sitting) rest() {
	for {
		select {
		case _, open := <-s.output:
			if !open {
				return
			}
		// so that keys come at no beat of the screen's
		case <-time.After(40*time.Millisecond + time.Duration(rand.IntN(20))*time.Millisecond):
			return
		}
	}
}

// key presses a key and answers when the screen first changed.
func (s *sitting) key(b *testing.B, name string) time.Duration {
	b.Helper()
	began := time.Now()
	if _, err := s.master.WriteString(name); err != nil {
		b.Fatal(err)
	}
	select {
	case <-s.output:
	case <-time.After(10 * time.Second):
		b.Fatalf("nothing changed on the screen after the key %q", name)
	}
	took := time.Since(began)
	s.rest()
	return took
}

// memory is the most that the process had, in megabytes.
func (s *sitting) memory(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) / 1024
}

func (s *sitting) leave(b *testing.B) {
	b.Helper()
	if _, err := s.master.WriteString("q"); err != nil {
		b.Fatal(err)
	}
	for range s.output { // until the terminal is let go
	}
	_ = s.cmd.Wait()
	_ = s.master.Close()
}

// openTerminal makes a terminal: what is written to master is typed there.
func openTerminal(b *testing.B) (master, terminal *os.File) {
	b.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	var number int
	var trouble error
	if err := raw.Control(func(fd uintptr) {
		if trouble = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); trouble != nil {
			return
		}
		if number, trouble = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); trouble != nil {
			return
		}
		trouble = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}); err != nil || trouble != nil {
		b.Fatal(err, trouble)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	return master, terminal
}
