package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Held is a program that was started ahead of its work, and waits for its input.
type Held struct {
	command Command
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  head
	stderr  bytes.Buffer
	file    os.FileInfo // of the program as it was then
}

// Hold starts a program that waits for its input. Its caller finishes or discards it, once.
func Hold(c Command) (*Held, error) {
	h := &Held{command: c, cmd: exec.Command(c.Name, c.Args...), stdout: head{most: c.Most}}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stdout, h.cmd.Stderr = c.Dir, c.environment(), &h.stdout, &h.stderr
	h.cmd.WaitDelay = waitDelay
	var err error
	if h.file, err = os.Stat(c.Name); err == nil {
		h.stdin, err = h.cmd.StdinPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Name, err)
	}
	return h, nil
}

// Current reports whether the program's file is still the one that was started.
func (h *Held) Current() bool {
	now, err := os.Stat(h.command.Name)
	return err == nil && os.SameFile(now, h.file) && now.ModTime().Equal(h.file.ModTime())
}

// Discard ends the program without an input, and waits for its end.
func (h *Held) Discard() {
	late := time.AfterFunc(waitDelay, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	_ = h.stdin.Close()
	_ = h.cmd.Wait() // how it ends is of no interest
}

// ErrGone says that a held program had ended before it got its input.
var ErrGone = errors.New("the program that waited has ended")

// Finish hands the program its input and waits for its end. The error is ErrGone where the program took none of it,
// and like that of Run an *Error where the program ends with a status other than 0.
func (h *Held) Finish(ctx context.Context, input []byte) (Result, error) {
	off := context.AfterFunc(ctx, func() { _ = h.cmd.Process.Kill() })
	defer off()
	n, unread := h.stdin.Write(input) // it need not read all of it
	_ = h.stdin.Close()
	err := h.cmd.Wait()
	if n == 0 && (errors.Is(unread, syscall.EPIPE) || errors.Is(unread, os.ErrClosed)) {
		return Result{}, ErrGone
	}
	result := Result{Stdout: h.stdout.kept.Bytes(), Stderr: h.stderr.Bytes(), Code: h.cmd.ProcessState.ExitCode(),
		More: h.stdout.more}
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		return result, &Error{Argv: h.cmd.Args, Code: result.Code, Stderr: h.stderr.String()}
	}
	if err != nil {
		return result, fmt.Errorf("run %q: %w", h.command.Name, errors.Join(ctx.Err(), err))
	}
	return result, nil
}
