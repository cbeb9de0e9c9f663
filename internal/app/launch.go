package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/harness"
	"orange/internal/proc"
	"orange/internal/task"
)

// cannotStart is the exit status of a window whose agent could not be started at all.
const cannotStart = 127

// ticketAge is how old a ticket is that no launcher will take any more: a start takes moments.
const ticketAge = 10 * time.Minute

// dropTickets takes away the tickets of starts that never came about, because whoever began them was ended: they
// hold a seat's secret.
func (h *house) dropTickets() error {
	dir := filepath.Join(h.dir, "launch")
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for old tickets: %w", err)
	}
	for _, entry := range found {
		if !strings.Contains(entry.Name(), ".json") {
			continue // how an agent ended
		}
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > ticketAge {
			err = os.Remove(filepath.Join(dir, entry.Name()))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // its launcher was quicker
			return fmt.Errorf("take away an old ticket: %w", err)
		}
	}
	return nil
}

// launch runs an agent by its ticket. The ticket is taken away first: it holds the seat's secret, and serves once.
func launch(path string) int {
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	var ticket harness.Ticket
	if err == nil {
		err = json.Unmarshal(text, &ticket)
	}
	if err != nil {
		fmt.Fprintf(talk(), "orange: cannot read the ticket %q: %v\n", path, err)
		return cannotStart
	}
	var program string
	kept, err := keptIn(context.Background(), terminals(ticket.Home), ticket.Task)
	env := ticket.Environment(kept, os.Environ())
	if err == nil {
		program, err = proc.Find(ticket.Argv[0], harness.Value(env, "PATH"))
	}
	var end task.Ending
	if err == nil {
		end, err = proc.Supervise(proc.Command{Name: program, Args: ticket.Argv[1:], Dir: ticket.Dir, Env: env})
	}
	note := harness.Note{Status: end.Status, Signal: end.Signal, At: task.FormatTime(time.Now())}
	if err != nil {
		fmt.Fprintf(talk(), "orange: %v\n", err)
		note.Status, note.Unstarted = cannotStart, err.Error()
	}
	line, _ := json.Marshal(note)
	if err := os.WriteFile(ticket.Exit, append(line, '\n'), task.PrivateFile); err != nil {
		fmt.Fprintf(talk(), "orange: cannot note the agent's end: %v\n", err)
	}
	return note.Status
}
