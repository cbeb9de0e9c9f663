package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/fleet/client"
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

// askFleet does a command of "orange fleet".
func askFleet(args []string, errs io.Writer) int {
	home, err := homeDir()
	if err != nil {
		fmt.Fprintln(errs, err)
		return failed
	}
	return client.Run(home, args)
}
