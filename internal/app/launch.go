package app

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"orange/internal/harness"
	"orange/internal/proc"
	"orange/internal/task"
)

// cannotStart is the exit status of a window whose agent could not be started at all.
const cannotStart = 127

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
	// The terminal may have been started by a runner: its agents are none.
	pane := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, runnerMark+"=") })
	env := ticket.Environment(pane)
	program, err := proc.Find(ticket.Argv[0], pathOf(env))
	var end proc.Ending
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

func pathOf(env []string) string {
	for _, pair := range env {
		if path, found := strings.CutPrefix(pair, "PATH="); found {
			return path
		}
	}
	return ""
}
