package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"orange/fleet/core"
	"orange/fleet/custody"
	"orange/fleet/doctor"
	"orange/fleet/host"
	"orange/fleet/setup"
	"orange/internal/run/proc"
)

// errBad says that the doctor found something that does not work. It has been said in full.
var errBad = errors.New("something does not work")

func doctorCommand() *cobra.Command {
	var tell, asJSON bool
	cmd := &cobra.Command{Use: "doctor", Short: "Look how this machine is in its fleet", Args: cobra.NoArgs,
		Long: "Look how this machine is in its fleet: the server and its workers, the lists of keys, the clock, and " +
			"at a " +
			"host the lease, the place of snapshots and the agent programs. It changes nothing. Where something does " +
			"not " +
			"work, the exit status is 1.\n\n" +
			"--tell is for a server that has lost all custodies: run it at every host, once the server is there " +
			"again. Each " +
			"task that the host has gets a custody again; of two hosts that say they have one, the greater epoch " +
			"counts.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, s, err := here()
			if err != nil {
				return err
			}
			if tell {
				return tellAll(cmd.Context(), home, s, cmd.OutOrStdout())
			}
			d := &doctor.Doctor{Home: home, Setup: s, Now: time.Now}
			if s.Name != "" {
				program, err := orangeProgram()
				if err != nil {
					return err
				}
				d.Orange = host.Orange{Path: program, Home: home}
			}
			return show(cmd.OutOrStdout(), d.Look(cmd.Context()), asJSON)
		}}
	cmd.Flags().BoolVar(&tell, "tell", false, "have the custodies of this host's tasks begin again, at a server that "+
		"has lost them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func show(out io.Writer, found []doctor.Finding, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(map[string]any{"findings": found}, "", "  ")
		if err != nil {
			return fmt.Errorf("write what was found: %w", err)
		}
		fmt.Fprintln(out, string(text))
	} else {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, f := range found {
			fmt.Fprintf(w, "%s\t%s\t%s\n", f.Grade, f.About, f.Text)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Grade == doctor.Bad }) {
		return errBad
	}
	return nil
}

// tellAll tells the server of every task that this host has.
func tellAll(ctx context.Context, home string, s setup.Setup, out io.Writer) error {
	if err := s.ForHost(home); err != nil {
		return err
	}
	key, err := setup.HostKey(home)
	if err != nil {
		return err
	}
	one := &host.Host{Fleet: s.Namespace, Name: s.Name, Key: key,
		Store: &host.Store{Dir: setup.Dir(home), Clock: proc.SinceBoot, Now: time.Now}}
	held, err := one.Held()
	if err != nil {
		return err
	}
	c, err := core.Dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.Close()
	trust, err := core.Trust(ctx, c, home, s)
	if err != nil {
		return err
	}
	bad := false
	for _, t := range held {
		said, good := tellOne(ctx, c, s, trust, t)
		bad = bad || !good
		fmt.Fprintf(out, "%s: %s\n", t.Task, said)
	}
	fmt.Fprintf(out, "%d tasks are here\n", len(held))
	if bad {
		return errBad
	}
	return nil
}

// tellOne tells the server of one task, and says what came of it.
func tellOne(ctx context.Context, c client.Client, s setup.Setup, trust custody.Trust, t host.HeldTask) (said string,
	good bool) {
	switch {
	case t.Report.Row.Over:
		return "it is over, and needs no custody", true
	case t.Birth == nil:
		return "cannot begin its custody again: this host does not have what its person signed; go on with it by " +
			"orange " +
			"here", false
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	has, err := core.Tell(ctx, c, s.Namespace, *t.Birth, trust, t.Report)
	switch {
	case err != nil:
		return late(err).Error(), false
	case has.Host != s.Name || has.Epoch != t.Epoch:
		return fmt.Sprintf("the host %q has it under the epoch %d, and this one under %d: the greater epoch counts, "+
			"and the other host leaves the task", has.Host, has.Epoch, t.Epoch), false
	}
	return fmt.Sprintf("this host has it, under the epoch %d", has.Epoch), true
}
