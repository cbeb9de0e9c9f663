package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// longestLine is how many bytes a line has at most that a program prints for another one.
const longestLine = 8 << 20

// Lines starts the program and hands on each line of its standard output when it is there, until the program ends, ctx
// does, or take answers an error. The program is ended then.
func Lines(ctx context.Context, c Command, take func(line []byte) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd := ofSession(ctx, c)
	cmd.Stdin = c.Stdin
	said := head{most: longestLine}
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = start(ctx, cmd)
	}
	if err != nil {
		return fmt.Errorf("run %q: %w", c.Name, err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, longestLine)
	var refused error
	for refused == nil && lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			refused = take(line)
		}
	}
	if refused = errors.Join(refused, lines.Err()); refused != nil {
		end(refused)
		_, _ = io.Copy(io.Discard, out) // the program ends, and what it still says is not wanted
	}
	err = cmd.Wait()
	_, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case refused != nil && !errors.Is(refused, os.ErrClosed):
		return refused
	case ctx.Err() != nil:
		return fmt.Errorf("run %q: %w", c.Name, ctx.Err())
	case ended:
		return &Error{Argv: append([]string{c.Name}, c.Args...), Code: cmd.ProcessState.ExitCode(),
			Stderr: said.kept.String()}
	case err != nil:
		return fmt.Errorf("run %q: %w", c.Name, err)
	}
	return nil
}
