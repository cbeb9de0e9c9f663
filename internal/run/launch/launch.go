// Package launch runs an agent in its window by a ticket, and notes how the agent ended.
//
// A hook writes the ticket, which holds the secret of a seat, and starts the launcher in the window. The launcher
// takes the ticket away and leaves a note of the end in its place.
package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// cannotStart is the exit status of a window whose agent could not be started at all.
const cannotStart = 127

// ticketAge is how old a ticket is that no launcher will take any more: a start takes moments.
const ticketAge = 10 * time.Minute

// noteEnd is how the name of a note ends; the number of the hook that started the agent comes before it.
const noteEnd = ".exit"

// Folder is where tickets and notes are.
func Folder(home string) string { return filepath.Join(home, "launch") }

// DropTickets takes away the tickets of starts that never came about, because the process that began them was
// ended: they hold a seat's secret.
func DropTickets(home string) error {
	found, err := os.ReadDir(Folder(home))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for old tickets: %w", err)
	}
	for _, entry := range found {
		if !strings.Contains(entry.Name(), ".json") {
			continue // how an agent ended
		}
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > ticketAge {
			err = os.Remove(filepath.Join(Folder(home), entry.Name()))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // its launcher was quicker
			return fmt.Errorf("take away an old ticket: %w", err)
		}
	}
	return nil
}

// noteOf is the hook whose agent the file at a path tells the end of; found is false where it is no note.
func noteOf(path string) (hook int64, found bool) {
	number, isNote := strings.CutSuffix(filepath.Base(path), noteEnd)
	hook, err := strconv.ParseInt(number, 10, 64)
	return hook, isNote && err == nil
}

// Watch calls noted as soon as a note of a launcher may be there, until ctx ends. watch calls touched with the files of
// a folder that are written.
func Watch(ctx context.Context, home string, watch func(ctx context.Context, dir string, touched func(string)) error,
	noted func(hook int64)) error {
	return watch(ctx, Folder(home), func(path string) {
		hook, isNote := noteOf(path)
		if !isNote {
			return
		}
		noted(hook)
	})
}

// Ending is what the launcher of the agent of a hook noted at its end; found is false where there is no note yet, and
// where another program wrote what is there. seat is the agent's, in the form in which it is kept.
func Ending(home string, hook int64, seat string) (end task.Ending, found bool, err error) {
	text, err := proc.ReadFile(filepath.Join(Folder(home), strconv.FormatInt(hook, 10)+noteEnd))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, proc.ErrNoFile) {
		return task.Ending{}, false, nil // what is no file is none of a launcher's
	}
	if err != nil {
		return task.Ending{}, false, fmt.Errorf("read how the agent ended: %w", err)
	}
	var note harness.Note
	if json.Unmarshal(text, &note) != nil || !note.Of(seat) {
		return task.Ending{}, false, nil // it was cut short, or is another program's: as good as none
	}
	return task.Ending{Known: true, Status: note.Status, Signal: note.Signal, Unstarted: note.Unstarted,
		HungUp: note.HungUp}, true, nil
}

// Launcher runs one agent. Every field is required.
type Launcher struct {
	Messages io.Writer
	// Kept reads the environment that is kept for the ticket's task.
	Kept func(harness.Ticket) ([]string, error)
	// Given reads what the person has set for the tasks of the ticket's project. It is in no ticket.
	Given func(harness.Ticket) ([]string, error)
	// Serve answers the requests of a confined agent, whose environment is env, until ctx ends.
	Serve func(ctx context.Context, t harness.Ticket, env []string) error
	// Watch sees to it that a process watches over the agent. It is called before the agent begins, and when it has
	// ended and its end is noted.
	Watch func(harness.Ticket) error
	// Keep sees to it that this stays so while the agent lives, until ctx ends.
	Keep func(ctx context.Context, t harness.Ticket)
}

// Run runs an agent by its ticket, and answers the exit status of the window. The ticket is taken away first: it
// holds the seat's secret, and serves once.
func (l Launcher) Run(path string) int {
	text, err := proc.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	var ticket harness.Ticket
	if err == nil {
		err = json.Unmarshal(text, &ticket)
	}
	if err != nil {
		fmt.Fprintf(l.Messages, "orange: cannot read the ticket %q: %v\n", path, err)
		return cannotStart
	}
	l.watch(ticket)
	ctx, off := context.WithCancel(context.Background())
	var keeping sync.WaitGroup
	keeping.Go(func() { l.Keep(ctx, ticket) })
	end, err := l.supervise(ticket)
	off()
	keeping.Wait()
	note := harness.Note{Status: end.Status, Signal: end.Signal, HungUp: end.HungUp, At: task.FormatTime(time.Now())}
	if err != nil {
		fmt.Fprintf(l.Messages, "orange: %v\n", err)
		note.Status, note.Unstarted = cannotStart, err.Error()
	}
	if err := leave(ticket.Exit, note.Sealed(harness.Value(ticket.Set, "ORANGE_SEAT"))); err != nil {
		fmt.Fprintf(l.Messages, "orange: cannot note the agent's end: %v\n", err)
	}
	l.watch(ticket)
	return note.Status
}

func (l Launcher) watch(ticket harness.Ticket) {
	if err := l.Watch(ticket); err != nil {
		fmt.Fprintf(l.Messages, "orange: no one watches over this agent: %v\n", err)
	}
}

// leave writes a note in the place of whatever is there: who put a pipe there would have it wait. It does not wait
// for the disk: where the machine dies with this note, the agent has ended with its machine.
func leave(path string, note harness.Note) error {
	line, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return proc.ReplaceCopy(path, append(line, '\n'))
}

// supervise runs the program of a ticket to its end.
func (l Launcher) supervise(ticket harness.Ticket) (task.Ending, error) {
	base, err := l.Kept(ticket)
	if err != nil {
		return task.Ending{}, err
	}
	given, err := l.Given(ticket)
	if err != nil {
		return task.Ending{}, err
	}
	env := ticket.Environment(base, given, proc.Environment(context.Background()))
	if ticket.Requests != "" {
		defer l.serve(ticket, env)()
	}
	began := time.Now()
	end, err := start(ticket.Argv, ticket.Dir, env)
	if err == nil && len(ticket.Fresh) > 0 && end.Status != 0 && end.Signal == 0 && time.Since(began) < goneWithin {
		fmt.Fprintf(l.Messages, "orange: %q could not go on with its earlier conversation (status %d), and begins a "+
			"new one\n", ticket.Argv[0], end.Status)
		return start(ticket.Fresh, ticket.Dir, env)
	}
	return end, err
}

// goneWithin is how soon a program ends that does not find the conversation to go on with.
const goneWithin = 10 * time.Second

func start(argv []string, dir string, env []string) (task.Ending, error) {
	program, err := proc.Find(argv[0], harness.Value(env, "PATH"))
	if err != nil {
		return task.Ending{}, err
	}
	return proc.Supervise(context.Background(), proc.Command{Name: program, Args: argv[1:], Dir: dir, Base: env})
}

// serve answers the agent's requests in the background, until end is called.
func (l Launcher) serve(ticket harness.Ticket, env []string) (end func()) {
	ctx, off := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := l.Serve(ctx, ticket, env); err != nil {
			fmt.Fprintf(l.Messages, "orange: cannot answer what this agent asks for: %v\n", err)
		}
	}()
	return func() {
		off()
		<-done
		_ = proc.BelowOf(ticket.Requests).Remove() // its secret is no one's any more, and so it holds nothing
	}
}
