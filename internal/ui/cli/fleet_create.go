package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// create creates a task at a host. Its id is made here, so that a repeat after a lost answer is the same task.
func (fl fleet) create() *cobra.Command {
	c := taskCreate(fl.program)
	var on string
	onFlag(c, &on, "the host that gets the task")
	c.Short = "Create a task at a host and start it there"
	c.RunE = fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
		project, err := fl.projectHere(ctx, h)
		if on == "" {
			err = errors.Join(usage("at which host? Give --on with one of: %s", f.Names()), err)
		}
		if err != nil {
			return err
		}
		host, err := f.Host(on)
		if err != nil {
			return err
		}
		call, err := callOf(&fl.input, c, args)
		if err != nil {
			return err
		}
		if fl.project == "" {
			call.Argv = slices.Insert(call.Argv, 2, "--project="+project)
		}
		key := call.Key
		if id := c.Flags().Lookup("id").Value.String(); key == "" && id != "" {
			key = id
		}
		if key == "" {
			if key, err = newID(); err != nil {
				return err
			}
			call.Argv = slices.Insert(call.Argv, 2, "--id="+key)
		}
		if err := fl.reach(ctx, h, f, host); err != nil {
			return err
		}
		return fl.send(ctx, h, f, host, call, key)
	})
	return c
}

func newID() (string, error) {
	random := make([]byte, task.IDLength)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	return task.NewID(random)
}

// reach finds out whether a host answers, before anything is sent to it that could be done without an answer.
func (fl fleet) reach(ctx context.Context, h *Services, f remote.Fleet, host remote.Host) error {
	one := fl.askAll(ctx, h, f, []remote.Host{host}, remote.Call{V: remote.Version, Find: "-"})[0]
	switch {
	case one.err != nil:
		return task.Notef(remote.ErrNotReached, "host %s was not reached, and nothing was sent: %v", host.Name, one.err)
	case one.reply.Refused != "":
		return refusedBy(host, one.reply)
	}
	return nil
}
