// Package caller collects what can be known of the process that asks: the seat that it shows, or else
// the processes above it and whether it runs in the agents' terminal. Who that is, engine decides.
package caller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/work/worktree"
)

// The variables by which a program says that it asks for a person, and what the person allows it. They can only take
// rights away.
const (
	ViaVariable = "ORANGE_VIA"
	MayVariable = "ORANGE_MAY"
)

func via(call proc.Call) string { return task.PersonName(call.Getenv(ViaVariable), "") } // as fit to be shown as a name

// Seat is the seat that a call shows, or else the processes above it.
func Seat(call proc.Call, as string) (task.Caller, error) {
	c := task.Caller{Secret: call.Getenv("ORANGE_SEAT"), As: as, Via: via(call), May: call.Getenv(MayVariable)}
	if c.Secret != "" {
		c.Conversation = call.Getenv(harness.ConversationVariable)
		return c, nil
	}
	above, err := call.Ancestors()
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return c, err
	}
	c.Above = above
	return c, nil
}

// Of is all that can be known of the caller on a home whose agents run on a terminal server. known reports whether the
// home has the folder of a task. A process below the one that does the calls of the home, which is not known to be
// started for someone, is as one inside the terminal server.
func Of(call proc.Call, home string, server *tmux.Server, as string, known func(id string) (bool, error)) (task.Caller,
	error) {
	c, err := Seat(call, as)
	if err != nil || c.Secret != "" {
		return c, err
	}
	c.Back = tmux.KeyBack
	if id := call.Getenv("ORANGE_TASK_ID"); id != "" {
		own, err := known(id)                              // an agent of another home is a person like any other here
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a home without that folder has no tasks
			return c, err
		}
		if own {
			c.Task = id
		}
	}
	if c.Inside, err = server.Above(c.Above); err != nil {
		return c, fmt.Errorf("cannot tell who asks: %w", err)
	}
	if c.Inside {
		return c, nil
	}
	if c.Inside, err = belowServer(c.Above, home); err != nil {
		return c, fmt.Errorf("cannot tell who asks: %w", err)
	}
	return c, nil
}

// namePatience bounds the question for a person's name: no request waits for that.
const namePatience = 5 * time.Second

// PersonName is what history calls the person who runs this command: by their own configuration of git, or else
// by their login. If a program asks for them, it names that too.
func PersonName(ctx context.Context, call proc.Call) string {
	name := personName(ctx)
	if program := via(call); program != "" {
		name += " via " + program
	}
	return name
}

func personName(ctx context.Context) string {
	ctx, off := context.WithTimeout(ctx, namePatience)
	defer off()
	if name, address, err := worktree.Identity(ctx); err == nil { // else their login says enough
		if known := task.PersonName(name, address); known != "" {
			return known
		}
	}
	if login, err := user.Current(); err == nil {
		return task.PersonName(login.Username, "")
	}
	return "user " + strconv.Itoa(os.Getuid())
}
