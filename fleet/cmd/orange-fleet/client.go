package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/fleet/client"
	"orange/fleet/screen"
	"orange/fleet/setup"
	"orange/harnesses"
	"orange/internal/api/caller"
	"orange/internal/rules/decide"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
	"orange/workflows"
)

// forPeople reports whether a command line is one of "orange fleet", and none of the programs of a fleet.
func forPeople(root *cobra.Command, args []string) bool {
	at := slices.IndexFunc(args, func(word string) bool { return !strings.HasPrefix(word, "-") })
	if at < 0 {
		return !slices.Contains(args, "--help") && !slices.Contains(args, "-h")
	}
	return args[at] != "help" && args[at] != "completion" && !slices.ContainsFunc(root.Commands(),
		func(c *cobra.Command) bool { return c.Name() == args[at] })
}

// askFleet does a command of "orange fleet". Without a word a person at a terminal gets the dashboard.
func askFleet(ctx context.Context, args []string, errs io.Writer) int {
	dir, err := home.Locate(os.Getenv)
	if err == nil && len(args) == 0 && proc.IsTerminal(os.Stdin) && proc.IsTerminal(os.Stdout) {
		err = showFleet(ctx, dir)
		if err == nil {
			return exitDone
		}
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return exitFailed
	}
	return client.Run(dir, args)
}

// asPerson asks the fleet of this home for something. Agents are refused: at another host they would be persons.
func asPerson(do func(*client.Client) error) error {
	dir, err := home.Locate(os.Getenv)
	if err != nil {
		return err
	}
	who, err := caller.Of(proc.ThisCall(), dir, tmux.ServerOf(dir, os.Getenv), "", mirror.Files{Home: dir}.Has)
	if err == nil {
		err = decide.Home("ask other hosts", who, "")
	}
	if err != nil {
		return err
	}
	s, err := setup.Read(dir)
	if err != nil {
		return err
	}
	server := &client.Remote{Home: dir, Setup: s}
	defer server.Close()
	return do(client.Of(dir, s, server))
}

// showFleet shows the dashboard over the fleet.
func showFleet(ctx context.Context, dir string) error {
	return asPerson(func(c *client.Client) error {
		return screen.Screen{Fleet: c, In: os.Stdin, Out: os.Stdout, Environ: os.Environ(),
			Home: &home.Home{Dir: dir, Workflows: workflows.Files, Usual: workflows.Usual,
				Harnesses: harnesses.Files}}.Run(ctx)
	})
}
