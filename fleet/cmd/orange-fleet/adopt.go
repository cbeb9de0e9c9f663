package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/fleet/client"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

func adopt() *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "adopt HOST [ID...]", Short: "Take tasks into the fleet that a host has without it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return task.Notef(task.ErrUsage, "cannot adopt: found no HOST: see %q", "orange-fleet adopt --help")
			}
			return nil
		},
		Long: `Take tasks into the fleet that a host has without it: those that were created there by "orange task
create", such as while the fleet was out of reach. Without an ID they are listed, and nothing is done.

You sign what each task was created from; no program of a host could do that in your place. The host
takes its first snapshot before. From then on the task is in the list, is asked through the fleet,
and can be rescued. The same command again ends what was cut short.`,
		Example: "  orange fleet adopt laptop\n  orange fleet adopt laptop 4Fz\n  orange fleet adopt laptop --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 1 {
				return task.Notef(task.ErrUsage, "cannot adopt %q: found --all and ids, expected one of them", args[1:])
			}
			return asPerson(func(c *client.Client) error {
				return adoptTasks(cmd.Context(), c, args[0], args[1:], all, cmd.OutOrStdout())
			})
		}}
	cmd.Flags().BoolVar(&all, "all", false, "all that the host has without the fleet")
	return cmd
}

// adoptTasks takes tasks of a host into the fleet. One that cannot be taken in stops none of the others.
func adoptTasks(ctx context.Context, c *client.Client, host string, words []string, all bool, out io.Writer) error {
	found, err := c.Local(ctx, host)
	if err != nil {
		return err
	}
	if len(words) == 0 && !all {
		for _, t := range found {
			fmt.Fprintf(out, "%s  %s  %s  %s\n", t.ID, t.Project, t.Branch, t.Status)
		}
		fmt.Fprintf(out, "tasks of the host %s that the fleet does not have: %d\n", host, len(found))
		return nil
	}
	if !all {
		if found, err = tasksMeant(host, found, words); err != nil {
			return err
		}
	}
	var failed error
	for _, t := range found {
		has, err := c.Adopt(ctx, host, t.ID)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		fmt.Fprintf(out, "task %s is in the fleet, at the host %s under the custody %d\n", t.ID, has.Host, has.Epoch)
	}
	return failed
}

// tasksMeant are the tasks that words mean: an id, the beginning of one, or a branch.
func tasksMeant(host string, found []remote.Found, words []string) (some []remote.Found, err error) {
	for _, word := range words {
		var of []remote.Found
		for _, t := range found {
			if strings.HasPrefix(t.ID, word) || t.Branch == word {
				of = append(of, t)
			}
		}
		switch len(of) {
		case 1:
			some = append(some, of[0])
		case 0:
			return nil, task.Notef(task.ErrNotFound, "the host %s has no task %q that is not in the fleet: %q lists "+
				"them", host, word, "orange fleet adopt "+host)
		default:
			return nil, task.Notef(task.ErrUsage, "%q means %d tasks of the host %s: give the whole id", word, len(of),
				host)
		}
	}
	return some, nil
}
