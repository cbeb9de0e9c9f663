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
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"orange/fleet/core"
	"orange/fleet/setup"
	"orange/internal/printable"
	"orange/internal/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], printable.NewWriter(os.Stdout), printable.NewWriter(os.Stderr))
	stop()
	os.Exit(code)
}

// Exit statuses, as those of orange.
const (
	done   = 0
	failed = 1
	usage  = 2
)

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := &cobra.Command{Use: "orange-fleet", Short: "The same tasks on many machines", SilenceUsage: true,
		SilenceErrors: true}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return task.Notef(task.ErrUsage, "%v", err) })
	root.AddCommand(serve(), version())
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return done
	case errors.Is(err, task.ErrUsage):
		fmt.Fprintln(errs, err)
		return usage
	}
	fmt.Fprintln(errs, err)
	return failed
}

func version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				v = info.Main.Version
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "orange-fleet "+v)
			return err
		}}
}

func serve() *cobra.Command {
	var first bool
	cmd := &cobra.Command{Use: "serve", Short: "Run a core worker of the fleet's server", Args: cobra.NoArgs,
		Long: "Run a core worker of the fleet's server until it is stopped. It has no state of its own: run two, so " +
			"that one may be replaced. fleet.yml below $ORANGE_HOME/fleet has the server.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := connection()
			if err != nil {
				return err
			}
			if first {
				if err := core.Init(cmd.Context(), options); err != nil {
					return err
				}
			}
			return work(cmd.Context(), options, cmd.OutOrStdout())
		}}
	cmd.Flags().BoolVar(&first, "init", false, "make the namespace and its search attributes first, where they lack")
	return cmd
}

// connection is how the server is reached, as fleet.yml says.
func connection() (client.Options, error) {
	home, err := homeDir()
	if err != nil {
		return client.Options{}, err
	}
	s, err := setup.Read(home)
	if err != nil {
		return client.Options{}, err
	}
	config, err := s.TLS.Config()
	return client.Options{HostPort: s.Server, Namespace: s.Namespace, Logger: quiet{},
		ConnectionOptions: client.ConnectionOptions{TLS: config}}, err
}

// homeDir is $ORANGE_HOME, or orange below the user's home.
func homeDir() (string, error) {
	if dir := os.Getenv("ORANGE_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot tell where your home folder is: %w; set ORANGE_HOME", err)
	}
	return filepath.Join(user, "orange"), nil
}

func work(ctx context.Context, options client.Options, out io.Writer) error {
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("reach the server at %s: %w", options.HostPort, err)
	}
	defer c.Close()
	w := core.Worker(c)
	if err := w.Start(); err != nil {
		return fmt.Errorf("work for the server at %s: %w; \"orange-fleet serve --init\" makes the namespace",
			options.HostPort, err)
	}
	defer w.Stop()
	fmt.Fprintf(out, "serving the fleet %q at %s\n", options.Namespace, options.HostPort)
	<-ctx.Done()
	return nil
}

// quiet leaves the words of the server's library out: what a person has to know comes as an error.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ log.Logger = quiet{}
