// Package shell is a conversation about one task, in lines with slash commands.
//
// It owns how a line is read, taken apart into words, and remembered. Which commands there are, what they do and what
// they answer is the command line's: the implementation of Asks has them.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"orange/internal/rules/printable"
)

// Asks is what a conversation needs from the program.
type Asks interface {
	// Prompt is what a person sees before a line: the task, and where it is.
	Prompt(ctx context.Context) (string, error)
	// Run runs the words of a line and prints the answer. It reports whether the person leaves with it.
	Run(ctx context.Context, words []string) (left bool, err error)
	// Complete are the lines that the beginning of one can become.
	Complete(ctx context.Context, line string) []string
	// End ends the answer to a line, with an error where there is one, and returns its exit status.
	End(err error) int
}

// Shell is one conversation. Every field is required.
type Shell struct {
	In io.Reader
	// Out makes all that is printed fit to be shown.
	Out *printable.Writer
	// Terminal reports whether a person sits at In, which is the standard input then.
	Terminal bool
	// History is the file that remembers the lines of a person.
	History string
}

// lines are where the words come from.
type lines interface {
	// next is the next line; io.EOF after the last one, and errDropped for one that the person gave up.
	next(prompt string) (string, error)
	close() error
}

// errLineDropped says that the person ended a line without wanting it.
var errLineDropped = errors.New("the line was dropped")

// Run talks until the end of the input, or until the person leaves. A person's conversation ends well, also when
// a request in it was refused; lines from elsewhere are all run, and the exit status is that of the last one that
// failed.
func (s *Shell) Run(ctx context.Context, asks Asks) (status int, err error) {
	if _, err := asks.Prompt(ctx); err != nil {
		return 0, err
	}
	var in lines = newPiped(s.In)
	if s.Terminal {
		in, err = newTyped(s.History, func(line string) []string { return asks.Complete(ctx, line) })
		if err != nil {
			return 0, err
		}
		fmt.Fprintln(s.Out, "/help lists the commands, Tab completes them, Ctrl-D leaves.")
	}
	status, err = s.talk(ctx, asks, in)
	return status, errors.Join(err, in.close())
}

func (s *Shell) talk(ctx context.Context, asks Asks, in lines) (status int, err error) {
	for {
		prompt := ""
		if s.Terminal {
			if prompt, err = asks.Prompt(ctx); err != nil {
				return status, err
			}
		}
		line, err := await(ctx, in, printable.Line(prompt))
		switch {
		case errors.Is(err, errLineDropped):
			continue
		case err != nil:
			if s.Terminal {
				fmt.Fprintln(s.Out) // what comes next begins a line of its own
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return status, err
		}
		left, err := run(ctx, asks, line)
		switch {
		case left && err == nil:
			return status, nil
		case ctx.Err() != nil:
			return status, ctx.Err()
		}
		if failed := asks.End(err); failed != 0 && !s.Terminal {
			status = failed
		}
	}
}

// await waits for a line, and no longer than ctx lasts: a terminal does not end by itself when a signal ends the
// program.
func await(ctx context.Context, in lines, prompt string) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := in.next(prompt)
		answers <- answer{line, err}
	}()
	select {
	case a := <-answers:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// run runs one line. An empty one, and one that begins with a #, is none.
func run(ctx context.Context, asks Asks, line string) (left bool, err error) {
	words, err := wordsOf(line)
	if err != nil || len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return false, err
	}
	return asks.Run(ctx, words)
}
