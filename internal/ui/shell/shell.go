// Package shell is a conversation about one task: lines with slash commands, those that the task's workflow
// declares, the moves out of the task's status by name, and a few of its own.
//
// It owns how a line is read, completed and remembered, and which request it makes.
// It decides nothing, and prints no answer to a request: the implementation of Asks does, with the words of the
// command line.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Asks is what a conversation needs from the program. Every method prints the answer to what it asks for.
type Asks interface {
	// Here is the present task, with the very workflow that it was created under. It prints nothing.
	Here(ctx context.Context) (task.Task, *workflow.Definition, error)
	// Open are the states that the one who asks may have the task moved to. It prints nothing.
	Open(ctx context.Context, t task.Task, def *workflow.Definition) ([]task.Status, error)
	// Move asks for the move that a word of the command line stands for, as "complete" or "merge".
	Move(ctx context.Context, word, reason string) error
	// Go asks for a move to a state; in the state itself it sees to it that its agent is at work.
	Go(ctx context.Context, to task.Status, reason string) error
	Next(ctx context.Context, to task.Status, override bool, reason string) error
	Redo(ctx context.Context, to task.Status, reason string) error
	// Show prints "status", "why" or "history".
	Show(ctx context.Context, what string) error
	// Tell ends the answer to a line, with an error where there is one, and returns its exit status.
	Tell(err error) int
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

	here at // as it was found last
}

// lines are where the words come from.
type lines interface {
	// next is the next line; io.EOF after the last one, and errDropped for one that the person gave up.
	next(prompt string) (string, error)
	close() error
}

// errDropped says that the person ended a line without wanting it.
var errDropped = errors.New("the line was dropped")

// errLeft says that the person has left.
var errLeft = errors.New("left")

// Run talks until the end of the input, or until the person leaves. A person's conversation ends well, also when
// a request in it was refused; lines from elsewhere are all run, and the exit status is that of the last one that
// failed.
func (s *Shell) Run(ctx context.Context, asks Asks) (status int, err error) {
	if err := s.look(ctx, asks); err != nil {
		return 0, err
	}
	var in lines = newPiped(s.In)
	if s.Terminal {
		in, err = newTyped(s.History, func(line string) []string { return complete(s.here, line) })
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
			if prompt, err = s.prompt(ctx, asks); err != nil {
				return status, err
			}
		}
		line, err := await(ctx, in, prompt)
		switch {
		case errors.Is(err, errDropped):
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
		err = s.run(ctx, asks, line)
		switch {
		case errors.Is(err, errLeft):
			return status, nil
		case ctx.Err() != nil:
			return status, ctx.Err()
		}
		if failed := asks.Tell(err); failed != 0 && !s.Terminal {
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

func (s *Shell) prompt(ctx context.Context, asks Asks) (string, error) {
	if err := s.look(ctx, asks); err != nil {
		return "", err
	}
	return printable.Line(fmt.Sprintf("%s %s> ", s.here.task.Branch, s.here.task.Status)), nil
}

// look finds out where the task is now, and what it may be asked for there: it may have been given another workflow,
// too.
func (s *Shell) look(ctx context.Context, asks Asks) error {
	t, def, err := asks.Here(ctx)
	if err != nil {
		return err
	}
	open, err := asks.Open(ctx, t, def)
	s.here = at{t, def, open}
	return err
}

// run runs one line. An empty one, and one that begins with a #, is none.
func (s *Shell) run(ctx context.Context, asks Asks, line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return err
	}
	if err := s.look(ctx, asks); err != nil {
		return err
	}
	all := commands(s.here)
	c, said, err := find(all, words)
	if err != nil {
		return err
	}
	switch c.text {
	case "/quit":
		return errLeft
	case "/help":
		s.help(offered(all))
		return nil
	}
	return c.run(ctx, asks, said)
}

func (s *Shell) help(all []command) {
	width := 0
	for _, c := range all {
		width = max(width, len(c.usage()))
	}
	fmt.Fprintf(s.Out, "Task %s is %s; its workflow is %s. Quote words with blanks.\n", s.here.task.ID,
		s.here.task.Status, s.here.def.Name)
	for _, c := range all {
		fmt.Fprintf(s.Out, "  %-*s  %s\n", width, c.usage(), c.about)
	}
}
