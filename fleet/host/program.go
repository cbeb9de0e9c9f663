// Package host is what one host of a fleet does for it: it takes tasks, answers requests, reports, and keeps its lease.
//
// It owns how the calls of the fleet become commands of the program orange, which does the work, and what the host
// remembers of its own rights. It decides nothing about a task: orange does; nor about custody: package custody does.
package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orange/internal/proc"
)

// Call is a command line for "orange answer".
type Call struct {
	V     int      `json:"v"`
	Argv  []string `json:"argv,omitempty"`
	Key   string   `json:"key,omitempty"`
	Stdin string   `json:"stdin,omitempty"`
}

// Said is what a command printed and how it ended. Refused says why the call was not taken: then nothing was done.
type Said struct {
	V       int    `json:"v"`
	Exit    int    `json:"exit"`
	Stdout  string `json:"stdout,omitempty"`
	Stderr  string `json:"stderr,omitempty"`
	Refused string `json:"refused,omitempty"`
}

const callVersion = 1

// Program is the program orange of the host.
type Program interface {
	Do(ctx context.Context, c Call) (Said, error)
}

// Orange is the program orange at a path. Each call is a process of its own.
type Orange struct {
	Path string
	Home string // $ORANGE_HOME
}

// Do runs one command.
func (o Orange) Do(ctx context.Context, c Call) (Said, error) {
	c.V = callVersion
	text, err := json.Marshal(c)
	if err != nil {
		return Said{}, fmt.Errorf("write a call of orange: %w", err)
	}
	out, err := proc.Run(ctx, proc.Command{Name: o.Path, Args: []string{"answer"}, Stdin: bytes.NewReader(text),
		Env: []string{"ORANGE_HOME=" + o.Home}, Unset: []string{"SSH_AUTH_SOCK"}})
	var said Said
	if unread := json.Unmarshal(out.Stdout, &said); unread != nil {
		return Said{}, fmt.Errorf("read the answer of %s: %w", o.Path, errors.Join(err, unread))
	}
	return said, nil
}

// failure is what a command said that did not end well.
func (s Said) failure() string {
	if s.Refused != "" {
		return s.Refused
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Stderr), "\n")
	if line == "" {
		line = fmt.Sprintf("it ended with status %d", s.Exit)
	}
	return line
}

func (s Said) done() bool { return s.Refused == "" && s.Exit == 0 }
