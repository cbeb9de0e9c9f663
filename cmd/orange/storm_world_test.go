package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// storm is a home with a binary of its own, in which scripted agents and people work at random for a while.
type storm struct {
	*world
	size     size
	deadline func() (time.Time, bool) // when the test binary runs out of time
	seed     uint64
	program  string // a copy of the binary: no other test runs it
	home     string
	notes    string // the folder outside of the home where agents write down what they did
	sockets  string

	mu       sync.Mutex
	answers  []answer
	figures  map[string]int
	branches int
	faulty   map[string]bool // tasks of which something is not as it should be
}

// size is how large a storm is.
type size struct {
	tasks, people, dying int
	rest                 time.Duration // the longest time that a person rests
	truce                time.Duration // the longest time between two kills
}

// answer is the answer to a request for a move. No other request has the same reason.
type answer struct {
	task, reason string
	status       int
	moved        bool
}

func isLong() bool { return os.Getenv("ORANGE_TEST_LONG") != "" }

func newStorm(t *testing.T, size size) *storm {
	t.Helper()
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("processes are found in /proc")
	}
	w := newWorld(t)
	s := &storm{world: w, size: size, deadline: t.Deadline, seed: uint64(time.Now().UnixNano() % 1e9),
		figures: map[string]int{}, faulty: map[string]bool{}}
	if text := os.Getenv("ORANGE_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s.seed = seed
	}
	t.Logf("seed %d: run this again with ORANGE_TEST_SEED=%d", s.seed, s.seed)
	s.program, s.home, s.notes = filepath.Join(w.dir, "program", "orange"), filepath.Join(w.dir, "orange"),
		filepath.Join(w.dir, "notes")
	for _, pair := range w.env {
		if value, found := strings.CutPrefix(pair, "TMUX_TMPDIR="); found {
			s.sockets = value
		}
	}
	temporary := filepath.Join(w.dir, "tmp") // who is killed leaves temporary files behind
	for _, dir := range []string{filepath.Dir(s.program), s.notes, temporary} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyProgram(t, filepath.Join(built.dir, "orange"), s.program)
	w.env = append(w.env, "TMPDIR="+temporary, "PATH="+filepath.Dir(s.program)+":"+os.Getenv("PATH"))
	agent, err := filepath.Abs("testdata/storm/agent")
	if err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf("{command: [sh, %q, %q, %q, %q, \"{prompt_file}\"]}", agent, s.notes,
		strconv.FormatUint(s.seed, 10), strconv.Itoa(size.dying))
	w.write("orange/harnesses/storm.yml", "name: storm\nworker: "+command+"\nreviewer: "+command+"\n")
	w.must("orange", "project", "update", "--pool-size", strconv.Itoa(size.tasks))
	return s
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		t.Fatal(err)
	}
}

// within bounds the storm, so that a test binary that runs out of time still cleans up behind itself.
// Whatever of this home still runs when the test is over is ended, by its number.
func (s *storm) within(limit time.Duration) (context.Context, context.CancelFunc) {
	until := time.Now().Add(limit)
	if last, bounded := s.deadline(); bounded && last.Add(-time.Minute).Before(until) {
		until = last.Add(-time.Minute)
	}
	ctx, off := context.WithDeadline(s.t.Context(), until)
	s.t.Cleanup(func() {
		off()
		for range 3 { // what is ended may have started something a moment before
			left, _ := proc.WithEnvironment("ORANGE_HOME=" + s.home)
			for _, p := range left {
				end(p)
			}
		}
	})
	return ctx, off
}

// end kills a process for good, and never another one that got its number.
func end(p task.Process) bool {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return false
	}
	defer handle.Release() //nolint:errcheck // it only closes the handle
	if now, err := proc.Lookup(p.PID); err != nil || now != p {
		return false
	}
	return handle.Signal(syscall.SIGKILL) == nil
}

func (s *storm) random(more uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, more)) }

func (s *storm) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures[what]++
}

// orange runs one command. The status of one that was killed is -1.
func (s *storm) orange(ctx context.Context, args ...string) (out string, status int) {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.Env = s.repo, s.env
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	status = cmd.ProcessState.ExitCode()
	if status == 1 && ctx.Err() == nil {
		s.count("commands that failed")
		s.t.Logf("orange %q: %v: %s%s", args, err, said.String(), complained.String())
	}
	s.count("commands")
	return said.String(), status
}

// view is a task as lists have it.
type view struct {
	ID, Status string
	Live       bool
}

func (s *storm) list(ctx context.Context) (live []view) {
	out, status := s.orange(ctx, "task", "list", "--all", "--json")
	var all struct{ Tasks []view }
	if status != 0 || json.Unmarshal([]byte(out), &all) != nil {
		return nil
	}
	for _, t := range all.Tasks {
		if t.Live {
			live = append(live, t)
		}
	}
	return live
}

func (s *storm) begin(ctx context.Context, args ...string) {
	s.mu.Lock()
	s.branches++
	branch := "storm/" + strconv.Itoa(s.branches)
	s.mu.Unlock()
	out, status := s.orange(ctx,
		append([]string{"task", "create", branch, "A thing", "--harness", "storm", "--json"}, args...)...)
	var made struct{ Task view }
	if status == 0 && json.Unmarshal([]byte(out), &made) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = append(s.answers, answer{task: made.Task.ID})
	}
}

// ask asks for a move with a reason of its own, and notes the answer.
func (s *storm) ask(ctx context.Context, t view, dice *rand.Rand, args ...string) {
	reason := fmt.Sprintf("person %d.%d", s.seed, dice.Uint64())
	if args[1] == "request-changes" {
		args = append(args, t.ID, reason, "--json")
	} else {
		args = append(args, t.ID, "--reason", reason, "--json")
	}
	out, status := s.orange(ctx, args...)
	var said struct {
		Moved bool
		Code  string
	}
	err := json.Unmarshal([]byte(out), &said) // a move whose hook failed has the status 1
	if said.Code == "not_known" {
		status = -1 // the server was killed meanwhile
	}
	if status == 0 && err != nil {
		s.t.Errorf("orange %q: the answer is no JSON: %s", args, out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answer{task: t.ID, reason: reason, status: status, moved: said.Moved})
}

// person does what people do, at random, until the storm is over.
func (s *storm) person(ctx context.Context, number uint64) {
	dice := s.random(number)
	for ctx.Err() == nil {
		live := s.list(ctx)
		switch {
		case live == nil && dice.IntN(2) == 0: // the list was killed, or there is nothing
			s.begin(ctx)
		case live == nil:
		case len(live) < s.size.tasks && dice.IntN(4) == 0:
			s.begin(ctx, "--no-spawn")
		case len(live) < s.size.tasks:
			s.begin(ctx)
		default:
			s.act(ctx, live[dice.IntN(len(live))], dice)
		}
		rest(ctx, time.Duration(dice.Int64N(int64(s.size.rest))))
	}
}

func rest(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-ctx.Done():
	case <-pause.C:
	}
}

func (s *storm) act(ctx context.Context, t view, dice *rand.Rand) {
	throw := dice.IntN(100)
	switch {
	case t.Status == "pending":
		s.ask(ctx, t, dice, "task", "spawn")
	case t.Status == "reviewing" && throw < 40:
		s.orange(ctx, "task", "merge", "--local", t.ID)
	case t.Status == "reviewing" && throw < 80:
		s.ask(ctx, t, dice, "task", "request-changes")
	case t.Status == "stuck" && throw < 40:
		s.ask(ctx, t, dice, "task", "update", "--status", "reviewing")
	case throw < 6 || throw < 50 && t.Status == "stuck":
		s.ask(ctx, t, dice, "task", "cancel", "--yes")
	case throw < 40:
		s.orange(ctx, "task", "respawn", t.ID)
	case throw < 50:
		s.orange(ctx, "task", "retry", t.ID)
	case throw < 60:
		s.orange(ctx, "task", "wait", t.ID, "--timeout", "200ms")
	case throw < 70:
		s.orange(ctx, "task", "show", t.ID, "--json")
	case throw < 78:
		s.ask(ctx, t, dice, "task", "update", "--status", "clarification")
	case throw < 86:
		s.ask(ctx, t, dice, "task", "update", "--as", "reviewer", "--status", "working")
	default:
		s.ask(ctx, t, dice, "task", "stuck")
	}
}

// keep runs a command again and again, until the storm is over: then it gets a signal to stop.
func (s *storm) keep(ctx context.Context, args ...string) {
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, s.program, args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.Dir, cmd.Env, cmd.WaitDelay = s.repo, s.env, 20*time.Second
		var complained bytes.Buffer
		cmd.Stderr = &complained
		err := cmd.Run()
		if strings.Contains(complained.String(), "another monitor is at work") {
			s.count("looks that another monitor did")
			continue
		}
		if ctx.Err() == nil && cmd.ProcessState.ExitCode() > 0 {
			s.t.Logf("orange %q: %v: %s", args, err, complained.String())
			s.count("monitors that failed")
		}
	}
}

// calm ends the storm: agents rest at their next step, and no one asks for anything any more.
func (s *storm) calm(ctx context.Context) {
	s.write("notes/stop", "")
	s.until(ctx, "the commands to end", func() bool {
		for _, v := range s.victims() {
			if v.kind != kindLaunch && v.kind != kindTmux && v.kind != kindServer {
				return false
			}
		}
		return true
	})
}

// until waits for a fact.
func (s *storm) until(ctx context.Context, what string, holds func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("waited in vain for %s; still there: %v", what, s.victims())
		case <-tick.C:
		}
	}
}

// noted reads what agents wrote down, as words, one line each.
func (s *storm) noted(file string) [][]string {
	text, err := os.ReadFile(filepath.Join(s.notes, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	var out [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// settle ends the storm, and has everything done that is left to do: the first look may start agents that die of
// the calm.
func (s *storm) settle(ctx context.Context) {
	s.calm(ctx)
	for range 2 {
		if out, status := s.orange(ctx, "monitor", "--once"); status != 0 {
			s.t.Errorf("orange monitor --once ended with status %d: %s", status, out)
		}
		s.calm(ctx)
	}
}
