package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"orange/fleet/client"
	"orange/internal/rules/task"
)

func drain() *cobra.Command {
	var off, move bool
	cmd := &cobra.Command{Use: "drain HOST", Short: "Have a host take no new tasks", Args: one("a HOST"),
		Long: `Have a host take no new tasks, before it is stopped or replaced. Those that it has go on there.

With --move the tasks at which no agent works go to other hosts: each gets a last snapshot first, and
then waits for a host with a place. One whose snapshot cannot be taken stays. The exit status is 1
as long as tasks stay: the same command again moves those that have come to rest meanwhile.
With --off the host takes tasks again.`,
		Example: "  orange fleet drain h1 --move\n  orange fleet drain h1 --off",
		RunE: func(cmd *cobra.Command, args []string) error {
			if off && move {
				return task.Notef(task.ErrUsage, "cannot drain %q: found --off and --move, expected one of them",
					args[0])
			}
			return asPerson(func(c *client.Client) error { return drainHost(cmd, c, args[0], off, move) })
		}}
	cmd.Flags().BoolVar(&off, "off", false, "take tasks again")
	cmd.Flags().BoolVar(&move, "move", false, "give the tasks at which no agent works to other hosts")
	return cmd
}

// drainHost has a host take no new tasks, or some again, and gives away those at rest where that is wanted.
func drainHost(cmd *cobra.Command, c *client.Client, host string, off, move bool) error {
	if err := c.Drain(cmd.Context(), host, off); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if off {
		fmt.Fprintf(out, "host %s takes tasks again\n", host)
		return nil
	}
	fmt.Fprintf(out, "host %s takes no new tasks\n", host)
	if !move {
		return nil
	}
	stay, err := c.HandOver(cmd.Context(), host, func(id, what string) {
		fmt.Fprintf(out, "  task %s %s\n", id, what)
	})
	if err == nil && stay > 0 {
		err = fmt.Errorf("%d tasks stay at the host %s: try again when they have come to rest", stay, host)
	}
	return err
}
