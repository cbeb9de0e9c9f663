package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orange/fleet/authority"
	"orange/fleet/core"
	"orange/fleet/setup"
)

func serve() *cobra.Command {
	var first bool
	cmd := &cobra.Command{Use: "serve", Short: "Run a core worker of the fleet's server", Args: cobra.NoArgs,
		Long: "Run a core worker of the fleet's server until it is stopped. It has no state of its own: run two, so " +
			"that one may be replaced. fleet.yml below $ORANGE_HOME/fleet has the server.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, s, err := here()
			if err != nil {
				return err
			}
			if first {
				if err := begin(cmd.Context(), home, s); err != nil {
					return err
				}
			}
			return work(cmd.Context(), home, s, first, cmd.OutOrStdout())
		}}
	cmd.Flags().BoolVar(&first, "init", false, "make the namespace, its search attributes and the authority of the "+
		"fleet first, where they lack")
	return cmd
}

// here is the home of this process, and the setup of its fleet.
func here() (home string, s setup.Setup, err error) {
	if home, err = homeDir(); err == nil {
		s, err = setup.Read(home)
	}
	return home, s, err
}

// begin makes what a fleet needs, where it lacks.
func begin(ctx context.Context, home string, s setup.Setup) error {
	if _, err := authority.Make(ctx, home, s.Namespace); err != nil {
		return err
	}
	options, err := core.Options(s)
	if err != nil {
		return err
	}
	return core.Init(ctx, options)
}

// work is a core worker, until it is stopped.
func work(ctx context.Context, home string, s setup.Setup, first bool, out io.Writer) error {
	c, err := core.Dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.Close()
	w := core.Worker(c)
	if err := w.Start(); err != nil {
		return fmt.Errorf("work for the server at %s: %w; \"orange-fleet serve --init\" makes the namespace",
			s.Server, err)
	}
	defer w.Stop()
	if first {
		a, err := authority.Open(home)
		if err != nil {
			return err
		}
		state, err := a.State()
		if err == nil {
			err = core.Publish(ctx, c, state)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "serving the fleet %q at %s\n", s.Namespace, s.Server)
	<-ctx.Done()
	return nil
}
