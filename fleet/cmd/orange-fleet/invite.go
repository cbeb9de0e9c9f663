package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/spf13/cobra"

	"orange/fleet/core"
	"orange/fleet/members"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// answerIn is how long the fleet may take for what changes its members.
const answerIn = 30 * time.Second

func invite() *cobra.Command {
	var host, person bool
	var create string
	cmd := &cobra.Command{Use: "invite NAME --host|--person", Short: "Print a line with which a host or a person joins",
		Args: one("a NAME"),
		Long: "Print one line with which a host or a person joins the fleet, within 15 minutes and once. It has a " +
			"secret: send it as you would send a password. It works where the key of the fleet's authority is.\n\n" +
			"A person joins again to add a key; a host joins again to replace its key.",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := registry.Invite{Of: signed.OfPeople, Name: args[0], Create: create == "yes"}
			switch {
			case host == person:
				return task.Notef(task.ErrUsage, "cannot invite %q: expected one of --host and --person", args[0])
			case host:
				i.Of, i.Create = signed.OfHosts, true
			case create != "yes" && create != "no":
				return task.Notef(task.ErrUsage, "cannot invite %q: found --create=%q, expected yes or no", args[0],
					create)
			}
			line, err := inviteLine(cmd.Context(), i)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s joins within %s, once, with: orange-fleet join LINE\n", i.Name,
				registry.InviteFor)
			fmt.Fprintln(cmd.OutOrStdout(), line)
			return nil
		}}
	cmd.Flags().BoolVar(&host, "host", false, "a machine that takes tasks")
	cmd.Flags().BoolVar(&person, "person", false, "someone who asks for things")
	cmd.Flags().StringVar(&create, "create", "yes", "yes or no: whether the person may create tasks, which starts "+
		"programs on hosts")
	return cmd
}

// one is the check that there is one argument.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return task.Notef(task.ErrUsage, "cannot do %q: found %d arguments, expected %s: see \"orange-fleet %s "+
			"--help\"",
			cmd.Name(), len(args), what, cmd.Name())
	}
}

// inviteLine makes an invitation, and has the registry know it.
func inviteLine(ctx context.Context, i registry.Invite) (line string, err error) {
	home, s, err := here()
	if err != nil {
		return "", err
	}
	a, err := members.Open(home)
	if err != nil {
		return "", err
	}
	err = atServer(ctx, s, func(ctx context.Context, c client.Client) error {
		ticket, order, err := a.Invite(ctx, s, i, time.Now())
		if err != nil {
			return err
		}
		if err := core.Invite(ctx, c, order); err != nil {
			return fmt.Errorf("have the fleet know the invitation: %w", late(err))
		}
		line, err = ticket.Line()
		return err
	})
	return line, err
}

// atServer asks the server of the fleet for what may take as long as answerIn.
func atServer(ctx context.Context, s setup.Setup, do func(context.Context, client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	c, err := core.Dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(ctx, c)
}

// late says what to do where the fleet does not answer.
func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the fleet did not answer within %s: does \"orange-fleet serve\" run? %w", answerIn, err)
	}
	return err
}

func remove() *cobra.Command {
	var retire bool
	cmd := &cobra.Command{Use: "remove NAME", Short: "Take a person or a host off the lists of the fleet",
		Args: one("a NAME"),
		Long: "Take a person or a host off the lists of the fleet, with all keys and open invitations. Requests, " +
			"reports " +
			"and answers with these keys are refused from then on; every open custody gets the new lists. A " +
			"certificate " +
			"for the server holds until it ends, though. It works where the key of the fleet's authority is.\n\n" +
			"Nothing counts any more that these keys ever signed: a task that the person created cannot go to " +
			"another host, " +
			"and a snapshot of the host cannot be used. --retire is for someone who leaves, and for a host that is " +
			"given " +
			"up: the keys end now, and what they signed before counts. Do not use it for a key that was stolen.",
		RunE: func(cmd *cobra.Command, args []string) error {
			home, s, err := here()
			if err != nil {
				return err
			}
			a, err := members.Open(home)
			if err != nil {
				return err
			}
			state, err := a.Remove(cmd.Context(), args[0], retire, time.Now())
			if err != nil {
				return err
			}
			if err := publish(cmd.Context(), s, state); err != nil {
				return fmt.Errorf("%q is off the lists here, and the server does not know: \"orange-fleet serve\" on "+
					"this machine tells it at its start: %w", args[0], err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s; the lists have the versions %s\n", args[0], versions(state))
			return nil
		}}
	cmd.Flags().BoolVar(&retire, "retire", false, "end the keys now, and let count what they signed before")
	return cmd
}

// publish brings the lists of the authority to the server.
func publish(ctx context.Context, s setup.Setup, state registry.State) error {
	return atServer(ctx, s, func(ctx context.Context, c client.Client) error {
		return late(core.Publish(ctx, c, state))
	})
}

func versions(state registry.State) string {
	lists, err := state.Trust.Lists(state.Fleet)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d (people) and %d (hosts)", lists.People.Version, lists.Hosts.Version)
}
