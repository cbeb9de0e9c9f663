// Command orange-fleet has the tasks of many machines go on under the custody of one server. "orange fleet" starts it
// where fleet.yml names a server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], printable.NewWriter(os.Stdout), printable.NewWriter(os.Stderr))
	stop()
	os.Exit(code)
}

// Exit statuses, as those of orange.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := &cobra.Command{Use: "orange-fleet", Short: "The same tasks on many machines", SilenceUsage: true,
		SilenceErrors: true}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return task.Notef(task.ErrUsage, "%v", err) })
	root.AddCommand(serve(), hostCommand(), drain(), adopt(), invite(), join(), listMembers(), remove(),
		doctorCommand(),
		version())
	if forPeople(root, args) {
		return askFleet(ctx, args, errs)
	}
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return exitDone
	case errors.Is(err, errBad):
		return exitFailed
	case errors.Is(err, task.ErrUsage):
		fmt.Fprintln(errs, err)
		return exitUsage
	}
	fmt.Fprintln(errs, err)
	return exitFailed
}

func version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "orange-fleet "+programVersion())
			return err
		}}
}

func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development build" // as orange says it
	}
	return info.Main.Version
}
