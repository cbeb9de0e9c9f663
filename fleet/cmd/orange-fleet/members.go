package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
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

func listMembers() *cobra.Command {
	return &cobra.Command{Use: "members", Short: "List people and hosts with their keys, and the open invitations",
		Args: cobra.NoArgs,
		Long: "List people and hosts with their keys, as the fleet's authority signed them, and the open invitations.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, s, err := here()
			if err != nil {
				return err
			}
			state, err := memberState(cmd.Context(), home, s)
			if err != nil {
				return err
			}
			return printMembers(cmd.OutOrStdout(), state, time.Now())
		}}
}

// memberState are the members: where the authority is, as it knows them itself; elsewhere as the registry says, with
// the lists checked.
func memberState(ctx context.Context, home string, s setup.Setup) (state registry.State, err error) {
	a, err := members.Open(home)
	if err == nil {
		return a.State()
	}
	if !errors.Is(err, task.ErrNotFound) {
		return registry.State{}, err
	}
	err = atServer(ctx, s, func(ctx context.Context, c client.Client) error {
		trust, err := core.Trust(ctx, c, home, s)
		if err == nil {
			state, err = core.Members(ctx, c)
		}
		state.Fleet, state.Trust = s.Namespace, trust
		return late(err)
	})
	return state, err
}

func printMembers(out io.Writer, state registry.State, now time.Time) error {
	lists, err := state.Trust.Lists(state.Fleet)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tIS\tMAY CREATE\tKEY")
	for _, m := range lists.People.Members {
		fmt.Fprintf(w, "%s\tperson\t%s\t%s\n", m.Name, yes(m.Create), key(m))
	}
	for _, m := range lists.Hosts.Members {
		fmt.Fprintf(w, "%s\thost\t-\t%s\n", m.Name, key(m))
	}
	for _, i := range state.Invitations {
		if ends := time.Unix(i.Expires, 0); i.Used == "" && now.Before(ends) {
			fmt.Fprintf(w, "%s\tinvited as %s\t%s\tuntil %s\n", i.Name, memberKind(i.Of), yes(i.Create),
				ends.Format(time.TimeOnly))
		}
	}
	return w.Flush()
}

// key names a key, and when it ended.
func key(m signed.Person) string {
	name := m.Key.Fingerprint()
	if !m.Until.IsZero() {
		name += ", ended " + m.Until.Format(time.DateTime)
	}
	return name
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func memberKind(of string) string {
	if of == signed.OfHosts {
		return "host"
	}
	return "person"
}
