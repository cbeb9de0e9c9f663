// Package proc is the only door to other programs: os/exec lives here and nowhere else.
//
// It owns how a program is started, ended and told apart from another one with the same number, and how a file that
// several processes write is replaced.
// It does not own which program, nor what its answer means. Nothing here goes through a shell.
package proc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command is one program with its arguments, run to its end.
type Command struct {
	Name  string
	Args  []string
	Dir   string    // working folder; empty means the caller's
	Base  []string  // the environment that Env is laid over; nil is Environment of the context
	Env   []string  // KEY=value pairs laid over it
	Unset []string  // variables of Base that the program does not get, and GIT_NO_REPLACE_OBJECTS
	Stdin io.Reader // nil means no input
	Most  int       // bytes of the standard output that are kept; what is more is read and dropped. 0 keeps all
	// Stdout gets the standard output that Run would keep. The program ends where it takes no more.
	Stdout io.Writer
	Stderr io.Writer // gets the standard error of Interactive; nil means the caller's own
	// Limit is how long Run lets the program take before it ends it: the error is ErrLate then. 0 is ten minutes.
	Limit time.Duration
	// Watched is how the names of programs begin that Run ends when they read, or wait to open, a pipe or a device that
	// has a path: "git" with all that git starts of its own. Empty watches none.
	Watched string
	// Whole reports of a file that such a program reads it into its memory as a whole: Run ends the program where the
	// file is larger than MostWhole. nil is none.
	Whole func(path string) bool
}

// Result is what a program left behind.
type Result struct {
	Stdout []byte
	Stderr []byte
	Code   int
	More   int // bytes of the standard output beyond the most that were kept
}

// Text is the standard output without the blanks around it.
func (r Result) Text() string { return strings.TrimSpace(string(r.Stdout)) }

// Error says that a program ended with a status other than 0.
type Error struct {
	Argv   []string
	Code   int
	Stderr string
}

func (e *Error) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		said = "it said nothing"
	}
	return fmt.Sprintf("%q ended with status %d: %s", strings.Join(e.Argv, " "), e.Code, said)
}

const (
	// waitDelay bounds how long the pipes of a program that has ended are waited for, when something that it started
	// keeps them open. On a busy machine it takes more than a moment to read what is in them.
	waitDelay = 3 * time.Second
	// lateDelay is the same for a program that has exceeded its own limit: what it said is of no interest then.
	lateDelay = 50 * time.Millisecond
	// longest is how long a program may take that Run starts: fetches of large repositories are among them.
	longest = 10 * time.Minute
	// watchAfter is when a program is looked at for the first time, and watchAtMost how long the pauses become, each
	// twice as long as the one before.
	watchAfter, watchAtMost = 20 * time.Millisecond, 2 * time.Second
	// MostWhole is how many bytes a file may have that a watched program reads as a whole.
	MostWhole = 512 << 20
)

// ErrLate says that a program did not end within its limit, and was ended.
var ErrLate = errors.New("it did not end in time")

// NotInstalled reports whether a program could not be run because PATH has none of its name.
func NotInstalled(err error) bool { return errors.Is(err, exec.ErrNotFound) }

// Run starts the program, in a process session of its own with no terminal, and waits for its end.
// A status other than 0 is an *Error; the Result is filled all the same.
// A program that cannot be started at all is another error. When ctx ends, when the program takes too long, and when it
// is stuck, it is ended with all that it started.
func Run(ctx context.Context, c Command) (Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	limit := cmp.Or(c.Limit, longest)
	late := time.AfterFunc(limit, func() { end(fmt.Errorf("%w: within %s", ErrLate, limit)) })
	defer late.Stop()
	var stderr bytes.Buffer
	stdout := head{most: c.Most}
	cmd := ofSession(ctx, c)
	if c.Limit > 0 {
		cmd.Cancel = func() error { // the wait for its pipes begins after this
			cmd.WaitDelay = lateDelay
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, &stdout, &stderr
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	err := start(ctx, cmd)
	if err == nil {
		if c.Watched != "" {
			go watchWhileItRuns(ctx, cmd.Process.Pid, c, end)
		}
		err = cmd.Wait()
	}
	result := Result{Stdout: stdout.kept.Bytes(), Stderr: stderr.Bytes(), Code: cmd.ProcessState.ExitCode(),
		More: stdout.more}
	if err == nil {
		return result, nil
	}
	if ctx.Err() != nil {
		return result, fmt.Errorf("run %q: %w", c.Name, context.Cause(ctx))
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		argv := append([]string{c.Name}, c.Args...)
		return result, &Error{Argv: argv, Code: result.Code, Stderr: stderr.String()}
	}
	return result, fmt.Errorf("run %q: %w", c.Name, err)
}

// ofSession is a program in a process session of its own, which ends as a whole with ctx.
func ofSession(ctx context.Context, c Command) *exec.Cmd {
	cmd := c.prepared(ctx)
	cmd.WaitDelay = waitDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// watchWhileItRuns looks at a session until ctx ends. A program that reads what it never has read to its end it ends.
func watchWhileItRuns(ctx context.Context, session int, c Command, end context.CancelCauseFunc) {
	var before stuck
	for pause := watchAfter; ; pause = min(2*pause, watchAtMost) {
		if Pause(ctx, pause); ctx.Err() != nil {
			return
		}
		found := stuckOn(session, c.Watched, c.Whole)
		if found.why != nil && (found.fills || found.path == before.path) {
			end(found.why)
		}
		before = found
	}
}

// Pause returns after a while, or when ctx ends.
func Pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// stuck is what a look found that a program reads and never has read to its end.
type stuck struct {
	path string
	why  error // nil where the look found nothing
	// fills says that it fills the memory for certain: else one look can meet a program that takes a few random bytes,
	// or the answer of another one by a pipe.
	fills bool
}

// Every is Command.Whole of a program that has no reason to open a large file: settings are all that it reads.
func Every(string) bool { return true }

// WaitsFor is the error about a program that waits for a pipe or a device.
func WaitsFor(program, path string) error {
	return fmt.Errorf("%s waits for %q: that is a pipe or a device, and no file; move it away", program, path)
}

// TooLarge is the error about a program that would read the whole of a file with more than so many bytes.
func TooLarge(program, path string, most int64) error {
	return fmt.Errorf("%s would read all of %q, and that has more than %d MiB; look at what it is, and move it away",
		program, path, most>>20)
}

// head keeps the beginning of an output.
type head struct {
	most int // 0 keeps all
	kept bytes.Buffer
	more int
}

func (h *head) Write(text []byte) (int, error) {
	keep := text
	if room := h.most - h.kept.Len(); h.most > 0 && len(text) > room {
		keep = text[:room]
	}
	h.more += len(text) - len(keep)
	h.kept.Write(keep)
	return len(text), nil
}

// Detach starts the program in a process session of its own, with no terminal and no open pipes,
// and does not wait for it: what ends the caller's terminal does not end it, nor does the end of ctx.
func Detach(ctx context.Context, c Command) (int, error) { return detach(ctx, c, nil) }

// detach is Detach of a program that prints to a file; nil for none.
func detach(ctx context.Context, c Command, to *os.File) (int, error) {
	cmd := c.prepared(context.WithoutCancel(ctx))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if to != nil {
		cmd.Stdout = to
	}
	if err := start(ctx, cmd); err != nil {
		return 0, fmt.Errorf("start %q: %w", c.Name, err)
	}
	pid := cmd.Process.Pid
	// Reap it if this process lives long enough to see its end; init does otherwise.
	go func() { _ = cmd.Wait() }()
	return pid, nil
}

// hearTime is how long a program may take to say its first line.
const hearTime = 10 * time.Second

// DetachAndHear is Detach, and answers the first line that the program prints, without its end; empty where it prints
// none. No one reads what it prints after that.
func DetachAndHear(ctx context.Context, c Command) (line string, err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer from.Close()
	_, err = detach(ctx, c, to)
	_ = to.Close() // the program has its own
	if err != nil {
		return "", err
	}
	if err := from.SetReadDeadline(time.Now().Add(hearTime)); err != nil {
		return "", fmt.Errorf("wait for %q: %w", c.Name, err)
	}
	defer context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Now()) })()
	line, err = bufio.NewReader(from).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("wait for %q: %w", c.Name, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// farewell is how long a program on the caller's terminal has to leave once it was asked to.
const farewell = 5 * time.Second

// Interactive runs the program on the caller's own terminal and waits for it. When ctx ends, it is asked to
// leave, and ended if it does not.
func Interactive(ctx context.Context, c Command) error {
	cmd := c.prepared(ctx)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = farewell
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %q: %w", c.Name, err)
	}
	return nil
}

// Find looks a program up: a name with a slash as it is, another one on the given PATH.
func Find(name, path string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return executable(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue
		}
		if found, err := executable(dir + "/" + name); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("cannot find the program %q on PATH", name)
}

func executable(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("find program: %w", err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%q is not an executable file", path)
	}
	const mayRun = 1 // X_OK
	if err := syscall.Access(path, mayRun); err != nil {
		return "", fmt.Errorf("%q may not be run: %w", path, err)
	}
	return path, nil
}
